"""The trace that a running call belongs to (W3C Trace Context)."""

import re
import secrets
from collections.abc import Mapping
from contextvars import ContextVar

TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})")

_span: ContextVar[Mapping[str, str]] = ContextVar("toolgate_worker_span", default={})


def trace_headers() -> dict[str, str]:
    """The headers `traceparent` and `tracestate` for requests that the running call sends: they are children of its span.

    Empty outside a call, and in a call that is not traced.
    """
    return dict(_span.get())


def begin(headers: Mapping[str, str]) -> dict[str, str]:
    """Begins the span of a call, a child of the one that its message names; returns the headers that say it."""
    found = TRACEPARENT.fullmatch(headers.get("traceparent", "").lower())
    own: dict[str, str] = {}
    if found and found[1].strip("0"):
        own["traceparent"] = f"00-{found[1]}-{secrets.token_hex(8)}-{found[2]}"
        if headers.get("tracestate"):
            own["tracestate"] = headers["tracestate"]
    _span.set(own)
    return own
