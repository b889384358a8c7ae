"""A worker of the UTP tool protocol: it pulls commands, reads their cards, runs them, and reports."""

import asyncio
import inspect
import json
import logging
import os
import re
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig
from nats.js.errors import InvalidKeyError, KeyNotFoundError, NotFoundError
from nats.js.kv import KeyValue

from . import trace
from .cards import ARTIFACT, Call, UtpError, call_card, failed, read_call, read_command, result_card
from .presence import Announcement, Announcer
from .rest import read_card, store_card
from .running import run
from .schema import Schema, in_words
from .service import stream_of

log = logging.getLogger("toolgate_worker")

# Seconds after which a command that was not acknowledged is delivered again, and how often at most.
ACK_WAIT_S = 30
MAX_DELIVER = 3
# Seconds that commands are kept.
KEPT_S = 24 * 3600
# Headers of the command that the report has too.
REPORTED = ("CG-Tool-Call-Id", "CG-Project-Id", "CG-Channel-Id", "CG-Turn-Epoch", "CG-Recursion-Depth")
# What an id must be to be a part of the name of a card.
CARD_NAME = re.compile(r"[-/_=A-Za-z0-9]{1,128}")
# Bytes of a message that are not its card.
AROUND = 1024

Fetch = Callable[[str], Awaitable[bytes | None]]
Invoke = Callable[[Call], Any]


