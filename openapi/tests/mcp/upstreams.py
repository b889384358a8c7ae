"""Public MCP servers behind a project: every tool of them is called over REST and over MCP, and no process stays behind.

`cargo xtask test --only mcp` runs this file. It starts a server of its own, because the commands that may be started are a
setting. It reports in TAP.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.request
from pathlib import Path

BINARY = os.environ["TOOLGATE_BINARY"]
PACKAGES = Path(os.environ["PACKAGES"]).resolve()
# The program itself: what is on `PATH` may be a script that starts it, which needs files that a sandbox does not have.
NODE = subprocess.check_output([os.environ.get("NODE", "/usr/bin/node"), "-p", "process.execPath"], text=True).strip()
PASSWORD = "correct horse battery staple"
EVERYTHING = str(PACKAGES / "node_modules/@modelcontextprotocol/server-everything/dist/index.js")
FILES = str(PACKAGES / "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js")

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
    "simulate-research-query": None,
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Project:
    """A project of a server, as its administrator sees it."""

    def __init__(self, address: str) -> None:
        self.address = address
        signed_in = self.ask("POST", "/auth/login", {"username": "admin", "password": PASSWORD}, token=None)
        self.token = signed_in["access_token"]
        self.ask("POST", "/projects", {"id": "demo"})

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
        self.ask("POST", "/projects/demo/mcp-servers", {"mcpServers": {name: server}})
        report = self.ask("POST", f"/projects/demo/mcp-servers/{name}/refresh?prefix={prefix}", {})
        tools = [one["tool"] for one in report["operations"] if one["outcome"] == "new"]
        assert len(tools) == len(report["operations"]) > 0, report
        enable = {"select": {"names": tools}, "change": {"enabled": True}}
        self.ask("POST", "/projects/demo/tool-changes", enable)
        return tools

    def call(self, tool: str, arguments: dict) -> dict:
        return self.ask("POST", "/projects/demo/calls", {"tool": tool, "arguments": arguments})

    def call_by_mcp(self, tool: str, arguments: dict) -> dict:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        answer = self.ask("POST", "/projects/demo/mcp", message, Accept="application/json", MCP_Protocol_Version="2025-11-25")
        return answer["result"]


def calls_every_tool(project: Project, name: str, server: dict, prefix: str) -> None:
    tools = project.add(name, server, prefix)
    assert sorted(tool.removeprefix(prefix) for tool in tools) == sorted(CALLS), tools
    for tool in tools:
        arguments = CALLS[tool.removeprefix(prefix)]
        if arguments is None:
            answer = project.call(tool, {"topic": "a"})
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


def reads_files(project: Project) -> None:
    folder = str(PACKAGES / "node_modules/@modelcontextprotocol/server-filesystem")
    project.add("files", {"command": NODE, "args": [FILES, folder]}, "f_")
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
            found += EVERYTHING.encode() in line or FILES.encode() in line
    return found


def main() -> int:
    before = processes()
    port, http, sse = free_port(), free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        env = {
            "PATH": os.environ["PATH"],
            "TOOLGATE_DATABASE_URL": f"sqlite:{folder}/toolgate.db",
            "TOOLGATE_LISTEN": f"127.0.0.1:{port}",
            "TOOLGATE_ADMIN_PASSWORD": PASSWORD,
            "TOOLGATE_EGRESS_ALLOW": f"http://127.0.0.1:{http},http://127.0.0.1:{sse}",
            "TOOLGATE_MCP_STDIO_COMMANDS": NODE,
            "TOOLGATE_MCP_STDIO_READABLE": ",".join([str(PACKAGES), *node_folder()]),
            "TOOLGATE_LOG": "warn",
        }
        server = subprocess.Popen([BINARY, "serve"], env=env, stdout=subprocess.DEVNULL)
        failed = 0
        try:
            wait_for(lambda: connects(port), "the server listens")
            project = Project(f"http://127.0.0.1:{port}")
            checks = [
                ("every tool over stdio, in the sandbox", lambda: over_stdio(project)),
                ("every tool over streamable HTTP", lambda: over_http(project, "streamableHttp", http, "h_")),
                ("every tool over HTTP with SSE", lambda: over_http(project, "sse", sse, "e_")),
                ("a server of files reads what it may and writes nothing", lambda: reads_files(project)),
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
