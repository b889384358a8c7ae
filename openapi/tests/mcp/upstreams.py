"""Public MCP servers behind a project: every tool of them is called over REST and over MCP, and no process stays behind.

`cargo xtask test --only mcp` runs this file. It starts a server of its own, because the commands that may be started are a
setting. It reports in TAP.
"""

import base64
import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request
from pathlib import Path

import anyio
import httpx2
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client

BINARY = os.environ["TOOLGATE_BINARY"]
PACKAGES = Path(os.environ["PACKAGES"]).resolve()
# The program itself: what is on `PATH` may be a script that starts it, which needs files that a sandbox does not have.
NODE = subprocess.check_output([os.environ.get("NODE", "/usr/bin/node"), "-p", "process.execPath"], text=True).strip()
PASSWORD = "correct horse battery staple"
EVERYTHING = str(PACKAGES / "node_modules/@modelcontextprotocol/server-everything/dist/index.js")
FILES = str(PACKAGES / "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js")

# The Python of the environment that has the public servers.
PYTHON = sys.executable
# The home of a process in the sandbox, which it may write to.
HOME = "/tmp/home"

# The tools of the server of files, in an order in which each call can succeed; `{n}` tells the rounds apart.
FILES_CALLS = {
    "create_directory": {"path": HOME + "/{n}"},
    "write_file": {"path": HOME + "/{n}/a.png", "content": "one\ntwo\n"},
    "edit_file": {"path": HOME + "/{n}/a.png", "edits": [{"oldText": "two", "newText": "three"}]},
    "move_file": {"source": HOME + "/{n}/a.png", "destination": HOME + "/{n}/b.png"},
    "read_file": {"path": HOME + "/{n}/b.png"},
    "read_text_file": {"path": HOME + "/{n}/b.png", "head": 1},
    "read_media_file": {"path": HOME + "/{n}/b.png"},
    "read_multiple_files": {"paths": [HOME + "/{n}/b.png"]},
    "list_directory": {"path": HOME + "/{n}"},
    "list_directory_with_sizes": {"path": HOME + "/{n}"},
    "directory_tree": {"path": HOME},
    "search_files": {"path": HOME, "pattern": "**/*.png"},
    "get_file_info": {"path": HOME + "/{n}/b.png"},
    "list_allowed_directories": {},
}

