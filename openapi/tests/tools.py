"""Governed tools, called with the Python client that is generated from the document of a project's tools.

`cargo xtask test --only clients` makes the project, generates the client from what its agent may call as the package
`toolgate_tools` on the path, and runs this file. It reports in TAP.
"""

import os
import sys
import traceback

from toolgate_tools import AuthenticatedClient
from toolgate_tools.api.tools import is_ready, needs_a_credential, what_is_available
from toolgate_tools.models import (
    IsReadyArguments,
    NeedsACredentialArguments,
    Problem,
    RequestedGroup,
    WhatIsAvailableArguments,
    WhatIsAvailableQuestion,
)

CLIENT = AuthenticatedClient(os.environ["TOOLGATE_ADDRESS"], os.environ["TOOLGATE_AGENT_KEY"])


def calls_a_tool_without_arguments() -> None:
    answer = is_ready.sync_detailed(client=CLIENT, body=IsReadyArguments(), group=[RequestedGroup.OPERATIONS])
    assert answer.parsed == {"status": "ok"}, answer
    assert answer.headers["Toolgate-State"] == "checked", answer.headers


def calls_a_tool_with_nested_arguments() -> None:
    body = WhatIsAvailableArguments(question=WhatIsAvailableQuestion(group=["operations"]))
    answer = what_is_available.sync(client=CLIENT, body=body, group=[RequestedGroup.OPERATIONS])
    assert answer["requested_groups"] == ["operations"], answer


def gets_a_problem_when_the_tool_fails() -> None:
    group = [RequestedGroup.OPERATIONS]
    answer = needs_a_credential.sync_detailed(client=CLIENT, body=NeedsACredentialArguments(), group=group)
    assert answer.status_code == 502, answer
    assert isinstance(answer.parsed, Problem), answer
    assert answer.parsed.code.value == "upstream_auth", answer
    assert answer.parsed.upstream_status == 401, answer


def repeats_a_call_without_running_it_again() -> None:
    def call():
        group = [RequestedGroup.OPERATIONS]
        return is_ready.sync_detailed(client=CLIENT, body=IsReadyArguments(), group=group, idempotency_key="python-1")

    first, second = call(), call()
    assert second.headers["Idempotency-Replayed"] == "true", second.headers
    assert first.headers["Toolgate-Call"] == second.headers["Toolgate-Call"]


def main() -> int:
    steps = [
        calls_a_tool_without_arguments,
        calls_a_tool_with_nested_arguments,
        gets_a_problem_when_the_tool_fails,
        repeats_a_call_without_running_it_again,
    ]
    failed = 0
    print(f"1..{len(steps)}")
    for number, step in enumerate(steps, start=1):
        outcome = "ok"
        try:
            step()
        except Exception:
            traceback.print_exc()
            outcome = "not ok"
            failed = 1
        print(f"{outcome} {number} - python client of tools {step.__name__.replace('_', ' ')}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
