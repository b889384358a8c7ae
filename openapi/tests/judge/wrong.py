"""Requests that violate a description: a reference server that accepts one of them proves nothing."""

from collections.abc import Iterator
from typing import Any

from reference import Reference, Validator

NUMBERS = {"type": "array", "items": {"type": "integer"}}
POINT = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}, "required": ["x", "y"]}


def parameter(name: str, place: str, schema: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "required": True, "schema": schema, **more}


def operation(*parameters: dict[str, Any], body: Any = None) -> dict[str, Any]:
    content = {"requestBody": {"required": True, "content": body}} if body else {}
    return {"parameters": list(parameters), "responses": {}, **content}


FORM = {"schema": POINT, "encoding": {}}
PATHS = {
    "/label/{v}": {"get": operation(parameter("v", "path", NUMBERS, style="label"))},
    "/matrix/{v}": {"get": operation(parameter("v", "path", POINT, style="matrix", explode=True))},
    "/simple/{v}": {"get": operation(parameter("v", "path", POINT))},
    "/form": {"get": operation(parameter("v", "query", NUMBERS, explode=False))},
    "/pipes": {"get": operation(parameter("v", "query", NUMBERS, style="pipeDelimited", explode=False))},
    "/deep": {"get": operation(parameter("v", "query", POINT, style="deepObject"))},
    "/json": {"get": operation({"name": "v", "in": "query", "required": True, "content": {"application/json": {"schema": POINT}}})},
    "/header": {"get": operation(parameter("X-V", "header", {"type": "integer"}))},
    "/cookie": {"get": operation(parameter("v", "cookie", {"type": "boolean"}))},
    "/body": {"post": operation(body={"application/json": {"schema": POINT}})},
    "/urlencoded": {"post": operation(body={"application/x-www-form-urlencoded": FORM})},
    "/parts": {"post": operation(body={"multipart/form-data": FORM})},
    "/key": {"get": {**operation(), "security": [{"key": []}]}},
}
JSON, FORM_TYPE = ("Content-Type", "application/json"), ("Content-Type", "application/x-www-form-urlencoded")
PARTS = ("Content-Type", "multipart/form-data; boundary=b")


def part(name: str, value: str) -> str:
    return f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'


# What is sent, whether it follows the description, the request.
ROWS: list[tuple[str, bool, str, str, list[tuple[str, str]], bytes]] = [
    ("a label", True, "GET", "/label/.1,2", [], b""),
    ("a label without its dot", False, "GET", "/label/1,x", [], b""),
    ("matrix pairs", True, "GET", "/matrix/;x=1;y=2", [], b""),
    ("a matrix that is not exploded", False, "GET", "/matrix/;v=x,1,y,2", [], b""),
    ("an object in a path", True, "GET", "/simple/x,1,y,2", [], b""),
    ("an object in a path that is exploded", False, "GET", "/simple/x=1,y=2", [], b""),
    ("a list with commas", True, "GET", "/form?v=1,2", [], b""),
    ("a comma that is encoded, which is no delimiter", False, "GET", "/form?v=1%2C2", [], b""),
    ("a list with pipes instead of commas", False, "GET", "/form?v=1%7C2", [], b""),
    ("a parameter that nothing describes", False, "GET", "/form?v=1&w=2", [], b""),
    ("a query without its parameter", False, "GET", "/form", [], b""),
    ("a list with pipes", True, "GET", "/pipes?v=1%7C2", [], b""),
    ("a list with commas instead of pipes", False, "GET", "/pipes?v=1,2", [], b""),
    ("a deep object", True, "GET", "/deep?v[x]=1&v[y]=2", [], b""),
    ("a deep object with dots", False, "GET", "/deep?v.x=1&v.y=2", [], b""),
    ("JSON in a query", True, "GET", "/json?v=%7B%22x%22%3A1%2C%22y%22%3A2%7D", [], b""),
    ("JSON in a query that lacks a member", False, "GET", "/json?v=%7B%22x%22%3A1%7D", [], b""),
    ("a header", True, "GET", "/header", [("X-V", "1")], b""),
    ("a header of another type", False, "GET", "/header", [("X-V", "one")], b""),
    ("a cookie", True, "GET", "/cookie", [("Cookie", "v=true")], b""),
    ("a cookie of another name", False, "GET", "/cookie", [("Cookie", "w=true")], b""),
    ("a body", True, "POST", "/body", [JSON], b'{"x": 1, "y": 2}'),
    ("a body of another type", False, "POST", "/body", [JSON], b'{"x": "1", "y": 2}'),
    ("a body of another media type", False, "POST", "/body", [FORM_TYPE], b"x=1&y=2"),
    ("no body", False, "POST", "/body", [], b""),
    ("a body where none is described", False, "GET", "/header", [("X-V", "1"), JSON], b"{}"),
    ("a form", True, "POST", "/urlencoded", [FORM_TYPE], b"x=1&y=2"),
    ("a form that lacks a field", False, "POST", "/urlencoded", [FORM_TYPE], b"x=1"),
    ("a form in parts", True, "POST", "/parts", [PARTS], f"{part('x', '1')}{part('y', '2')}--b--\r\n".encode()),
    ("a part of another type", False, "POST", "/parts", [PARTS], f"{part('x', '1')}{part('y', 'two')}--b--\r\n".encode()),
    ("a credential", True, "GET", "/key", [("X-Key", "k")], b""),
    ("no credential", False, "GET", "/key", [], b""),
    ("another method", False, "POST", "/form?v=1", [], b""),
    ("another path", False, "GET", "/forms?v=1", [], b""),
]


def refused_by_the_judge(reference: Reference) -> Iterator[tuple[str, list[str]]]:
    """Each row with what is wrong about the verdict."""
    for version in ("3.0.3", "3.1.0"):
        reference.validators["wrong"] = Validator(
            {
                "openapi": version,
                "info": {"title": "Wrong", "version": "1"},
                "servers": [{"url": f"{reference.address}/wrong"}],
                "paths": PATHS,
                "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
            }
        )
        for what, follows, method, target, headers, body in ROWS:
            complaints = reference.judge(method, f"/wrong{target}", headers, body).complaints
            wrong = bool(complaints) == follows
            said = [f"{method} {target}: {complaints or 'it was accepted'}"] if wrong else []
            yield f"{what}, {version}" if not follows else f"nothing about {what}, {version}", said
