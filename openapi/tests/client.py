"""The main job, done with the Python client that is generated from the API document.

`cargo xtask test --only clients` generates the client as the package `toolgate_client` beside this file's folder on
the path, starts a server, and runs this file. It reports in TAP. A failed step ends the run: the next ones need it.
"""

import os
import sys
import traceback
from io import BytesIO

from toolgate_client import AuthenticatedClient, Client
from toolgate_client.api.audit import list_audit_records
from toolgate_client.api.auth import get_me, login
from toolgate_client.api.calls import call_tool, resolve_tools
from toolgate_client.api.keys import create_key
from toolgate_client.api.projects import create_project
from toolgate_client.api.tools import get_tool, upload_tools
from toolgate_client.models import (
    CallRequest,
    CallResponse,
    CreatedKey,
    CreateKey,
    CreateProject,
    LoginRequest,
    LoginResponse,
    Problem,
    Project,
    ResolveRequest,
    ResolveResponse,
    Role,
    UploadForm,
    UploadJson,
    UploadResult,
)
from toolgate_client.types import File

ADDRESS = os.environ["TOOLGATE_ADDRESS"]
PROJECT = "python-client"


class Steps:
    """Runs the methods of a class in the order they are written, and says how each went."""

    @classmethod
    def run(cls) -> int:
        steps = [(name, step) for name, step in vars(cls).items() if not name.startswith("_") and callable(step)]
        state = cls()
        print(f"1..{len(steps)}")
        for number, (name, step) in enumerate(steps, start=1):
            label = name.replace("_", " ")
            try:
                step(state)
            except Exception:
                print(f"not ok {number} - python client {label}")
                traceback.print_exc()
                return 1
            print(f"ok {number} - python client {label}")
        return 0


def answer(value, kind):
    """The parsed answer, which must be of that model."""
    assert isinstance(value, kind), f"expected {kind.__name__}, got {value!r}"
    return value


class MainJob(Steps):
    def signs_in(self) -> None:
        request = LoginRequest(
            username=os.environ["TOOLGATE_USERNAME"],
            password=os.environ["TOOLGATE_PASSWORD"],
        )
        token = answer(login.sync(client=Client(ADDRESS), body=request), LoginResponse)
        self.admin = AuthenticatedClient(ADDRESS, token.access_token)
        me = get_me.sync(client=self.admin)
        assert me.system_admin, me

    def is_told_what_is_wrong_with_a_password(self) -> None:
        request = LoginRequest(username="nobody", password="not the password")
        problem = answer(login.sync(client=Client(ADDRESS), body=request), Problem)
        assert problem.status == 401, problem

    def creates_a_project(self) -> None:
        project = answer(create_project.sync(client=self.admin, body=CreateProject(id=PROJECT)), Project)
        assert project.id == PROJECT, project

    def uploads_a_tool(self) -> None:
        result = answer(upload_tools.sync(PROJECT, client=self.admin, body=definition()), UploadResult)
        assert [item.outcome.value for item in result.items] == ["created"], result
        tool = get_tool.sync(PROJECT, "is-ready", client=self.admin)
        assert tool.group == ["operations"], tool

    def uploads_yaml_in_json_and_in_a_form(self) -> None:
        text = "name: {}\ntype: openapi\noptions: {{http: {{base_url: https://api.example.com, path: /}}}}\n"
        forms = [
            UploadJson(yaml=text.format("in-json")),
            UploadForm(file=File(payload=BytesIO(text.format("in-a-form").encode()), file_name="tools.yaml")),
        ]
        for body in forms:
            result = answer(upload_tools.sync(PROJECT, client=self.admin, body=body), UploadResult)
            assert [item.outcome.value for item in result.items] == ["created"], result

    def is_told_every_fault_of_a_definition(self) -> None:
        body = definition(grup=["operations"], description=7)
        problem = answer(upload_tools.sync(PROJECT, client=self.admin, body=body), Problem)
        assert problem.code.value == "invalid_definition", problem
        assert len(problem.errors) >= 2, problem.errors

    def creates_a_key_for_an_agent(self) -> None:
        body = CreateKey(name="python agent", role=Role.AGENT, groups=["operations"])
        key = answer(create_key.sync(PROJECT, client=self.admin, body=body), CreatedKey)
        assert key.secret.startswith("tgk_"), "a key's secret starts with tgk_"
        self.agent = AuthenticatedClient(ADDRESS, key.secret)

    def resolves_what_is_available(self) -> None:
        body = ResolveRequest(group=["operations"])
        tools = answer(resolve_tools.sync(PROJECT, client=self.agent, body=body), ResolveResponse)
        assert tools.available == ["is-ready"], tools

    def keeps_no_groups_and_an_empty_list_apart(self) -> None:
        tools = answer(resolve_tools.sync(PROJECT, client=self.agent, body=ResolveRequest(group=[])), ResolveResponse)
        assert tools.available == [], tools
        problem = answer(resolve_tools.sync(PROJECT, client=self.agent, body=ResolveRequest()), Problem)
        assert problem.code.value == "insufficient_tool_groups", problem
        assert problem.missing_groups == ["default"], problem

    def calls_the_tool(self) -> None:
        body = CallRequest.from_dict({"tool": "is-ready", "arguments": {}, "group": ["operations"]})
        self.call = answer(call_tool.sync(PROJECT, client=self.agent, body=body), CallResponse)
        assert self.call.status.value == "succeeded", self.call
        assert (self.call.state.before, self.call.state.after) == ("undefined", "checked"), self.call

    def reads_the_record_of_the_call(self) -> None:
        page = list_audit_records.sync(PROJECT, client=self.admin, id=self.call.call_id)
        [record] = page.items
        assert record.outcome.value == "succeeded", record
        assert record.principal_name == "python agent", record
        assert record.state_after == "checked", record


def definition(**changes) -> UploadJson:
    """A tool that asks the server itself whether it is ready."""
    tool = {
        "name": "is-ready",
        "type": "openapi",
        "description": "Ask whether the server is ready.",
        "group": ["operations"],
        "state": "checked",
        "parameters": {"type": "object", "properties": {}},
        "options": {"http": {"base_url": ADDRESS, "path": "/readyz"}},
    }
    return UploadJson.from_dict(tool | changes)


if __name__ == "__main__":
    sys.exit(MainJob.run())
