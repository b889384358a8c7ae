"""The reference server: openapi-core, out of the same description, accepts a request or says what is wrong with it."""

import json
import re
import threading
import warnings
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from jsonschema_path import SchemaPath
from openapi_core.datatypes import RequestParameters
from openapi_core.validation.request.validators import V30RequestValidator, V31RequestValidator, V32RequestValidator
from werkzeug.datastructures import Headers

import forms
from reading import PathValues, Styles, cookies, query

FULL_TIME = re.compile(r"^\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$", re.IGNORECASE)
METHODS = ("GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "QUERY")
VALIDATORS = {"3.0": V30RequestValidator, "3.1": V31RequestValidator, "3.2": V32RequestValidator}
# Numbers, truth values and the like are written as JSON writes them.
warnings.simplefilter("ignore")


@dataclass
class Request:
    """A request as the library takes it."""

    host_url: str
    method: str
    path: str
    text: str
    headers: Headers
    body: bytes
    path_pattern: None = None

    def __post_init__(self) -> None:
        self.content_type = self.headers.get("Content-Type", "")
        self.parameters = RequestParameters(
            query=query(self.text), header=self.headers, cookie=cookies(self.headers.get("Cookie", "")), path=PathValues()
        )


@dataclass
class Verdict:
    """What the library says of a request, and what it read from it."""

    line: str
    complaints: list[str] = field(default_factory=list)
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    body: Any = None
    has_body: bool = False


class Validator:
    """The library's validator of one description."""

    def __init__(self, description: dict[str, Any]) -> None:
        spec = SchemaPath.from_dict(description)
        version = str(description["openapi"])[:3]
        self.library = type("Reading", (Reading, VALIDATORS[version]), {})(spec)
        self.library.takes_bytes = version == "3.0"
        self.library.style_deserializers_factory = Styles(self.library.schema_casters_factory)
        self.library.extra_format_validators = {"time": lambda text: not isinstance(text, str) or bool(FULL_TIME.match(text))}

    def judge(self, request: Request, line: str) -> Verdict:
        verdict = Verdict(line)
        self.library.verdict = verdict
        try:
            verdict.complaints += [told(error) for error in self.library.iter_errors(request)]
        except Exception as error:  # What the library cannot read is no request of the description.
            verdict.complaints.append(f"the library failed: {error!r}")
        return verdict


class Reading:
    """Keeps what is read, and reads paths, queries and forms as they came."""

    verdict: Verdict
    # Of OpenAPI 3.0, the library knows `format: binary`.
    takes_bytes: bool

    def _get_parameters(self, parameters: Any, operation: Any, path: Any) -> Any:
        parameters.path = PathValues(parameters.path)
        for place in ("query", "cookie"):
            location = getattr(parameters, place)
            declared = [one for one in self._declared(operation, path) if one["in"] == place]
            location.claimed = {one["name"] for one in declared}
            unknown = set(location.unclaimed()) - self._credentials(place)
            if unknown and not any(explodes(one) for one in declared):
                self.verdict.complaints.append(f"nothing describes {sorted(unknown)} of the {place}")
        try:
            validated = super()._get_parameters(parameters, operation, path)
        except Exception as error:
            validated = getattr(error, "parameters", None)
            self._keep(validated)
            raise
        self._keep(validated)
        return validated

    def _keep(self, validated: Any) -> None:
        for place in ("path", "query", "header", "cookie"):
            self.verdict.parameters[place] = dict(getattr(validated, place, None) or {})

    def _declared(self, operation: Any, path: Any) -> list[dict[str, Any]]:
        listed = [*operation.get("parameters", []), *path.get("parameters", [])]
        return [one.read_value() if hasattr(one, "read_value") else one for one in map(plain, listed)]

    def _credentials(self, place: str) -> set[str]:
        schemes = plain(self.spec).get("components", {}).get("securitySchemes", {})
        return {scheme["name"] for scheme in schemes.values() if scheme.get("in") == place}

    def _deserialise_media_type(self, media_type: Any, mimetype: str, parameters: Any, value: Any) -> Any:
        raw = value
        if isinstance(value, str):
            raw = value.encode()
        if forms.is_form(mimetype):
            return forms.form(self.style_deserializers_factory, self.spec, media_type, mimetype, dict(parameters), raw)
        return forms.content(mimetype, dict(parameters), raw)

    def _get_media_type_value(self, param_or_header: Any, location: Any, name: str | None = None) -> Any:
        raw = super()._get_media_type_value(param_or_header, location, name=name)
        decode = getattr(location, "decode", None)
        return decode(raw) if decode else raw

    def _get_body(self, body: bytes, mimetype: str, operation: Any) -> Any:
        if body and "requestBody" not in operation:
            self.verdict.complaints.append("there is a body, and the description has none")
        value = super()._get_body(body, mimetype, operation)
        self.verdict.body, self.verdict.has_body = value, bool(body)
        return value

    def _validate_schema(self, schema: Any, value: Any) -> None:
        if hasattr(value, "iter"):  # XML, see DEVIATIONS.
            return
        super()._validate_schema(schema, value if self.takes_bytes else as_texts(value))


def as_texts(value: Any) -> Any:
    """Bytes as texts, wherever they are."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, dict):
        return {name: as_texts(member) for name, member in value.items()}
    return [as_texts(item) for item in value] if isinstance(value, list) else value


def plain(found: Any) -> Any:
    """The JSON of something of the library."""
    if not hasattr(found, "resolve"):
        return found
    with found.resolve() as it:
        return it.contents


def explodes(parameter: dict[str, Any]) -> bool:
    """Whether its members may be pairs with names of their own."""
    style = parameter.get("style", "form")
    return style == "deepObject" or (style in ("form", "cookie") and parameter.get("explode", True))


def told(error: BaseException) -> str:
    """Everything that the library says about an error."""
    parts, seen = [], error
    while seen is not None:
        more = [str(each.message) for each in getattr(seen, "schema_errors", ())]
        parts.append("; ".join([f"{type(seen).__name__}: {seen}", *more])[:600])
        seen = seen.__cause__ or seen.__context__
    return " <- ".join(parts)


class Reference:
    """Serves every description below its name, and keeps the verdict of the last request."""

    def __init__(self, port: int) -> None:
        self.validators: dict[str, Validator] = {}
        self.last: Verdict | None = None
        reference = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # The head and the body are written apart: without this, the body waits 40 ms for the acknowledgement of the head.
            disable_nagle_algorithm = True

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                verdict = reference.judge(self.command, self.path, list(self.headers.items()), body)
                text = json.dumps({"complaints": verdict.complaints}).encode()
                self.send_response(400 if verdict.complaints else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(text)

            def log_message(self, *_: Any) -> None:
                pass

        for method in METHODS:
            setattr(Handler, f"do_{method}", Handler.answer)
        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def judge(self, method: str, target: str, headers: list[tuple[str, str]], body: bytes) -> Verdict:
        path, _, text = target.partition("?")
        line = f"{method} {target}"
        validator = self.validators.get(path.split("/")[1])
        request = Request(self.address, method.lower(), path, text, Headers(headers), body)
        if body:
            line += f"\n{request.content_type}\n{body[:2000].decode(errors='backslashreplace')}"
        shown = [f"{name}: {value}" for name, value in headers if name.lower() not in ("user-agent", "accept", "host")]
        line = "\n".join([line.split("\n")[0], *shown, *line.split("\n")[1:]])
        self.last = validator.judge(request, line) if validator else Verdict(line, ["no description is served there"])
        return self.last