TIME_CALLS = {
    "get_current_time": {"timezone": "Europe/Vienna"},
    "convert_time": {"source_timezone": "Etc/UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
}

# Arguments for each tool; `None` where an ordinary call cannot succeed.
CALLS = {
    "echo": {"message": "hi"},
    "get-annotated-message": {"messageType": "success", "includeImage": True},
    "get-env": {},
    "get-resource-links": {"count": 2},
    "get-resource-reference": {"resourceType": "Text", "resourceId": 1},
    "get-structured-content": {"location": "Chicago"},
    "get-sum": {"a": 2, "b": 3},
    "get-tiny-image": {},
    "gzip-file-as-resource": {"name": "a.gz", "data": "data:text/plain,hi", "outputType": "resource"},
    "toggle-simulated-logging": {},
    "toggle-subscriber-updates": {},
    "trigger-long-running-operation": {"duration": 1, "steps": 2},
    "simulate-research-query": {"topic": "a"},
    "trigger-elicitation-request": None,
    "trigger-url-elicitation": None,
}
# Arguments of those that cannot.
FAILING = {
    "trigger-elicitation-request": {},
    "trigger-url-elicitation": {"url": "https://example.com/"},
}


# What is in the command lines of the public servers.
MARKS = [EVERYTHING.encode(), FILES.encode(), b"mcp_server_time", b"mcp_server_fetch"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Project:
    """A project of a server, as its administrator sees it."""

    def __init__(self, address: str, name: str) -> None:
        self.address = address
        self.path = f"/projects/{name}"
        signed_in = self.ask("POST", "/auth/login", {"username": "admin", "password": PASSWORD}, token=None)
        self.token = signed_in["access_token"]
        self.ask("POST", "/projects", {"id": name})

    def ask(self, method: str, path: str, body: object = None, token: str | None = "", **headers: str) -> dict:
        request = urllib.request.Request(self.address + path, method=method)
        if token is not None:
            request.add_header("Authorization", f"Bearer {token or self.token}")
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, data, timeout=120) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error
        return json.loads(text) if text else {}

    def add(self, name: str, server: dict, prefix: str) -> list[str]:
        """Adds a server, imports its tools and enables them."""
        self.ask("POST", f"{self.path}/mcp-servers", {"mcpServers": {name: server}})
        report = self.ask("POST", f"{self.path}/mcp-servers/{name}/refresh?prefix={prefix}", {})
        tools = [one["tool"] for one in report["operations"] if one["outcome"] == "new"]
        assert len(tools) == len(report["operations"]) > 0, report
        enable = {"select": {"names": tools}, "change": {"enabled": True}}
        self.ask("POST", f"{self.path}/tool-changes", enable)
        return tools

    def call(self, tool: str, arguments: dict, **more: str) -> dict:
        return self.ask("POST", f"{self.path}/calls", {"tool": tool, "arguments": arguments, **more})

    def call_by_mcp(self, tool: str, arguments: dict) -> dict:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        answer = self.ask("POST", f"{self.path}/mcp", message, Accept="application/json", MCP_Protocol_Version="2025-11-25")
        return answer["result"]


def calls_every_tool(project: Project, name: str, server: dict, prefix: str) -> None:
    tools = project.add(name, server, prefix)
    assert sorted(tool.removeprefix(prefix) for tool in tools) == sorted(CALLS), tools
    for tool in tools:
        arguments = CALLS[tool.removeprefix(prefix)]
        if arguments is None:
            answer = project.call(tool, FAILING[tool.removeprefix(prefix)])
            assert answer["status"] == "failed", answer
            continue
        answer = project.call(tool, arguments)
        assert answer["status"] == "succeeded", (tool, answer)
        by_mcp = project.call_by_mcp(tool, arguments)
        assert not by_mcp.get("isError"), (tool, by_mcp)
        kinds = [block["type"] for block in answer["result"]["content"]]
        assert [block["type"] for block in by_mcp["content"]][: len(kinds)] == kinds, (tool, answer, by_mcp)
    total = project.call(prefix + "get-sum", {"a": 2, "b": 3})["result"]["content"][0]["text"]
    assert "5" in total, total
    image = project.call_by_mcp(prefix + "get-tiny-image", {})["content"]
    assert any(block["type"] == "image" and block["data"] for block in image), image
    weather = project.call_by_mcp(prefix + "get-structured-content", {"location": "Chicago"})
    assert isinstance(weather["structuredContent"], dict), weather


def over_stdio(project: Project) -> None:
    calls_every_tool(project, "everything", {"command": NODE, "args": [EVERYTHING, "stdio"]}, "s_")
    env = project.call("s_get-env", {})["result"]["content"][0]["text"]
    assert "TOOLGATE" not in env and "SECRETS" not in env, env


def over_http(project: Project, kind: str, port: int, prefix: str) -> None:
    started = subprocess.Popen(
        [NODE, EVERYTHING, kind],
        env={"PORT": str(port), "PATH": os.environ["PATH"]},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: connects(port), "the public server listens")
        path = {"streamableHttp": "mcp", "sse": "sse"}[kind]
        server = {"url": f"http://127.0.0.1:{port}/{path}"}
        if kind == "sse":
            server["type"] = "sse"
        calls_every_tool(project, f"http-{prefix.strip('_')}", server, prefix)
    finally:
        started.terminate()
        started.wait()


def calls_all(project: Project, name: str, server: dict, prefix: str, calls: dict) -> None:
    """Calls every tool of a server, by REST and then by MCP."""
    tools = project.add(name, server, prefix)
    assert sorted(tool.removeprefix(prefix) for tool in tools) == sorted(calls), tools
    succeeds(project, prefix, calls, ("1", "2"))


def succeeds(project: Project, prefix: str, calls: dict, rounds: tuple[str, str]) -> None:
    """Calls tools by REST and then by MCP; each round has a name of its own."""
    for way, number in zip((project.call, project.call_by_mcp), rounds):
        for tool, arguments in calls.items():
            arguments = json.loads(json.dumps(arguments).replace("{n}", number))
            answer = way(prefix + tool, arguments)
            succeeded = not answer.get("isError") if way == project.call_by_mcp else answer["status"] == "succeeded"
            assert succeeded, (tool, answer)


def tells_the_time(project: Project) -> None:
    calls_all(project, "time", {"command": PYTHON, "args": ["-m", "mcp_server_time"]}, "t_", TIME_CALLS)
    answer = project.call("t_convert_time", TIME_CALLS["convert_time"])
    assert "21:00" in answer["result"]["content"][0]["text"], answer


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<html><head><title>A page</title></head><body><h1>Tides</h1><p>High at noon.</p></body></html>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def fetches(project: Project, port: int) -> None:
    pages = http.server.ThreadingHTTPServer(("127.0.0.1", port), Page)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    unlisted = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=unlisted.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{port}/"
        args = ["-m", "mcp_server_fetch", "--ignore-robots-txt", "--allow-private-ips"]
        server = {"command": PYTHON, "args": args, "network": True}
        # As it came: to make a text of it, the server would install a program from the network.
        asked = {"url": url, "raw": True}
        calls_all(project, "fetch", server, "w_", {"fetch": asked})
        answer = project.call("w_fetch", asked)
        assert "High at noon" in answer["result"]["content"][0]["text"], answer
        refused = project.call("w_fetch", {**asked, "url": f"http://127.0.0.1:{unlisted.server_port}/"})
        assert refused["status"] == "failed", "the egress lists do not permit it"
        log = project.ask("GET", "/projects/demo/mcp-servers/fetch/log")
        assert str(unlisted.server_port) in json.dumps(log), log
        behind_another_door(project, asked)
        project.ask("POST", "/projects/demo/mcp-servers", {"mcpServers": {"offline": {**server, "network": False}}})
        project.ask("POST", "/projects/demo/mcp-servers/offline/refresh?prefix=o_", {})
        enable = {"select": {"names": ["o_fetch"]}, "change": {"enabled": True}}
        project.ask("POST", "/projects/demo/tool-changes", enable)
        assert project.call("o_fetch", asked)["status"] == "failed", "it has no network"
    finally:
        pages.shutdown()
        unlisted.shutdown()


def behind_another_door(project: Project, asked: dict) -> None:
    """The servers that speak only stdio, over streamable HTTP: a second project uses the first one as an MCP server."""
    outer = Project(project.address, "outer")
    project.ask("PUT", f"{outer.path}/secrets/DOOR", {"value": project.token}, If_None_Match="*")
    headers = {"Authorization": "Bearer ${secret:DOOR}"}
    outer.add("door", {"url": f"{project.address}{project.path}/mcp", "headers": headers}, "")
    for prefix, calls in (("f_", FILES_CALLS), ("t_", TIME_CALLS), ("w_", {"fetch": asked})):
        succeeds(outer, prefix, calls, ("3", "4"))


def keeps_sessions_apart(project: Project) -> None:
    server = {"command": NODE, "args": [FILES, HOME], "instance": "session", "idle_stop_s": 60}
    project.add("apart", server, "a_")
    before = processes()
    one, other = (project.ask("POST", "/projects/demo/sessions", {})["id"] for _ in range(2))
    path = f"{HOME}/mine.txt"
    written = project.call("a_write_file", {"path": path, "content": "mine"}, session_id=one)
    assert written["status"] == "succeeded", written
    assert project.call("a_read_text_file", {"path": path}, session_id=other)["status"] == "failed", "it is another's"
    read = project.call("a_read_text_file", {"path": path}, session_id=one)
    assert read["result"]["content"][0]["text"] == "mine", read
    assert processes() > before
    for session in (one, other):
        project.ask("DELETE", f"/projects/demo/sessions/{session}", None, If_Match="*")
    wait_for(lambda: processes() == before, "the processes end with their sessions")


def offers_the_rest(project: Project) -> None:
    """Resources, prompts and questions of the server that runs as a process, for the official client in its modes."""
    open_to = {"group": ["default"]}
    server = {"command": NODE, "args": [EVERYTHING, "stdio"], "resources": open_to, "prompts": open_to}
    project.ask("PUT", "/projects/demo/mcp-servers/everything", server, If_Match="*")
    for mode in ["legacy", "auto"]:
        anyio.run(uses_the_rest, project, mode)


async def uses_the_rest(project: Project, mode: str) -> None:
    questions = []

    async def answer(context: object, params: object) -> types.ElicitResult:
        questions.append(params)
        is_form = getattr(params, "mode", "form") == "form"
        return types.ElicitResult(action="accept", content={"name": "Ada"} if is_form else None)

    headers = {"Authorization": f"Bearer {project.token}"}
    url = f"{project.address}/projects/demo/mcp"
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode, elicitation_callback=answer) as client:
            resources = (await client.list_resources()).resources
            ours = [one for one in resources if str(one.uri).startswith("toolgate://mcp/everything/")]
            assert ours, resources
            read = await client.read_resource(str(ours[0].uri))
            assert str(read.contents[0].uri) == str(ours[0].uri), read
            templates = (await client.list_resource_templates()).resource_templates
            texts = [one for one in templates if "text" in one.uri_template and "everything" in one.uri_template]
            assert texts, templates
            read = await client.read_resource(texts[0].uri_template.replace("{resourceId}", "1"))
            assert read.contents[0].text, read
            prompts = (await client.list_prompts()).prompts
            assert "everything_args-prompt" in [one.name for one in prompts], prompts
            got = await client.get_prompt("everything_args-prompt", {"city": "Oslo"})
            assert "Oslo" in got.messages[0].content.text, got
            reference = types.PromptReference(type="ref/prompt", name="everything_completable-prompt")
            completed = await client.complete(reference, {"name": "department", "value": "E"})
            assert completed.completion.values == ["Engineering"], completed
            asked = await client.call_tool("s_trigger-elicitation-request", {})
            assert asked.is_error is not True, asked
            assert "Name: Ada" in asked.content[1].text, asked
            asked = await client.call_tool("s_trigger-url-elicitation", FAILING["trigger-url-elicitation"])
            assert asked.is_error is not True, asked
    assert [one.message.startswith("everything: ") for one in questions] == [True, True], questions


