"""The messages of tool services: `{user, config, arguments}` and `{error, response, end_of_stream}`."""

import json
from dataclasses import dataclass
from typing import Any

from .errors import ToolError

ID = "id"
SEQUENCE = "seq"
TIMEOUT = "timeout-ms"
CONTENT_TYPE = "content-type"
JSON = "application/json"
# Characters of the message of an error.
LONGEST = 4096


@dataclass(frozen=True)
class Request:
    """A call of the service."""

    user: str
    config: dict[str, Any]
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Response:
    """One message of an answer: its headers, without the id, and its text."""

    headers: dict[str, str]
    body: bytes


def read(data: bytes) -> Request:
    """Reads a request; `config` and `arguments` are JSON texts, and an empty one means `{}`."""
    try:
        envelope = json.loads(data)
        user = envelope.get("user", "")
        config = json.loads(envelope.get("config") or "{}")
        arguments = json.loads(envelope.get("arguments") or "{}")
    except (ValueError, AttributeError, TypeError) as error:
        raise ToolError("bad-request", f"the request cannot be read: {error}") from error
    if not isinstance(user, str) or not isinstance(config, dict) or not isinstance(arguments, dict):
        raise ToolError("bad-request", "user must be a text, config and arguments JSON objects in texts")
    return Request(user, config, arguments)


def part(number: int, value: Any, last: bool) -> Response:
    """One message with a value; `None` says nothing. A text stays a text, anything else is JSON."""
    headers = {SEQUENCE: str(number)}
    if value is None:
        text = ""
    elif isinstance(value, str):
        text = value
    else:
        text = json.dumps(value, allow_nan=False)
        headers[CONTENT_TYPE] = JSON
    return Response(headers, _body(None, text, last))


def failure(error: Exception) -> Response:
    """The message that ends an answer because something went wrong."""
    kind, message = "tool-service-error", str(error) or type(error).__name__
    if isinstance(error, ToolError):
        kind = error.type
    return Response({}, _body({"type": kind, "message": message[:LONGEST]}, "", True))


def size(headers: dict[str, str], body: bytes) -> int:
    """The bytes of a message as the bus counts them for its `max_payload`."""
    return len("NATS/1.0\r\n\r\n") + sum(len(f"{name}: {value}\r\n".encode()) for name, value in headers.items()) + len(body)


def _body(error: dict[str, str] | None, response: str, last: bool) -> bytes:
    return json.dumps({"error": error, "response": response, "end_of_stream": last}).encode()


def subject(queue: str) -> tuple[str, bool]:
    """The subject of a queue as a descriptor spells it, and whether its messages are kept in a stream."""
    for scheme, persistent in (("non-persistent://", False), ("persistent://", True)):
        if queue.startswith(scheme):
            return queue.removeprefix(scheme).replace("/", "."), persistent
    return queue.replace("/", "."), False
