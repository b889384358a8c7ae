"""Tool services and workers behind Toolgate."""

from .cards import Call, UtpError
from .errors import ToolError
from .invoke import InvokeError, Invoker, rest_tokens
from .presence import Announcement
from .service import DynamicToolService, tool_service
from .trace import trace_headers
from .worker import Worker, worker

__all__ = [
    "Announcement",
    "Call",
    "DynamicToolService",
    "InvokeError",
    "Invoker",
    "ToolError",
    "UtpError",
    "Worker",
    "rest_tokens",
    "tool_service",
    "trace_headers",
    "worker",
]
