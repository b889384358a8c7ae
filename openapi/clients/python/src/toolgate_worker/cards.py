"""Cards: what commands and reports of the UTP tool protocol point at."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PAYLOAD = {"tool_call_card_id", "tool_name", "after_execution"}
AFTER_EXECUTION = ("suspend", "terminate")
LINEAGE = ("agent_turn_id", "step_id", "trace_id", "parent_step_id")
# The argument that a card has in place of all others where it is larger than a message of the bus.
ARTIFACT = "__cg_artifact"
# Characters of the message of an error.
LONGEST = 4096


class UtpError(Exception):
    """A failure with a code of the protocol: bad_request, not_found, conflict, auth_failed, upstream_unavailable,
    tool_timeout or internal_error. `detail` is any JSON value."""

    def __init__(self, code: str, message: str, retryable: bool | None = None, detail: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable
        self.detail = detail


@dataclass(frozen=True)
class Command:
    """What a command says: its subject, its control headers and its payload."""

    project: str
    headers: Mapping[str, str]
    card_id: str
    tool: str
    after_execution: str


@dataclass(frozen=True)
class Call:
    """A command and what its card says."""

    tool: str
    arguments: dict[str, Any]
    after_execution: str
    headers: Mapping[str, str]
    metadata: Mapping[str, Any]


def read_command(subject: str, headers: Mapping[str, str], data: bytes) -> Command:
    """Reads a command. It has no arguments: they are on the card that it names."""
    parts = subject.split(".")
    for name, place in (("CG-Project-Id", 2), ("CG-Channel-Id", 3)):
        if name in headers and headers[name] != parts[place]:
            raise UtpError("bad_request", f"{name} is not that of the subject")
    payload = _object(data, "the command")
    if set(payload) != PAYLOAD:
        wrong = sorted(set(payload) - PAYLOAD) or sorted(PAYLOAD - set(payload))
        raise UtpError("bad_request", f"the payload has other fields than it must have: {wrong}")
    for name, value in payload.items():
        if not isinstance(value, str) or not value.strip():
            raise UtpError("bad_request", f"{name} must be a text")
    if payload["after_execution"] not in AFTER_EXECUTION:
        raise UtpError("bad_request", "after_execution is neither suspend nor terminate")
    return Command(parts[2], headers, payload["tool_call_card_id"], payload["tool_name"], payload["after_execution"])


def read_call(command: Command, text: bytes | None) -> Call:
    """Reads the card of a command, and adds the arguments that come from this process's environment."""
    if text is None:
        raise UtpError("not_found", f"there is no card {command.card_id!r}")
    card = _object(text, "the card")
    content = card.get("content")
    if not isinstance(content, dict):
        raise UtpError("bad_request", "the card's content is no ToolCallContent")
    checks = (
        ("type", card.get("type"), "tool.call"),
        ("project_id", card.get("project_id"), command.project),
        ("tool_call_id", card.get("tool_call_id"), command.headers.get("CG-Tool-Call-Id")),
        ("content.tool_name", content.get("tool_name"), command.tool),
    )
    for what, found, wanted in checks:
        if found != wanted:
            raise UtpError("bad_request", f"the card's {what} is {found!r} instead of {wanted!r}")
    arguments = content.get("arguments")
    if not isinstance(arguments, dict):
        raise UtpError("bad_request", "the card's content.arguments is no object")
    metadata = card.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    envs = metadata.get("tool_args_envs")
    for parameter, name in (envs if isinstance(envs, dict) else {}).items():
        if isinstance(name, str) and os.environ.get(name):
            arguments[parameter] = os.environ[name]
    return Call(command.tool, arguments, command.after_execution, command.headers, metadata)


def _object(text: bytes, what: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UtpError("bad_request", f"{what} cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise UtpError("bad_request", f"{what} is no JSON object")
    return value


def failed(error: UtpError, source: str) -> dict[str, Any]:
    """The content of a result that failed."""
    message = str(error)[:LONGEST]
    said: dict[str, Any] = {"code": error.code, "message": message, "source": source}
    if error.retryable is not None:
        said["retryable"] = error.retryable
    if error.detail is not None:
        # What is no JSON value is said in words: a failure must reach the caller.
        said["detail"] = json.loads(json.dumps(error.detail, default=str))
    result = {"error_code": error.code, "error_message": message, "error": said}
    return {"status": "failed", "result": result, "error": said}


def call_card(id: str, project: str, tool: str, arguments: Any, metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """The card of a call, as Toolgate writes it."""
    return {
        "card_id": id,
        "project_id": project,
        "type": "tool.call",
        "content": {"tool_name": tool, "arguments": arguments, "status": "called"},
        "author_id": "toolgate",
        "tool_call_id": id,
        "metadata": dict(metadata or {}),
    }


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
