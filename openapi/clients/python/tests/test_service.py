"""The kit against a real NATS server: `NATS_URL` names it."""

import asyncio
import json
import os
import unittest

import nats
import nats.errors
from toolgate_worker import DynamicToolService, ToolError, tool_service, trace_headers

from toolgate_worker.running import serve_until

PATIENCE = 20


class Joke(DynamicToolService):
    async def invoke(self, user, config, arguments):
        return f"Hey {user}! Here's a {config.get('style', 'pun')} about {arguments['topic']}"


def request(arguments, config=None):
    body = {"user": "alice", "config": json.dumps(config or {}), "arguments": json.dumps(arguments)}
    return json.dumps(body).encode()


class WithoutABus(unittest.IsolatedAsyncioTestCase):
    async def test_a_service_is_called_without_a_bus(self):
        joke = Joke("joke")
        self.assertEqual(joke.request, "tg.request.joke")
        self.assertEqual(joke.response, "tg.response.joke")
        self.assertEqual(
            await joke.call("alice", {"style": "dad-joke"}, {"topic": "cats"}),
            "Hey alice! Here's a dad-joke about cats",
        )

    async def test_a_function_that_returns_no_text_gives_json(self):
        @tool_service("sum")
        async def total(user, config, arguments):
            return {"sum": sum(arguments["numbers"])}

        self.assertEqual(await total.call("alice", {}, {"numbers": [1, 2]}), {"sum": 3})

    async def test_a_generator_streams(self):
        @tool_service("words")
        async def words(user, config, arguments):
            for word in arguments["words"]:
                yield word

        self.assertEqual(await words.call("alice", {}, {"words": ["a", "b"]}), "ab")
        messages = [json.loads(one.body) async for one in words.answer(request({"words": ["a", "b"]}))]
        self.assertEqual([one["end_of_stream"] for one in messages], [False, False, True])

    async def test_what_goes_wrong_has_a_type(self):
        @tool_service("fails")
        async def fails(user, config, arguments):
            if "type" in arguments:
                raise ToolError(arguments["type"], "as asked")
            raise ValueError("no joke")

        with self.assertRaises(ToolError) as raised:
            await fails.call("alice", {}, {"type": "rate-limit"})
        self.assertEqual((raised.exception.type, raised.exception.message), ("rate-limit", "as asked"))
        with self.assertLogs("toolgate_worker"), self.assertRaises(ToolError) as raised:
            await fails.call("alice", {}, {})
        self.assertEqual((raised.exception.type, raised.exception.message), ("tool-service-error", "no joke"))

    async def test_what_is_no_request_is_answered_as_such(self):
        for data in (b"{", b"[]", b'{"config": "[]"}', b'{"arguments": {"topic": 1}}', b'{"user": 1}'):
            [answer] = [json.loads(one.body) async for one in Joke("joke").answer(data)]
            self.assertEqual(answer["error"]["type"], "bad-request", data)
            self.assertTrue(answer["end_of_stream"])


