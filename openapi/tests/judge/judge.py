"""No request of an imported tool may violate the description it came from.

Each description is imported into a real Toolgate server with the reference server as the API's address, its tools are enabled
and called with arguments generated from the schema that they show. The reference server is built by an independent library
out of the same description, and answers 200 only to requests that the library accepts; what the library read from them is
compared with the arguments. `cargo xtask test --only requests` runs this file. It reports in TAP, one line for each operation.
"""

import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

from arguments import is_satisfiable, made
from comparing import UNDEFINED, faults, open_places
from documents import LEFT_OUT, NOT_JUDGED, Description, load
from reading import DEVIATIONS
from reference import Reference, Verdict
from wrong import refused_by_the_judge

# Arguments that the gateway refuses to send, because there is no request for them: a part of its message, and why.
REFUSED = {
    "must not be empty, it is part of the path": "an empty path parameter is another path (OpenAPI 3.1.1, Path Templating)",
    "cannot be path segments": "`.` and `..` are removed from paths (RFC 3986, section 5.2.4)",
    "needed in the path": "a path has no form for null or for what is empty (RFC 6570, section 2.3)",
    "visible ASCII": "what a header or cookie cannot hold (RFC 9110, section 5.5; RFC 6265, section 4.1.1)",
    "a header": "what a header cannot hold (RFC 9110, section 5.5)",
    "content_type must be": "a file of a type that the description does not allow",
    "not valid base64": "a file is base64",
    "the body is a text": "a text has no form for lists and objects",
}


class Gateway:
    """The server under test, for one who may do everything."""

    def __init__(self, address: str, token: str) -> None:
        self.http = httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=60)

    def send(self, method: str, path: str, **more: Any) -> Any:
        answer = self.http.request(method, path, **more)
        if answer.is_error:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text[:2000]}")
        return answer.json() if answer.content else None

    def imported(self, description: Description, base_url: str) -> list[dict[str, Any]]:
        """Imports a description with a credential for each scheme, and enables its tools; its operations."""
        place = f"/projects/{description.name}"
        self.send("POST", "/projects", json={"id": description.name})
        self.send("PUT", f"{place}/secrets/CREDENTIAL", json={"value": "user:word"}, headers={"If-None-Match": "*"})
        schemes = description.judged.get("components", {}).get("securitySchemes", {})
        named = [name for name, scheme in schemes.items() if scheme.get("type") in ("apiKey", "http", "oauth2", "openIdConnect")]
        query = {
            "base_url": base_url,
            "definitions": "true",
            "credentials": ",".join(f"{name}=secret:CREDENTIAL" for name in named),
        }
        report = self.send(
            "PUT",
            f"{place}/imports/api",
            params=query,
            content=description.text,
            headers={"If-None-Match": "*", "Content-Type": description.media_type},
        )
        names = [operation["tool"] for operation in report["operations"] if operation["outcome"] == "new"]
        if names:
            self.send("POST", f"{place}/tool-changes", json={"select": {"names": names}, "change": {"enabled": True}})
        return report["operations"]


class Report:
    """TAP."""

    def __init__(self) -> None:
        self.number = 0
        self.failed = 0
        self.generating = 0.0
        self.seen: Counter[str] = Counter()

    def line(self, what: str, problems: list[str]) -> None:
        self.number += 1
        self.failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {self.number} - {what}")
        for problem in problems[:3]:
            print("\n".join(f"#   {line}" for line in problem.splitlines()))
        sys.stdout.flush()