class Worker:
    """Executes the commands `cmd.tool.<target>.*` of a project. Override `invoke`, which returns the result: any JSON value.

    A failure is raised: `UtpError(code, message)`, or any other exception, which is an `internal_error`. A result may have
    `__cg_control.after_execution`. A command that is delivered again is reported again, and not run again. Arguments that are larger
    than a message of the bus are read by the REST API. Such a result is stored by it, or reported as `result_too_large`.
    """

    def __init__(
        self,
        target: str,
        *,
        project: str,
        version: str = "v1r4",
        concurrency: int = 16,
        announce: Announcement | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """`announce` makes the worker announce itself, in its own project.

        `parameters` is a JSON Schema; a call whose arguments it refuses is a `bad_request` and is not run.
        """
        self.target, self.project, self.version = target, project, version
        self.name = f"tool.{target}"
        self._schema = Schema(parameters) if parameters is not None else None
        self.announcer = None
        if announce:
            announce = replace(announce, project=project)
            self.announcer = Announcer(announce, {"worker": {"target": target}}, {"worker": target})
        self._places = asyncio.Semaphore(concurrency)
        self._running: set[asyncio.Task[None]] = set()

    async def invoke(self, call: Call) -> Any:
        """Runs the tool."""
        raise NotImplementedError

    def run(self) -> None:
        """Works until SIGINT or SIGTERM, and finishes what runs then."""
        run(self)

    async def serve(self, client: Client) -> None:
        """Begins to pull commands with a connection of the caller's."""
        self._client = client
        context = client.jetstream()
        self._cards = await cards(context, self.project)
        commands = f"cg.{self.version}.{self.project}.*.cmd.tool.{self.target}.>"
        durable = f"tool_{self.project}_{self.target}_cmd_{self.version}"
        name, subjects = f"cg_cmd_{self.version}", f"cg.{self.version}.*.*.cmd.>"
        stream = await stream_of(context, durable, name, commands, subjects, KEPT_S)
        config = ConsumerConfig(ack_wait=ACK_WAIT_S, max_deliver=MAX_DELIVER)
        await context.subscribe(
            commands, queue=durable, durable=durable, stream=stream, cb=self._take, manual_ack=True, config=config
        )
        if self.announcer:
            await self.announcer.start(client)
        log.info("serving %s", commands)

    async def drain(self, client: Client) -> None:
        """Takes no more commands, finishes those that run, and closes the connection."""
        if self.announcer:
            await self.announcer.stop()
        if self._running:
            await asyncio.wait(list(self._running))
        await client.drain()

    def lost(self) -> None:
        """The connection has ended; what runs reports by the next one."""
        if self.announcer:
            self.announcer.pause()

    async def _take(self, message: Msg) -> None:
        await self._places.acquire()
        task = asyncio.create_task(self._work(message))
        self._running.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._places.release()
        if not task.cancelled() and task.exception():
            log.error("a command of %s was not reported: it is delivered again", self.target, exc_info=task.exception())

    async def call(
        self,
        arguments: Any,
        *,
        tool: str | None = None,
        after_execution: str = "suspend",
        metadata: Mapping[str, Any] | None = None,
    ) -> Any:
        """Calls the worker without a bus, by the command and the cards that would travel; for tests.

        Returns the result; a failed one is raised as `UtpError`. `tool` is the target without it.
        """
        id, tool = uuid.uuid4().hex, tool or self.target
        subject = f"cg.{self.version}.{self.project}.toolgate.cmd.tool.{self.target}.run"
        headers = {"CG-Agent-Id": "toolgate", "CG-Tool-Call-Id": id, "CG-Project-Id": self.project}
        payload = {"tool_call_card_id": id, "tool_name": tool, "after_execution": after_execution}
        sent = json.dumps(call_card(id, self.project, tool, arguments, metadata)).encode()

        async def fetch(card_id: str) -> bytes | None:
            return sent if card_id == id else None

        card = await self._answer(subject, headers, json.dumps(payload).encode(), fetch)
        content = json.loads(json.dumps(card["content"]))
        error = content["error"]
        if error:
            raise UtpError(error["code"], error["message"], error.get("retryable"), error.get("detail"))
        return content["result"]

    async def _work(self, message: Msg) -> None:
        headers = message.headers or {}
        if not CARD_NAME.fullmatch(headers.get("CG-Tool-Call-Id", "")) or not headers.get("CG-Agent-Id"):
            log.error("a command without a usable CG-Tool-Call-Id and CG-Agent-Id cannot be answered")
            await message.term()
            return
        span = trace.begin(headers)
        beating = asyncio.create_task(_beat(message))
        try:
            card = await self._result(message, headers)
            await self._report(message, headers, span, card)
        finally:
            beating.cancel()
        await message.ack()

    async def _result(self, message: Msg, headers: dict[str, str]) -> dict[str, Any]:
        """The card of the result, which is stored; of a command that was run before, the card of that time."""
        key = f"{headers['CG-Tool-Call-Id']}.result"
        stored = await self._fetch(key)
        if stored is not None:
            return json.loads(stored)
        card = await self._answer(message.subject, headers, message.data, self._fetch)
        text = json.dumps(card).encode()
        most = self._client.max_payload - AROUND
        if len(text) > most:
            reason = await store_card(self.project, text)
            if reason is None:
                return card
            # Otherwise nothing would be stored, and the command would be delivered and run again.
            said = f"the card of the result has {len(text)} bytes, of at most {most} in a message of the bus; {reason}"
            log.error("a call of %s: %s", self.target, said)
            after_execution = card["content"]["after_execution"]
            error = UtpError("result_too_large", said, retryable=False)
            card["content"] = failed(error, self.name) | {"after_execution": after_execution}
            text = json.dumps(card).encode()
        await self._cards.put(key, text)
        return card

    async def _fetch(self, card_id: str) -> bytes | None:
        """A card, or nothing where there is none."""
        try:
            return (await self._cards.get(card_id)).value or b""
        except (KeyNotFoundError, InvalidKeyError):
            return None

    async def _whole(self, card_id: str) -> bytes:
        """A card that is larger than a message of the bus."""
        try:
            return await read_card(self.project, card_id)
        except OSError as error:
            said = f"the card {card_id!r} is larger than a message of the bus, and cannot be read: {error}"
            raise UtpError("upstream_unavailable", said, retryable=True) from error

    async def _answer(self, subject: str, headers: Mapping[str, str], data: bytes, fetch: Fetch) -> dict[str, Any]:
        """Runs a command; the card of its result."""
        call = None
        after_execution = "suspend"
        try:
            command = read_command(subject, headers, data)
            call = read_call(command, await fetch(command.card_id))
            after_execution = call.after_execution
            if ARTIFACT in call.arguments:
                call = read_call(command, await self._whole(command.card_id))
            faults = self._schema.faults(call.arguments) if self._schema else []
            if faults:
                raise UtpError("bad_request", in_words(faults), retryable=False, detail={"errors": faults})
            outcome = self.invoke(call)
            result = await outcome if inspect.isawaitable(outcome) else outcome
            json.dumps(result, allow_nan=False)
            content = {"status": "success", "result": result, "error": None}
        except UtpError as error:
            content = failed(error, self.name)
        except Exception as error:  # noqa: BLE001: whatever goes wrong is the result
            log.exception("a call of %s failed", self.target)
            content = failed(UtpError("internal_error", str(error) or type(error).__name__), self.name)
        content["after_execution"] = after_execution
        key = f"{headers['CG-Tool-Call-Id']}.result"
        card = result_card(key, headers, call, content, self.name, self.project)
        card["metadata"]["function_name"] = call.tool if call else _named(data)
        card["created_at"] = datetime.now(UTC).isoformat()
        return card

    async def _report(
        self, message: Msg, headers: dict[str, str], span: dict[str, str], card: dict[str, Any]
    ) -> None:
        payload = {
            "tool_result_card_id": card["card_id"],
            "status": card["content"]["status"],
            "after_execution": card["content"]["after_execution"],
        }
        own = {name: headers[name] for name in REPORTED if name in headers} | span | {"CG-Sender": self.name}
        _, version, project, channel, *_ = message.subject.split(".")
        subject = f"cg.{version}.{project}.{channel}.evt.tool.{self.target}.report"
        await self._client.publish(subject, json.dumps(payload).encode(), headers=own)
        await self._client.flush()


async def _beat(message: Msg) -> None:
    """Says from time to time that the command is still worked on, so that it is not delivered again."""
    while True:
        await asyncio.sleep(ACK_WAIT_S / 3)
        await message.in_progress()


def _named(data: bytes) -> str:
    """The tool that a command names, whatever else is wrong with it."""
    try:
        return str(json.loads(data)["tool_name"])
    except (ValueError, KeyError, TypeError):
        return "unknown"


async def cards(context: JetStreamContext, project: str) -> KeyValue:
    """The cards of a project; the bucket is made if there is none."""
    try:
        return await context.key_value(f"cards_{project}")
    except NotFoundError:
        return await context.create_key_value(bucket=f"cards_{project}", history=1, ttl=KEPT_S)


class _Function(Worker):
    def __init__(self, function: Invoke, target: str, **settings: Any) -> None:
        super().__init__(target, **settings)
        self.invoke = function  # type: ignore[method-assign]


def worker(target: str, **settings: Any) -> Callable[[Invoke], Worker]:
    """Makes a worker of a function that takes a `Call`; the keywords are those of `Worker`."""

    def made(function: Invoke) -> Worker:
        settings.setdefault("project", os.environ.get("TOOLGATE_PROJECT", "demo"))
        return _Function(function, target, **settings)

    return made
