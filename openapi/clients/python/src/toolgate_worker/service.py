"""A tool service: it reads requests from its queue, runs them, and answers."""

import asyncio
import inspect
import json
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from . import envelope, trace
from .envelope import Response
from .errors import ToolError
from .presence import Announcement, Announcer
from .running import run
from .schema import Schema, in_words

log = logging.getLogger("toolgate_worker")

# How long a persistent queue keeps a request that nothing has read, as Toolgate has it.
KEPT_S = 3600

Invoke = Callable[[str, dict[str, Any], dict[str, Any]], Any]


class DynamicToolService:
    """Base class of tool services. Override `invoke`.

    The topic `joke` means the queues `non-persistent://tg/request/joke` and `non-persistent://tg/response/joke`.
    """

    default_topic = "tool"

    def __init__(
        self,
        topic: str | None = None,
        *,
        request_queue: str | None = None,
        response_queue: str | None = None,
        concurrency: int = 64,
        service_id: str | None = None,
        config_params: Sequence[dict[str, Any]] = (),
        announce: Announcement | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """`announce` makes the service announce itself, as `service_id` (its topic without it) and with `config_params`.

        `parameters` is a JSON Schema; arguments that it refuses are answered with `invalid-arguments`.
        """
        topic = topic or self.default_topic
        request_queue = request_queue or f"non-persistent://tg/request/{topic}"
        response_queue = response_queue or f"non-persistent://tg/response/{topic}"
        self.request, self.persistent = envelope.subject(request_queue)
        self.response, _ = envelope.subject(response_queue)
        self._schema = Schema(parameters) if parameters is not None else None
        self.announcer = None
        if announce:
            service_id = service_id or topic
            descriptor = {
                "id": service_id,
                "request-queue": request_queue,
                "response-queue": response_queue,
                "config-params": list(config_params),
            }
            self.announcer = Announcer(announce, {"tool-service": descriptor}, {"service": service_id})
        self._places = asyncio.Semaphore(concurrency)
        self._running: dict[str, asyncio.Task[None]] = {}

    async def invoke(self, user: str, config: dict[str, Any], arguments: dict[str, Any]) -> Any:
        """Runs the tool: returns the result, or as an async generator yields its parts."""
        raise NotImplementedError

    async def call(self, user: str, config: dict[str, Any], arguments: dict[str, Any]) -> Any:
        """Calls the service without a bus, by the messages that would travel; for tests."""
        request = {"user": user, "config": json.dumps(config), "arguments": json.dumps(arguments)}
        values = []
        async for response in self.answer(json.dumps(request).encode()):
            body = json.loads(response.body)
            if body["error"]:
                raise ToolError(body["error"]["type"], body["error"]["message"])
            if body["response"]:
                is_json = response.headers.get(envelope.CONTENT_TYPE) == envelope.JSON
                values.append(json.loads(body["response"]) if is_json else body["response"])
        if all(isinstance(value, str) for value in values):
            return "".join(values)
        return values[0] if len(values) == 1 else values

    async def answer(self, data: bytes) -> AsyncGenerator[Response, None]:
        """The messages that answer a request."""
        try:
            request = envelope.read(data)
            faults = self._schema.faults(request.arguments) if self._schema else []
            if faults:
                raise ToolError("invalid-arguments", in_words(faults))
            outcome = self.invoke(request.user, request.config, request.arguments)
            if inspect.isasyncgen(outcome):
                number = 0
                async for value in outcome:
                    yield envelope.part(number, value, False)
                    number += 1
                yield envelope.part(number, None, True)
            else:
                value = await outcome if inspect.isawaitable(outcome) else outcome
                yield envelope.part(0, value, True)
        except Exception as error:  # noqa: BLE001: whatever goes wrong is the answer
            if not isinstance(error, ToolError):
                log.exception("a call of %s failed", self.request)
            yield envelope.failure(error)

    def run(self) -> None:
        """Serves until SIGINT or SIGTERM."""
        run(self)

    async def serve(self, client: Client) -> None:
        """Begins to read requests with a connection of the caller's."""
        self._client = client
        await client.subscribe(f"{self.request}.cancel", cb=self._cancel)
        if self.persistent:
            context = client.jetstream()
            name = self.request.replace(".", "_")
            stream = await stream_of(context, name, name, self.request, self.request, KEPT_S)
            await context.subscribe(
                self.request, queue=name, durable=name, stream=stream, cb=self._take, manual_ack=True
            )
        else:
            await client.subscribe(self.request, queue=self.request, cb=self._take)
        # The client writes the first ping before the subscriptions that wait to be written; the second comes after them.
        await client.flush()
        await client.flush()
        if self.announcer:
            await self.announcer.start(client)
        log.info("serving %s", self.request)

    async def drain(self, client: Client) -> None:
        """Takes no more requests, finishes those that run, and closes the connection."""
        if self.announcer:
            await self.announcer.stop()
        if self._running:
            await asyncio.wait(list(self._running.values()))
        await client.drain()

    def lost(self) -> None:
        """The connection has ended; what runs answers by the next one."""
        if self.announcer:
            self.announcer.pause()

    async def _take(self, message: Msg) -> None:
        await self._places.acquire()
        id = (message.headers or {}).get(envelope.ID, "")
        task = asyncio.create_task(self._work(message, id))
        self._running[id] = task
        task.add_done_callback(lambda _: self._done(id))

    def _done(self, id: str) -> None:
        self._places.release()
        self._running.pop(id, None)

    async def _cancel(self, message: Msg) -> None:
        task = self._running.get((message.headers or {}).get(envelope.ID, ""))
        if task:
            task.cancel()

    async def _work(self, message: Msg, id: str) -> None:
        # The reply subject of a persistent queue is where its stream learns that the message was read.
        to = self.response if self.persistent or not message.reply else message.reply
        if self.persistent:
            await message.ack()
        own = {envelope.ID: id, **trace.begin(message.headers or {})}
        try:
            async with asyncio.timeout(_seconds(message)), aclosing(self.answer(message.data)) as answer:
                async for response in answer:
                    headers = own | response.headers
                    size = envelope.size(headers, response.body)
                    if size > self._client.max_payload:
                        said = f"a message of the answer has {size} bytes, of at most {self._client.max_payload}"
                        raise ToolError("result-too-large", said)
                    await self._client.publish(to, response.body, headers=headers)
        except TimeoutError:
            late = ToolError("timeout", "the call took longer than its caller waits")
            await self._client.publish(to, envelope.failure(late).body, headers=own)
        except ToolError as error:
            log.error("a call of %s cannot be answered: %s", self.request, error)
            await self._client.publish(to, envelope.failure(error).body, headers=own)
        except asyncio.CancelledError:
            log.info("a call of %s was cancelled", self.request)


def _seconds(message: Msg) -> float | None:
    """How long the caller waits, if the request says."""
    try:
        return int((message.headers or {}).get(envelope.TIMEOUT, "")) / 1000
    except ValueError:
        return None


async def stream_of(context: JetStreamContext, durable: str, name: str, subject: str, subjects: str, kept_s: float) -> str:
    """The stream that has a subject; it is made if there is none."""
    try:
        # With credentials from Toolgate the consumer is there already, and nothing else may be asked.
        await context.consumer_info(name, durable)
        return name
    except NotFoundError:
        pass
    try:
        return await context.find_stream_name_by_subject(subject)
    except NotFoundError:
        await context.add_stream(name=name, subjects=[subjects], max_age=kept_s)
        return name


class _Function(DynamicToolService):
    def __init__(self, function: Invoke, topic: str, **queues: Any) -> None:
        super().__init__(topic, **queues)
        self.invoke = function  # type: ignore[method-assign]


def tool_service(topic: str, **queues: Any) -> Callable[[Invoke], DynamicToolService]:
    """Makes a tool service of a function `(user, config, arguments)`; the keywords are those of `DynamicToolService`."""

    def service(function: Invoke) -> DynamicToolService:
        return _Function(function, topic, **queues)

    return service