def requests_of(gateway: Gateway, reference: Reference, project: str, operation: dict[str, Any], report: Report) -> None:
    """Calls one tool with everything that is generated for it."""
    tool = operation["tool"]
    what = f"{project.removeprefix('d-')} {operation['method']} {operation['path']}"
    if why := NOT_JUDGED.get((project.removeprefix("d-"), operation["path"])):
        report.seen[f"operations not judged: {why}"] += 1
        return
    if "#" in operation["path"]:
        report.seen["operations not judged: a fragment in a path is not sent (RFC 3986, section 3.5)"] += 1
        return
    if operation["outcome"] == "refused":
        report.seen["operations that are not imported, with a reason"] += 1
        report.line(f"{what} # not imported: {operation['reason']}", [] if operation["reason"] else ["no reason"])
        return
    schema = gateway.send("GET", f"/projects/{project}/tools/{tool}")["parameters"]
    http = operation["definition"]["options"]["http"]
    problems, accepted, unjudged = [], 0, 0
    begun = time.monotonic()
    calls = made(schema, http, report.number)
    report.generating += time.monotonic() - begun
    for kind, arguments in calls:
        reference.last = None
        answer = gateway.http.post(f"/projects/{project}/tools/{tool}/invoke", json=arguments)
        fault = judged(answer, reference.last, arguments, http)
        if fault is None:
            accepted += 1
            report.seen["requests accepted"] += 1
        elif fault in REFUSED.values():
            report.seen[f"calls refused by the gateway: {fault}"] += 1
        elif reference.last and (undefined := open_places(arguments, http)):
            unjudged += 1
            report.seen[f"requests not judged, because the specification leaves them open: {', '.join(sorted(undefined))}"] += 1
        elif any("is not checked here" in note for note in operation["notes"]):
            unjudged += 1
            report.seen["requests not judged, because the import says that a pattern is not checked"] += 1
        else:
            report.seen["violations"] += 1
            line = reference.last.line if reference.last else "no request"
            problems.append(f"{kind}: {arguments!r}"[:1500] + f"\n{line}"[:1500] + f"\n-> {fault}"[:1500])
    if not calls and not is_satisfiable(schema):
        report.seen["operations whose description accepts nothing"] += 1
    elif not accepted + unjudged and not problems:
        problems.append(f"nothing was sent: {len(calls)} arguments were generated from {schema!r}"[:1500])
    report.line(f"{what} ({accepted} requests)", problems)


def judged(answer: httpx.Response, verdict: Verdict | None, arguments: dict[str, Any], http: dict[str, Any]) -> str | None:
    """What is wrong with a call: a reason of `REFUSED`, or a fault."""
    if verdict is None:
        known = [why for part, why in REFUSED.items() if part in answer.text]
        return known[0] if answer.status_code == 422 and known else f"{answer.status_code} {answer.text}"
    if verdict.complaints:
        return "; ".join(verdict.complaints)
    if answer.status_code != 200:
        return f"{answer.status_code} {answer.text}"
    return "; ".join(faults(arguments, http, verdict)) or None


def main() -> int:
    started = time.monotonic()
    gateway = Gateway(os.environ["TOOLGATE_ADDRESS"], os.environ["TOOLGATE_TOKEN"])
    reference = Reference(int(os.environ["REFERENCE_PORT"]))
    chosen = os.environ.get("ONLY", "")
    report = Report()
    for what, problems in refused_by_the_judge(reference):
        report.line(f"the reference server refuses {what}", problems)
    for description in load(Path(os.environ["DESCRIPTIONS"]), reference.address):
        if chosen not in description.name:
            continue
        from reference import Validator

        reference.validators[description.name] = Validator(description.judged)
        begun = time.monotonic()
        operations = gateway.imported(description, f"{reference.address}/{description.name}")
        for operation in operations:
            requests_of(gateway, reference, description.name, operation, report)
        print(f"# {description.name}: {len(operations)} operations, {time.monotonic() - begun:.1f} s")
    print(f"1..{report.number}")
    for what, count in sorted(report.seen.items()):
        print(f"# {count} {what}")
    print(f"# {time.monotonic() - started:.0f} s, {report.generating:.0f} s of them for arguments; {len(DEVIATIONS)} named deviations of the library, {len(UNDEFINED)} writings that")
    print(f"# the specification leaves open; left out: {'; '.join(f'{name}, {why}' for name, why in LEFT_OUT.items())}")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
