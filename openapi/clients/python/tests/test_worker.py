"""Workers against a real NATS server, with Toolgate's part played by the test: `NATS_URL` names the server."""

import asyncio
import json
import os
import threading
import unittest
import unittest.mock
import uuid
from http.server import BaseHTTPRequestHandler, HTTPServer

import nats
from toolgate_worker import UtpError, Worker
from toolgate_worker.worker import cards

PATIENCE = 20


class Search(Worker):
    runs = 0

    async def invoke(self, call):
        self.runs += 1
        if call.arguments.get("fails"):
            raise UtpError("auth_failed", "no key", retryable=False)
        if "bytes" in call.arguments:
            return "x" * call.arguments["bytes"]
        if call.arguments.get("breaks"):
            raise ValueError("broken")
        return {"arguments": call.arguments, "__cg_control": {"after_execution": "terminate"}}


class Workers(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.project = f"p{uuid.uuid4().hex[:8]}"
        self.bus = await nats.connect(os.environ["NATS_URL"])
        self.context = self.bus.jetstream()
        self.cards = await cards(self.context, self.project)
        client = await nats.connect(os.environ["NATS_URL"])
        self.worker = Search("search", project=self.project)
        await self.worker.serve(client)
        self.addAsyncCleanup(self.bus.close)
        self.addAsyncCleanup(self.worker.drain, client)
        self.reports = await self.bus.subscribe(f"cg.v1r4.{self.project}.*.evt.tool.search.report")
        await self.bus.flush()
        await self.bus.flush()

    async def command(self, arguments, payload=None, headers=None, metadata=None):
        """Sends a command; returns the id of its call."""
        call = uuid.uuid4().hex
        card = {
            "card_id": call,
            "project_id": self.project,
            "type": "tool.call",
            "tool_call_id": call,
            "author_id": "toolgate",
            "content": {"tool_name": "search", "arguments": arguments, "status": "called"},
            "metadata": {"step_id": "s1", "trace_id": "t1", **(metadata or {})},
        }
        await self.cards.put(call, json.dumps(card).encode())
        body = {"tool_call_card_id": call, "tool_name": "search", "after_execution": "suspend", **(payload or {})}
        control = {
            "CG-Project-Id": self.project,
            "CG-Channel-Id": "toolgate",
            "CG-Agent-Id": "toolgate",
            "CG-Tool-Call-Id": call,
            "CG-Turn-Epoch": "3",
            "CG-Recursion-Depth": "0",
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            **(headers or {}),
        }
        subject = f"cg.v1r4.{self.project}.toolgate.cmd.tool.search.run"
        await self.context.publish(subject, json.dumps(body).encode(), headers=control)
        return call

    async def report(self):
        """The next report and the card that it names."""
        message = await self.reports.next_msg(timeout=PATIENCE)
        payload = json.loads(message.data)
        card = json.loads((await self.cards.get(payload["tool_result_card_id"])).value)
        self.assertEqual(payload["status"], card["content"]["status"])
        return message.headers, payload, card

    async def test_a_command_is_run_and_reported(self):
        os.environ["SEARCH_KEY"] = "k"
        call = await self.command({"q": "cats"}, metadata={"tool_args_envs": {"key": "SEARCH_KEY"}})
        headers, payload, card = await self.report()
        self.assertEqual(headers["CG-Tool-Call-Id"], call)
        self.assertEqual((headers["CG-Sender"], headers["CG-Turn-Epoch"]), ("tool.search", "3"))
        version, trace, span, flags = headers["traceparent"].split("-")
        self.assertEqual((version, trace, flags), ("00", "0af7651916cd43dd8448eb211c80319c", "01"))
        self.assertNotEqual(span, "b7ad6b7169203331")
        self.assertEqual((payload["status"], payload["after_execution"]), ("success", "suspend"))
        self.assertEqual(card["content"]["result"]["arguments"], {"q": "cats", "key": "k"})
        self.assertEqual((card["type"], card["author_id"], card["tool_call_id"]), ("tool.result", "tool.search", call))
        lineage = {"step_id": "s1", "trace_id": "t1", "tool_call_id": call, "role": "tool", "function_name": "search"}
        self.assertEqual(card["metadata"], lineage)

    async def test_a_command_that_is_delivered_again_is_reported_and_not_run_again(self):
        call = await self.command({"q": "cats"})
        first = (await self.report())[2]
        subject = f"cg.v1r4.{self.project}.toolgate.cmd.tool.search.run"
        body = {"tool_call_card_id": call, "tool_name": "search", "after_execution": "suspend"}
        headers = {"CG-Agent-Id": "toolgate", "CG-Tool-Call-Id": call}
        await self.context.publish(subject, json.dumps(body).encode(), headers=headers)
        self.assertEqual((await self.report())[2], first)
        self.assertEqual(self.worker.runs, 1)

    async def test_what_goes_wrong_is_a_failed_result(self):
        cases = [
            ({"fails": True}, None, None, "auth_failed"),
            ({"breaks": True}, None, None, "internal_error"),
            ({}, {"arguments": {"q": 1}}, None, "bad_request"),
            ({}, {"agent_id": "a"}, None, "bad_request"),
            ({}, {"after_execution": "later"}, None, "bad_request"),
            ({}, {"tool_name": "other"}, None, "bad_request"),
            ({}, {"tool_call_card_id": "absent"}, None, "not_found"),
            ({}, {"tool_call_card_id": "no key"}, None, "not_found"),
            ({}, {"tool_call_card_id": 1}, None, "bad_request"),
            ([], None, None, "bad_request"),
            ({}, None, {"CG-Project-Id": "other"}, "bad_request"),
            ({}, None, {"CG-Channel-Id": "other"}, "bad_request"),
        ]
        for arguments, payload, headers, code in cases:
            with self.subTest(code=code, payload=payload, headers=headers):
                await self.command(arguments, payload, headers)
                _, report, card = await self.report()
                self.assertEqual(report["status"], "failed")
                self.assertEqual(card["content"]["error"]["code"], code)
                self.assertEqual(card["content"]["result"]["error_code"], code)

    async def test_a_result_that_is_larger_than_a_message_is_a_failure_and_is_run_once(self):
        for size, code in ((self.bus.max_payload // 2, None), (self.bus.max_payload, "result_too_large")):
            self.worker.runs = 0
            await self.command({"bytes": size})
            _, payload, card = await self.report()
            self.assertEqual((card["content"]["error"] or {}).get("code"), code)
            self.assertEqual(payload["status"], "failed" if code else "success")
            self.assertEqual(self.worker.runs, 1)
        durable = f"tool_{self.project}_search_cmd_v1r4"
        while (await self.context.consumer_info("cg_cmd_v1r4", durable)).num_ack_pending:
            await asyncio.sleep(0)
        self.assertEqual(self.worker.runs, 1)

    async def test_a_result_that_is_larger_than_a_message_is_stored_by_the_rest_api(self):
        seen = []

        class Api(BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802: the name is that of http.server
                card = json.loads(self.rfile.read(int(self.headers["content-length"])))
                seen.append((self.path, self.headers["authorization"], card))
                self.send_response(201)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = HTTPServer(("127.0.0.1", 0), Api)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        settings = {"TOOLGATE_URL": f"http://127.0.0.1:{server.server_port}/", "TOOLGATE_KEY": "k"}
        with unittest.mock.patch.dict(os.environ, settings):
            call = await self.command({"bytes": self.bus.max_payload})
            message = await self.reports.next_msg(timeout=PATIENCE)
        report = json.loads(message.data)
        self.assertEqual((report["status"], report["tool_result_card_id"]), ("success", f"{call}.result"))
        [(path, key, card)] = seen
        self.assertEqual((path, key), (f"/projects/{self.project}/cards", "Bearer k"))
        self.assertEqual(len(card["content"]["result"]), self.bus.max_payload)
        self.assertEqual(self.worker.runs, 1)

    async def test_a_command_that_cannot_be_answered_is_dropped(self):
        with self.assertLogs("toolgate_worker") as logged:
            await self.command({}, headers={"CG-Agent-Id": ""})
            await self.command({}, headers={"CG-Tool-Call-Id": "no key"})
            call = await self.command({"q": "cats"})
            headers, _, _ = await self.report()
        self.assertEqual(headers["CG-Tool-Call-Id"], call)
        self.assertIn("CG-Agent-Id", logged.output[0])


if __name__ == "__main__":
    unittest.main()