def reads_files(project: Project) -> None:
    folder = str(PACKAGES / "node_modules/@modelcontextprotocol/server-filesystem")
    calls_all(project, "files", {"command": NODE, "args": [FILES, folder, HOME]}, "f_", FILES_CALLS)
    listed = project.call("f_list_directory", {"path": folder})
    assert "package.json" in listed["result"]["content"][0]["text"], listed
    refused = project.call("f_write_file", {"path": f"{folder}/new.txt", "content": "x"})
    assert refused["status"] == "failed", "the folder is read-only in the sandbox"
    outside = project.call("f_read_text_file", {"path": "/etc/passwd"})
    assert outside["status"] == "failed", outside


def connects(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(is_so, what: str) -> None:
    for _ in range(600):
        if is_so():
            return
        time.sleep(0.1)
    raise AssertionError(f"in vain: {what}")


def processes() -> int:
    """The processes that have one of the public servers in their command line."""
    found = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            found += any(mark in line for mark in MARKS)
    return found


def main() -> int:
    before = processes()
    port, http, sse, pages = (free_port() for _ in range(4))
    with tempfile.TemporaryDirectory() as folder:
        env = {
            "PATH": os.environ["PATH"],
            "TOOLGATE_DATABASE_URL": f"sqlite:{folder}/toolgate.db",
            "TOOLGATE_LISTEN": f"127.0.0.1:{port}",
            "TOOLGATE_ADMIN_PASSWORD": PASSWORD,
            "TOOLGATE_EGRESS_ALLOW": ",".join(f"http://127.0.0.1:{one}" for one in (port, http, sse, pages)),
            "TOOLGATE_SECRETS_KEY": base64.b64encode(os.urandom(32)).decode(),
            "TOOLGATE_MCP_STDIO_COMMANDS": f"{NODE},{PYTHON}",
            "TOOLGATE_MCP_STDIO_READABLE": ",".join([str(PACKAGES), *node_folder(), *python_folders()]),
            # For the server that says it needs it.
            "TOOLGATE_MCP_STDIO_NETWORK": "true",
            "TOOLGATE_LOG": "warn",
        }
        server = subprocess.Popen([BINARY, "serve"], env=env, stdout=subprocess.DEVNULL)
        failed = 0
        try:
            wait_for(lambda: connects(port), "the server listens")
            project = Project(f"http://127.0.0.1:{port}", "demo")
            checks = [
                ("every tool over stdio, in the sandbox", lambda: over_stdio(project)),
                ("resources, prompts and questions over stdio", lambda: offers_the_rest(project)),
                ("every tool over streamable HTTP", lambda: over_http(project, "streamableHttp", http, "h_")),
                ("every tool over HTTP with SSE", lambda: over_http(project, "sse", sse, "e_")),
                ("every tool of a server of files, which writes only to its home", lambda: reads_files(project)),
                ("every tool of a server of times from PyPI", lambda: tells_the_time(project)),
                ("a server that fetches pages: with the network, without, and behind another door", lambda: fetches(project, pages)),
                ("a server for each session keeps files apart", lambda: keeps_sessions_apart(project)),
            ]
            print(f"1..{len(checks) + 1}")
            for number, (name, check) in enumerate(checks, 1):
                failed += report(number, name, check)
        finally:
            server.terminate()
            server.wait()
        number = len(checks) + 1
        failed += report(number, "no process stays behind", lambda: wait_for(lambda: processes() == before, "they end"))
    return 1 if failed else 0


def node_folder() -> list[str]:
    """Where Node is, if that is not among the programs of the system."""
    return [] if NODE.startswith("/usr/") else [str(Path(NODE).resolve().parent.parent)]


def python_folders() -> list[str]:
    """Where Python and its packages are, if they are not among the programs of the system."""
    return sorted({str(Path(prefix).resolve()) for prefix in (sys.prefix, sys.base_prefix) if prefix != "/usr"})


def report(number: int, name: str, check) -> int:
    try:
        check()
    except Exception:
        print(f"not ok {number} - {name}")
        print("\n".join(f"# {line}" for line in traceback.format_exc().splitlines()))
        return 1
    finally:
        sys.stdout.flush()
    print(f"ok {number} - {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