class OnTheBus(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.bus = await nats.connect(os.environ["NATS_URL"])

    async def asyncTearDown(self):
        await self.bus.close()

    async def serve(self, service):
        client = await nats.connect(os.environ["NATS_URL"])
        await service.serve(client)
        self.addAsyncCleanup(service.drain, client)

    async def test_a_request_is_answered_to_its_inbox(self):
        await self.serve(Joke("inbox"))
        answer = await self.bus.request(
            "tg.request.inbox", request({"topic": "cats"}), timeout=PATIENCE, headers={"id": "7"}
        )
        self.assertEqual(answer.headers["id"], "7")
        body = json.loads(answer.data)
        self.assertEqual(body["response"], "Hey alice! Here's a pun about cats")
        self.assertTrue(body["end_of_stream"])

    async def test_a_request_without_an_inbox_is_answered_on_the_response_queue(self):
        await self.serve(Joke("queue"))
        answers = await self.bus.subscribe("tg.response.queue")
        await self.bus.publish("tg.request.queue", request({"topic": "cats"}), headers={"id": "8"})
        answer = await answers.next_msg(timeout=PATIENCE)
        self.assertEqual(answer.headers["id"], "8")

    async def test_a_persistent_queue_is_read_from_its_stream(self):
        answers = await self.bus.subscribe("tg.demo.answers")
        await self.bus.flush()
        await self.serve(
            Joke(request_queue="persistent://tg/demo/kept", response_queue="non-persistent://tg/demo/answers")
        )
        await self.bus.jetstream().publish("tg.demo.kept", request({"topic": "time"}), headers={"id": "9"})
        answer = await answers.next_msg(timeout=PATIENCE)
        self.assertIn("about time", json.loads(answer.data)["response"])

    async def test_an_answer_that_is_larger_than_a_message_is_a_failure(self):
        @tool_service("large")
        async def large(user, config, arguments):
            yield "a part"
            yield "x" * arguments["bytes"]

        await self.serve(large)
        inbox = self.bus.new_inbox()
        answers = await self.bus.subscribe(inbox)
        for size, kind in ((self.bus.max_payload // 2, None), (self.bus.max_payload - 50, "result-too-large")):
            await self.bus.publish("tg.request.large", request({"bytes": size}), reply=inbox, headers={"id": "12"})
            bodies = []
            while not bodies or not bodies[-1]["end_of_stream"]:
                bodies.append(json.loads((await answers.next_msg(timeout=PATIENCE)).data))
            self.assertEqual(bodies[0]["response"], "a part")
            self.assertEqual((bodies[-1]["error"] or {}).get("type"), kind)

    async def test_an_answer_belongs_to_the_trace_of_its_request(self):
        @tool_service("traced")
        async def traced(user, config, arguments):
            return trace_headers()

        await self.serve(traced)
        parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        headers = {"id": "13", "traceparent": parent}
        answer = await self.bus.request("tg.request.traced", request({}), timeout=PATIENCE, headers=headers)
        own = json.loads(json.loads(answer.data)["response"])
        self.assertEqual(answer.headers["traceparent"], own["traceparent"])
        self.assertNotEqual(own["traceparent"], parent)
        self.assertTrue(own["traceparent"].startswith("00-0af7651916cd43dd8448eb211c80319c-"))

    async def answered(self, subject, body):
        """The answer as soon as there is one. Until the bus has seen a connection end, it sends requests into it."""
        while True:
            try:
                return await self.bus.request(subject, body, timeout=1)
            except (nats.errors.NoRespondersError, nats.errors.TimeoutError):
                await asyncio.sleep(0)

    async def test_a_service_connects_again_when_its_connection_was_ended(self):
        joke, stop = Joke("ended"), asyncio.Event()
        serving = asyncio.create_task(serve_until(joke, stop))
        for _ in range(2):
            answer = await asyncio.wait_for(self.answered("tg.request.ended", request({"topic": "cats"})), PATIENCE)
            self.assertIn("about cats", json.loads(answer.data)["response"])
            # As when the server says that the credentials have expired.
            await joke._client.close()
        stop.set()
        await asyncio.wait_for(serving, PATIENCE)

    async def test_a_cancelled_call_ends(self):
        began, ended = asyncio.Event(), asyncio.Event()

        @tool_service("slow")
        async def slow(user, config, arguments):
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        await self.serve(slow)
        await self.bus.publish("tg.request.slow", request({}), headers={"id": "10"})
        await asyncio.wait_for(began.wait(), PATIENCE)
        await self.bus.publish("tg.request.slow.cancel", b"", headers={"id": "10"})
        await asyncio.wait_for(ended.wait(), PATIENCE)

    async def test_a_call_ends_when_its_caller_waits_no_longer(self):
        @tool_service("late")
        async def late(user, config, arguments):
            await asyncio.Event().wait()

        await self.serve(late)
        answer = await self.bus.request(
            "tg.request.late", request({}), timeout=PATIENCE, headers={"id": "11", "timeout-ms": "20"}
        )
        self.assertEqual(json.loads(answer.data)["error"]["type"], "timeout")


if __name__ == "__main__":
    unittest.main()
