"""Calls tools over the bus: `tool.invoke` of the tools subsystem, with a token for every message."""

import asyncio
import hashlib
import json
import os
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import NoRespondersError

# Seconds in which a server may begin to listen, and between two questions whether it does.
LISTENING, PAUSE = 5.0, 0.1

# Makes a token for a message: takes its subject and the SHA-256 of its payload in hexadecimal digits.
Tokens = Callable[[str, str], Awaitable[str]]


class InvokeError(Exception):
    """A call that was refused or failed: `tool_not_found`, `execution_failed`, `timeout` or `invalid_arguments`.

    `reason` is the exact code of Toolgate, such as `insufficient_tool_groups`.
    """

    def __init__(self, code: str, message: str, *, retryable: bool, reason: str | None) -> None:
        super().__init__(message)
        self.code, self.retryable, self.reason = code, retryable, reason


def rest_tokens(project: str, *, url: str | None = None, key: str | None = None) -> Tokens:
    """Gets tokens from the REST API at `TOOLGATE_URL` with the service key in `TOOLGATE_KEY`. The key never travels over the bus."""
    base = (url or os.environ["TOOLGATE_URL"]).rstrip("/")
    secret = key or os.environ["TOOLGATE_KEY"]

    def get(subject: str, payload_sha256: str) -> str:
        body = json.dumps({"subject": subject, "payload_sha256": payload_sha256}).encode()
        headers = {"authorization": f"Bearer {secret}", "content-type": "application/json"}
        request = urllib.request.Request(f"{base}/projects/{project}/bus-tokens", body, headers)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
                return str(json.load(answer)["token"])
        except urllib.error.HTTPError as error:
            with error:
                detail = error.read().decode(errors="replace")
            raise InvokeError("execution_failed", detail, retryable=error.code >= 500, reason=None) from error

    async def token(subject: str, payload_sha256: str) -> str:
        return await asyncio.to_thread(get, subject, payload_sha256)

    return token


class Invoker:
    """Calls the tools of a project over a connection to the bus."""

    def __init__(self, client: Client, project: str, tokens: Tokens | None = None) -> None:
        self.client, self.project = client, project
        self.tokens = tokens or rest_tokens(project)

    async def invoke(
        self,
        tool: str,
        arguments: dict[str, Any] | None = None,
        *,
        groups: Sequence[str] | None = None,
        session: str | None = None,
        agent: str | None = None,
        tool_call_id: str | None = None,
        mcp_server: str | None = None,
        depth: int | None = None,
        timeout: float = 60,
    ) -> str:
        """Calls a tool and returns its content: a text, or JSON as text.

        `groups` are asked for; `None` asks for `default`, an empty list for none. `session` is an alias of the caller's: the calls
        under it move one workflow state. `depth` is `CG-Recursion-Depth` of the command that is executed meanwhile. A call that is repeated with the same `tool_call_id` is answered again and not run again.
        """
        request = {
            "tool_call_id": tool_call_id or uuid.uuid4().hex,
            "tool_name": tool,
            "arguments": json.dumps(arguments or {}),
            "session_id": session,
        }
        payload = json.dumps(request).encode()
        subject = f"tg.{self.project}.tool.invoke" + (".mcp" if mcp_server else "")
        headers = {"Toolgate-Token": await self.tokens(subject, hashlib.sha256(payload).hexdigest())}
        if groups is not None:
            headers["Toolgate-Group"] = ",".join(groups)
        if agent:
            headers["CG-Agent-Id"] = agent
        if depth is not None:
            headers["CG-Recursion-Depth"] = str(depth)
        if mcp_server:
            headers["rb-mcp-server"] = mcp_server
        answer = await self._ask(subject, payload, headers, timeout)
        body = json.loads(answer.data)
        if "code" in body:
            reason = (answer.headers or {}).get("Toolgate-Code")
            raise InvokeError(body["code"], body["message"], retryable=body["is_retryable"], reason=reason)
        return str(body["content"])

    async def _ask(self, subject: str, payload: bytes, headers: dict[str, str], timeout: float) -> Msg:
        """While no server listens, as when one starts, nothing has run: the message is sent again."""
        until = time.monotonic() + min(timeout, LISTENING)
        while True:
            try:
                return await self.client.request(subject, payload, timeout=timeout, headers=headers)
            except NoRespondersError:
                if time.monotonic() >= until:
                    raise
                await asyncio.sleep(PAUSE)
