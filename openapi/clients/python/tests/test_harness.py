"""Workers, schemas and traces without a bus, as their authors test them."""

import json
import os
import unittest

from toolgate_worker import ToolError, UtpError, tool_service, trace_headers, worker
from toolgate_worker import trace

PARAMETERS = {
    "type": "object",
    "properties": {"q": {"type": "string", "maxLength": 5}, "key": {"type": "string"}},
    "required": ["q"],
    "additionalProperties": False,
}


@worker("search", project="demo", parameters=PARAMETERS)
async def search(call):
    if call.arguments["q"] == "none":
        raise UtpError("not_found", "nothing", retryable=False, detail={"searched": ["a", object]})
    if call.arguments["q"] == "nan":
        return float("nan")
    return {"found": call.arguments, "tool": call.tool, "then": call.after_execution}


class Workers(unittest.IsolatedAsyncioTestCase):
    async def failure(self, arguments, **settings):
        with self.assertRaises(UtpError) as raised:
            await search.call(arguments, **settings)
        return raised.exception

    async def test_a_worker_is_called_without_a_bus(self):
        os.environ["SEARCH_KEY"] = "k"
        found = await search.call(
            {"q": "cats"}, tool="papers", after_execution="terminate", metadata={"tool_args_envs": {"key": "SEARCH_KEY"}}
        )
        self.assertEqual(found, {"found": {"q": "cats", "key": "k"}, "tool": "papers", "then": "terminate"})

    async def test_a_failure_has_its_code_and_detail(self):
        error = await self.failure({"q": "none"})
        self.assertEqual((error.code, str(error), error.retryable), ("not_found", "nothing", False))
        self.assertEqual(error.detail["searched"][0], "a")
        with self.assertLogs("toolgate_worker"):
            self.assertEqual((await self.failure({"q": "nan"})).code, "internal_error")

    async def test_arguments_that_the_schema_refuses_are_not_run(self):
        for arguments, pointer in [({}, ""), ({"q": 1}, "/q"), ({"q": "secrets"}, "/q"), ({"q": "a", "x/y": 1}, "")]:
            error = await self.failure(arguments)
            self.assertEqual((error.code, error.retryable), ("bad_request", False), arguments)
            [fault] = error.detail["errors"]
            self.assertEqual(fault["pointer"], pointer)
            self.assertNotIn("secrets", json.dumps(error.detail) + str(error))

    async def test_arguments_that_are_no_object_are_refused(self):
        for arguments in (None, [], "q", 1, [["q", "cats"]]):
            self.assertEqual((await self.failure(arguments)).code, "bad_request", arguments)


class Services(unittest.IsolatedAsyncioTestCase):
    async def test_a_service_refuses_what_its_schema_does(self):
        @tool_service("search", parameters=PARAMETERS)
        async def service(user, config, arguments):
            return arguments["q"]

        self.assertEqual(await service.call("alice", {}, {"q": "cats"}), "cats")
        with self.assertRaises(ToolError) as raised:
            await service.call("alice", {}, {"q": "secrets"})
        self.assertEqual(raised.exception.type, "invalid-arguments")
        self.assertIn("/q", raised.exception.message)
        self.assertNotIn("secrets", raised.exception.message)


class Traces(unittest.TestCase):
    def test_a_call_is_a_child_of_its_message(self):
        said = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        own = trace.begin({"traceparent": said, "tracestate": "a=b"})
        version, of, span, flags = own["traceparent"].split("-")
        self.assertEqual((version, of, flags), ("00", "0af7651916cd43dd8448eb211c80319c", "01"))
        self.assertNotEqual(span, "b7ad6b7169203331")
        self.assertEqual((own["tracestate"], trace_headers()), ("a=b", own))

    def test_what_is_no_trace_is_left_out(self):
        for said in ("", "00-1-2-01", f"00-{'0' * 32}-b7ad6b7169203331-01", "x" * 55):
            self.assertEqual(trace.begin({"traceparent": said, "tracestate": "a=b"}), {}, said)
            self.assertEqual(trace_headers(), {})
