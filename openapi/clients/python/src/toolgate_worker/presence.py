"""What a service or a worker says of itself on the bus: its announcement, the answer to a question for it, and heartbeats."""

import asyncio
import hashlib
import json
import logging
import os
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg

from toolgate_worker.invoke import InvokeError, Tokens

log = logging.getLogger(__name__)

# Seconds between two heartbeats; Toolgate takes a process that was silent for three of them for gone.
HEARTBEAT_S = 10


@dataclass
class Announcement:
    """What a service or a worker announces, with `announce=`.

    `tools` are definitions as in an upload, without type, service and `envs`. They arrive disabled, and wait for approval when they change,
    unless the project trusts the principal that `tokens` are of, for example `rest_tokens(project)`.
    """

    tools: Sequence[dict[str, Any]] = ()
    version: str = ""
    project: str = field(default_factory=lambda: os.environ.get("TOOLGATE_PROJECT", "demo"))
    tokens: Tokens | None = None


class Announcer:
    """Announces one process, and says that it lives."""

    def __init__(self, announcement: Announcement, descriptor: dict[str, Any], who: dict[str, str]) -> None:
        self._said, self._descriptor, self._who = announcement, descriptor, who
        self._instance = f"{socket.gethostname()[:60]}-{secrets.token_hex(4)}"
        self._started = datetime.now(UTC).isoformat()
        self._subject = f"tg.{announcement.project}.tool-descriptors"
        self._beating: asyncio.Task[None] | None = None

    def message(self) -> dict[str, Any]:
        """The announcement as it travels."""
        return {
            **self._descriptor,
            "instance": self._instance,
            "version": self._said.version,
            "started": self._started,
            "tools": list(self._said.tools),
        }

    async def start(self, client: Client) -> None:
        """Announces, answers questions from now on, and begins to send heartbeats."""
        self._client = client
        await client.subscribe(f"{self._subject}.discover", cb=self._asked)
        await self._announce()
        self._beating = asyncio.create_task(self._beat())

    def pause(self) -> None:
        """Sends no more heartbeats until it is started again."""
        if self._beating:
            self._beating.cancel()

    async def stop(self) -> None:
        """Says that the process stops."""
        if self._beating:
            self.pause()
            await self._heartbeat(stopping=True)

    async def _asked(self, _: Msg) -> None:
        await self._announce()

    async def _announce(self) -> None:
        payload = json.dumps(self.message()).encode()
        headers = None
        if self._said.tokens:
            try:
                token = await self._said.tokens(self._subject, hashlib.sha256(payload).hexdigest())
                headers = {"Toolgate-Token": token}
            except (OSError, InvokeError) as error:
                # It is announced nevertheless, and waits for approval.
                log.warning("there is no token for the announcement: %s", error)
        await self._client.publish(self._subject, payload, headers=headers)

    async def _beat(self) -> None:
        while True:
            await self._heartbeat(stopping=False)
            await asyncio.sleep(HEARTBEAT_S)

    async def _heartbeat(self, stopping: bool) -> None:
        beat = {**self._who, "instance": self._instance, "version": self._said.version, "stopping": stopping}
        await self._client.publish(f"{self._subject}.heartbeat", json.dumps(beat).encode())
