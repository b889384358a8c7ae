"""Calls over a real NATS server, with Toolgate's part played by the test: `NATS_URL` names the server."""

import hashlib
import json
import os
import unittest
import uuid

import nats
from toolgate_worker import InvokeError, Invoker


class Invoking(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.project = f"p{uuid.uuid4().hex[:8]}"
        self.bus = await nats.connect(os.environ["NATS_URL"])
        self.addAsyncCleanup(self.bus.close)
        self.seen = []

        async def tokens(subject, payload_sha256):
            return f"{subject} {payload_sha256}"

        self.invoker = Invoker(self.bus, self.project, tokens)

    async def answer(self, body, headers=None):
        async def reply(message):
            self.seen.append(message)
            await self.bus.publish(message.reply, json.dumps(body).encode(), headers=headers)

        await self.bus.subscribe(f"tg.{self.project}.tool.>", cb=reply)
        await self.bus.flush()

    async def test_a_call_has_a_token_for_its_message(self):
        await self.answer({"tool_call_id": "c1", "tool_name": "search", "content": "found", "is_error": False})
        content = await self.invoker.invoke("search", {"q": "cats"}, groups=[], session="s", tool_call_id="c1")
        self.assertEqual(content, "found")
        [message] = self.seen
        digest = hashlib.sha256(message.data).hexdigest()
        subject = f"tg.{self.project}.tool.invoke"
        self.assertEqual(message.headers, {"Toolgate-Token": f"{subject} {digest}", "Toolgate-Group": ""})
        request = {"tool_call_id": "c1", "tool_name": "search", "arguments": '{"q": "cats"}', "session_id": "s"}
        self.assertEqual(json.loads(message.data), request)

    async def test_a_failure_is_raised_with_its_codes(self):
        error = {"tool_call_id": "", "tool_name": "x", "code": "timeout", "message": "late", "is_retryable": True}
        await self.answer(error, {"Toolgate-Code": "timeout"})
        with self.assertRaises(InvokeError) as raised:
            await self.invoker.invoke("x", mcp_server="weather")
        self.assertEqual((raised.exception.code, raised.exception.retryable), ("timeout", True))
        self.assertEqual(raised.exception.reason, "timeout")
        [message] = self.seen
        self.assertEqual(message.subject, f"tg.{self.project}.tool.invoke.mcp")
        self.assertEqual(message.headers["rb-mcp-server"], "weather")
        self.assertNotIn("Toolgate-Group", message.headers)
