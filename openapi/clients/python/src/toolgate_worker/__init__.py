"""Tool services and workers behind Toolgate."""

from .cards import Call, UtpError
from .errors import ToolError
from .presence import Announcement
from .service import DynamicToolService, tool_service
from .worker import Worker, worker

__all__ = [
    "Announcement",
    "Call",
    "DynamicToolService",
    "ToolError",
    "UtpError",
    "Worker",
    "tool_service",
    "worker",
]
