"""A project as an MCP server, used by the official Python client in every mode that it has.

`cargo xtask test --only mcp` makes the project with its workflow, and runs this file. It reports in TAP.
"""

import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

ADDRESS = os.environ["TOOLGATE_ADDRESS"]
KEY = os.environ["TOOLGATE_AGENT_KEY"]
BINARY = os.environ["TOOLGATE_BINARY"]
URL = f"{ADDRESS}/projects/mcp/mcp"


@asynccontextmanager
async def connected(mode: str, query: str = "?group=operations", **options):
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        async with Client(streamable_http_client(URL + query, http_client=http), mode=mode, **options) as client:
            yield client


GUIDES = ["list_tool_guides", "get_tool_guide"]


async def names(client: Client) -> list[str]:
    """The tools of the project that are listed."""
    listed = await client.list_tools()
    return [tool.name for tool in listed.tools if tool.name not in GUIDES]


def in_mode(mode: str) -> Callable[[], Awaitable[None]]:
    async def lists_calls_and_is_told_what_is_wrong() -> None:
        async with connected(mode) as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == ["begin", "is-ready", *GUIDES], listed
            ready = listed[1]
            assert ready.annotations.read_only_hint is True, ready
            assert ready.output_schema["type"] == "object", ready
            result = await client.call_tool("is-ready", {})
            assert result.is_error is not True, result
            assert result.structured_content == {"status": "ok"}, result
            wrong = await client.call_tool("is-ready", {"nothing": "like this"})
            assert wrong.is_error is True and wrong.structured_content is None, wrong
            assert wrong.content[0].text.startswith("invalid_arguments: "), wrong
            closed = await client.call_tool("finish", {})
            assert closed.is_error is True and "Open now: begin, is-ready." in closed.content[0].text, closed

    lists_calls_and_is_told_what_is_wrong.__name__ = f"in_mode_{mode}_lists_calls_and_is_told_what_is_wrong"
    return lists_calls_and_is_told_what_is_wrong


def reports_progress(mode: str) -> Callable[[], Awaitable[None]]:
    async def says_that_a_call_is_running() -> None:
        told: list[float] = []

        async def progress(progress: float, total: float | None, message: str | None) -> None:
            told.append(progress)

        async with connected(mode) as client:
            await client.call_tool("is-ready", {}, progress_callback=progress)
        assert told and told[0] == 1, told

    says_that_a_call_is_running.__name__ = f"in_mode_{mode}_says_that_a_call_is_running"
    return says_that_a_call_is_running


async def a_session_moves_and_the_client_hears_of_it() -> None:
    changed = anyio.Event()

    async def hear(message: object) -> None:
        if "list_changed" in str(message) or "ToolListChanged" in type(message).__name__:
            changed.set()

    async with connected("legacy", message_handler=hear) as client:
        assert await names(client) == ["begin", "is-ready"]
        await anyio.sleep(0.5)
        result = await client.call_tool("begin", {})
        assert result.is_error is not True, result
        with anyio.fail_after(5):
            await changed.wait()
        assert await names(client) == ["finish", "is-ready"]
    async with connected("legacy") as client:
        assert await names(client) == ["begin", "is-ready"], "another session begins at the beginning"


async def searches_instead_of_listing() -> None:
    async with connected("auto", "?group=operations&search=true") as client:
        assert await names(client) == ["search_tools", "describe_tool", "call_tool"]
        found = await client.call_tool("search_tools", {"query": "is the server ready"})
        name = found.structured_content["tools"][0]["name"]
        assert name == "is-ready", found
        result = await client.call_tool("call_tool", {"name": name, "arguments": {}})
        assert result.structured_content == {"status": "ok"}, result


BRIDGE = StdioServerParameters(
    command=BINARY,
    args=["mcp", "stdio", "--url", f"{URL}?group=operations", "--key-env", "THE_KEY"],
    env={"THE_KEY": KEY},
)


async def a_process_bridges_to_the_server() -> None:
    for mode in ["legacy", "auto"]:
        async with Client(BRIDGE, mode=mode) as client:
            assert await names(client) == ["begin", "is-ready"]
            result = await client.call_tool("is-ready", {})
            assert result.structured_content == {"status": "ok"}, result


async def a_bridge_whose_session_is_gone_begins_another() -> None:
    sessions = URL.removesuffix("/mcp") + "/sessions"
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}) as http:
        async with Client(BRIDGE, mode="legacy") as client:
            result = await client.call_tool("begin", {})
            assert result.is_error is not True, result
            assert await names(client) == ["finish", "is-ready"]
            listed = (await http.get(sessions)).json()["items"]
            for session in listed:
                if not session.get("ended_at"):
                    ended = await http.delete(f"{sessions}/{session['id']}", headers={"If-Match": "*"})
                    assert ended.status_code == 204, ended.text
            assert await names(client) == ["begin", "is-ready"], "it begins at the beginning"
            result = await client.call_tool("begin", {})
            assert result.is_error is not True, result


async def without_a_key_there_is_no_answer() -> None:
    async with httpx2.AsyncClient() as http:
        answer = await http.post(URL, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert answer.status_code == 401, answer


MODES = ["legacy", "auto", "2026-07-28"]
CHECKS: list[Callable[[], Awaitable[None]]] = [
    *(in_mode(mode) for mode in MODES),
    *(reports_progress(mode) for mode in MODES),
    a_session_moves_and_the_client_hears_of_it,
    searches_instead_of_listing,
    a_process_bridges_to_the_server,
    a_bridge_whose_session_is_gone_begins_another,
    without_a_key_there_is_no_answer,
]


def main() -> int:
    print(f"1..{len(CHECKS)}")
    failed = 0
    for number, check in enumerate(CHECKS, 1):
        try:
            anyio.run(check)
            print(f"ok {number} - {check.__name__}", flush=True)
        except BaseException:
            failed += 1
            print(f"not ok {number} - {check.__name__}", flush=True)
            for line in traceback.format_exc().splitlines():
                print(f"# {line}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
