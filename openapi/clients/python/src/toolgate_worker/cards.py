"""Cards: what commands and reports of the UTP tool protocol point at."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nats.aio.msg import Msg
from nats.js.errors import KeyNotFoundError
from nats.js.kv import KeyValue

PAYLOAD = {"tool_call_card_id", "tool_name", "after_execution"}
AFTER_EXECUTION = ("suspend", "terminate")
LINEAGE = ("agent_turn_id", "step_id", "trace_id", "parent_step_id")


class UtpError(Exception):
    """A failure with a code of the protocol: bad_request, not_found, conflict, auth_failed, upstream_unavailable,
    tool_timeout or internal_error."""

    def __init__(self, code: str, message: str, retryable: bool | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable


@dataclass(frozen=True)
class Call:
    """A command and what its card says."""

    tool: str
    arguments: dict[str, Any]
    after_execution: str
    headers: Mapping[str, str]
    metadata: Mapping[str, Any]


async def read_call(cards: KeyValue, message: Msg, project: str) -> Call:
    """Reads a command and its card, and adds the arguments that come from this process's environment."""
    headers = message.headers or {}
    subject = message.subject.split(".")
    for name, place in (("CG-Project-Id", 2), ("CG-Channel-Id", 3)):
        if name in headers and headers[name] != subject[place]:
            raise UtpError("bad_request", f"{name} is not that of the subject")
    try:
        payload = json.loads(message.data)
        keys = set(payload)
    except (ValueError, TypeError) as error:
        raise UtpError("bad_request", f"the command cannot be read: {error}") from error
    if keys != PAYLOAD:
        wrong = sorted(keys - PAYLOAD) or sorted(PAYLOAD - keys)
        raise UtpError("bad_request", f"the payload has other fields than it must have: {wrong}")
    if payload["after_execution"] not in AFTER_EXECUTION:
        raise UtpError("bad_request", "after_execution is neither suspend nor terminate")
    try:
        card = json.loads((await cards.get(payload["tool_call_card_id"])).value or b"")
    except KeyNotFoundError as error:
        raise UtpError("not_found", f"there is no card {payload['tool_call_card_id']!r}") from error
    content = card.get("content")
    checks = (
        ("type", card.get("type"), "tool.call"),
        ("project_id", card.get("project_id"), project),
        ("tool_call_id", card.get("tool_call_id"), headers.get("CG-Tool-Call-Id")),
        ("content.tool_name", isinstance(content, dict) and content.get("tool_name"), payload["tool_name"]),
    )
    for what, found, wanted in checks:
        if found != wanted:
            raise UtpError("bad_request", f"the card's {what} is {found!r} instead of {wanted!r}")
    metadata = card.get("metadata") or {}
    arguments = dict(content.get("arguments") or {})
    for parameter, name in (metadata.get("tool_args_envs") or {}).items():
        if os.environ.get(name):
            arguments[parameter] = os.environ[name]
    return Call(payload["tool_name"], arguments, payload["after_execution"], headers, metadata)


def failed(code: str, message: str, source: str, retryable: bool | None = None) -> dict[str, Any]:
    """The content of a result that failed."""
    error: dict[str, Any] = {"code": code, "message": message, "source": source}
    if retryable is not None:
        error["retryable"] = retryable
    result = {"error_code": code, "error_message": message, "error": error}
    return {"status": "failed", "result": result, "error": error}


def result_card(
    id: str, headers: Mapping[str, str], call: Call | None, content: dict[str, Any], author: str, project: str
) -> dict[str, Any]:
    """The card of a result; its lineage is copied from the card of the call."""
    metadata = {name: call.metadata[name] for name in LINEAGE if call and name in call.metadata}
    metadata |= {"tool_call_id": headers["CG-Tool-Call-Id"], "role": "tool"}
    return {
        "card_id": id,
        "project_id": project,
        "type": "tool.result",
        "content": content,
        "author_id": author,
        "tool_call_id": headers["CG-Tool-Call-Id"],
        "metadata": metadata,
    }
