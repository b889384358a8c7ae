"""Arguments for a tool, generated from the schema that it shows: by Schemathesis's generator, and with odd texts put in."""

import copy
import json
import string
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema_rs
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.core.errors import SchemathesisError
from schemathesis.generation.jsonschema.builder import build
from schemathesis.generation.jsonschema.context import Alphabet
from schemathesis.specs.openapi.formats import get_default_format_strategies

# Texts that mean something somewhere: in addresses, forms, cookies, parts, lists, JSON, other scripts; and a long one.
ODD = [
    "/?#&+%",
    "%2F..%2e;a=b&c[d]=e",
    "a,b|c d\te",
    "\"'<>\\`{}^",
    "ü€漢字🦀",
    "null",
    "--\r\nContent-Disposition: x",
    "~" * 3000,
]
# Odd texts that one tool gets, and values that are generated for it.
TURN = 3
GENERATED = 3
# What stands where a schema says nothing.
SCALAR = {"type": ["string", "integer", "boolean"]}
BASE64 = "^(?:[A-Za-z0-9+/]{4}){0,9}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
# Integers that JSON texts exchange without loss (RFC 8259, section 6).
EXACT = 2**53 - 1
# Names that no description has; those that one has may be anything.
# U+0000 is in no argument: the gateway refuses it.
NAMES = Alphabet(allow_x00=False, name_characters=string.ascii_letters + string.digits + "_-", min_name_length=1)
FORMATS: dict[str, Any] = {
    name: made for name, made in get_default_format_strategies().items() if name != "binary" and not name.startswith("_")
}


def made(schema: dict[str, Any], http: dict[str, Any], number: int) -> list[tuple[str, dict[str, Any]]]:
    """Arguments with what they are: the smallest, everything that is optional, others, and those with odd texts, of which the
    tools take turns."""
    schema = plain_members(prepared(schema), http)
    is_valid = jsonschema_rs.validator_for(schema, validate_formats=True).is_valid
    found = [("generated", value) for value in generated(schema, GENERATED)]
    if found:
        found[0] = ("smallest", found[0][1])
    whole = [value for value in generated(with_everything(schema), 2) if is_valid(value)]
    if whole:
        found.append(("everything", whole[-1]))
    texts = [ODD[(number * TURN + at) % len(ODD)] for at in range(TURN)]
    found += [(f"odd: {text[:12]!r}", value) for text, value in odd([value for _, value in found], texts, is_valid)]
    seen: set[str] = set()
    found = [(what, value) for what, value in found if "\\u0000" not in json.dumps(value)]
    return [(what, value) for what, value in found if not (key(value) in seen or seen.add(key(value)))]


def is_satisfiable(schema: dict[str, Any]) -> bool:
    """Whether a schema accepts anything at all, as far as that can be said."""
    canonical = jsonschema_rs.canonicalize(schema, draft=jsonschema_rs.Draft202012)
    return canonical.satisfiability() is not jsonschema_rs.canonical.Satisfiability.NO


def key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def generated(schema: Any, count: int) -> list[dict[str, Any]]:
    """Some values of a schema; the first is the simplest. The same ones at every run."""
    try:
        strategy = build(schema, draft=jsonschema_rs.Draft202012, formats=FORMATS, alphabet=NAMES)
    except SchemathesisError:
        return []
    if strategy.is_empty:
        return []
    found: list[dict[str, Any]] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy.filter(interoperable))
    def collect(value: dict[str, Any]) -> None:
        found.append(copy.deepcopy(value))

    try:
        collect()
    except Unsatisfiable:
        pass
    return found


def interoperable(value: Any) -> bool:
    return all(not isinstance(leaf, int) or abs(leaf) <= EXACT for _, leaf in leaves(value))


def prepared(schema: dict[str, Any]) -> dict[str, Any]:
    """Says in keywords what the schema of a file says in words, base64 and a media type, and what `int32` means."""

    def change(part: dict[str, Any]) -> None:
        if part.get("contentEncoding") == "base64" or part.get("format") == "byte":
            part.pop("format", None)
            part["pattern"] = BASE64
        if part.get("format") == "int32" and "integer" in str(part.get("type")):
            part["minimum"] = max(part.get("minimum", -(2**31)), -(2**31))
            part["maximum"] = min(part.get("maximum", 2**31 - 1), 2**31 - 1)
        properties = part.get("properties")
        if isinstance(properties, dict) and {"base64", "content_type", "filename"} <= set(properties):
            properties["content_type"] = {"enum": ["image/png", "text/plain"]}
            # A file may also be named by an address; none is served here.
            properties.pop("url", None)
            part.pop("oneOf", None)
            part["required"] = ["base64"]

    return changed(schema, change)


def plain_members(schema: dict[str, Any], http: dict[str, Any]) -> dict[str, Any]:
    """Outside of JSON, what a list or object holds that nothing describes is scalar: OpenAPI leaves undefined how more is written
    (3.1.1, style table and Encoding Object)."""
    request = http.get("request", {})
    body = request.get("body", {})
    places = [parameter.get("argument", parameter["name"]) for parameter in request.get("parameters", []) if "content_type" not in parameter]
    if not body.get("content_type", "application/json").endswith("json"):
        places.append(body.get("argument"))

    def change(part: dict[str, Any]) -> None:
        if part.get("type") == "object" and not any(word in part for word in ("additionalProperties", "allOf", "anyOf", "oneOf")):
            part["additionalProperties"] = SCALAR
        if part.get("type") == "array" and part.get("items") in (None, {}, True):
            part["items"] = SCALAR

    properties = schema.get("properties", {})
    for name in {name for name in places if name in properties}:
        part = properties[name]
        target = part.get("$ref", "") if isinstance(part, dict) else ""
        if target.startswith("#/$defs/"):
            part = schema["$defs"][target.removeprefix("#/$defs/")]
        properties[name] = changed(part, change) if part not in ({}, True) else SCALAR
    return schema


def with_everything(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema that wants every argument, and every property of those that are objects."""
    schema = copy.deepcopy(schema)
    everything = list(schema.get("properties", {}))
    schema["required"] = everything
    for name in everything:
        part = schema["properties"][name]
        target = isinstance(part, dict) and part.get("$ref", "")
        if target and target.startswith("#/$defs/"):
            part = schema["properties"][name] = copy.deepcopy(schema["$defs"][target.removeprefix("#/$defs/")])
        if isinstance(part, dict) and isinstance(part.get("properties"), dict):
            part["required"] = list(part["properties"])
    return schema


def changed(value: Any, change: Callable[[dict[str, Any]], None]) -> Any:
    """A copy in which every object was changed."""
    if isinstance(value, dict):
        copied = {name: changed(member, change) for name, member in value.items()}
        change(copied)
        return copied
    return [changed(item, change) for item in value] if isinstance(value, list) else value


def odd(values: list[dict[str, Any]], texts: list[str], is_valid: Callable[[Any], bool]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The richest value, with an odd text wherever the schema takes one."""
    richest = max(values, key=lambda value: len(key(value)), default=None)
    if richest is None:
        return
    for text in texts:
        value = copy.deepcopy(richest)
        for path, leaf in list(leaves(value))[:30]:
            if isinstance(leaf, str):
                put(value, path, text)
                if not is_valid(value):
                    put(value, path, leaf)
        yield text, value


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, (*path, name))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from leaves(item, (*path, at))
    else:
        yield path, value


def put(value: Any, path: tuple[Any, ...], leaf: Any) -> None:
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = leaf
