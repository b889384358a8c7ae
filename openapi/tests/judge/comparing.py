"""Whether the request says what the arguments say: what the library read from it, compared with what was given."""

import base64
import json
from collections.abc import Iterator
from typing import Any

# Where the specification leaves a value's writing open, so that a reader cannot tell what was meant.
UNDEFINED = {
    "headers": "Header values are not percent-encoded, so a comma or an equals sign inside an item looks like one between items "
    "(OpenAPI 3.1.1, style table, and RFC 9110, section 5.5: blanks around a value are not part of it).",
    "allowReserved": "Reserved characters stay as they are, so a delimiter inside an item looks like one between items, and `%41` "
    "is passed on (RFC 6570, sections 1.5 and 3.2.3).",
    "parts with a style": "Parts are not percent-encoded (OpenAPI 3.1.1, Encoding Object), so a delimiter inside an item looks like one "
    "between items.",
    "cookie": "The style `cookie` writes values as they are (OpenAPI 3.2, style table).",
    "deepObject": "Lists and objects inside are undefined (OpenAPI 3.1.1, style table).",
    "exploded objects": "A member of the name of another parameter cannot be told from it (OpenAPI 3.1.1, style table).",
}


def faults(arguments: dict[str, Any], http: dict[str, Any], verdict: Any) -> list[str]:
    """What was given and is not in the request, or is something else there."""
    request = http.get("request", {})
    found = []
    for parameter in request.get("parameters", []):
        name = parameter.get("argument", parameter["name"])
        if name not in arguments or is_open(parameter, arguments[name], arguments):
            continue
        read = verdict.parameters.get(parameter["in"], {}).get(parameter["name"])
        in_json = "json" in parameter.get("content_type", "")
        if not same(arguments[name], read, in_json):
            found.append(f"the {parameter['in']} says {name} = {shown(read)}, not {shown(arguments[name])}")
    body = request.get("body")
    if body:
        found += body_faults(arguments, body, verdict)
    return found


def body_faults(arguments: dict[str, Any], body: dict[str, Any], verdict: Any) -> Iterator[str]:
    media_type = body.get("content_type", "application/json")
    if "argument" in body:
        if body["argument"] not in arguments:
            return
        given = arguments[body["argument"]]
    else:
        given = {to: arguments[name] for to, name in body.get("properties", {}).items() if name in arguments}
    if media_type.endswith("json"):
        if not verdict.has_body or not equal(given, verdict.body):
            yield f"the body says {shown(verdict.body)}, not {shown(given)}"
    elif media_type.startswith(("multipart/", "application/x-www-form")):
        for name, value in given.items() if isinstance(given, dict) else ():
            encoding = body.get("encoding", {}).get(name, {})
            read = verdict.body.get(name) if isinstance(verdict.body, dict) else None
            if is_styled(encoding) and is_open_part(encoding, value, media_type, given):
                continue
            if encoding.get("file"):
                value = file_of(value)
            if not same(value, read, "json" in encoding.get("content_type", "")):
                yield f"the body says {name} = {shown(read)}, not {shown(value)}"
    elif media_type.endswith("xml"):
        return
    elif isinstance(verdict.body, bytes):
        content = file_of(given)
        if verdict.body not in (content, str(given).encode()):
            yield f"the body has {verdict.body!r}, not {shown(given)}"
    elif given is not None and not same(given, verdict.body or ""):
        yield f"the body says {shown(verdict.body)}, not {shown(given)}"


def file_of(value: Any) -> Any:
    """The bytes of a file, or of each."""
    if isinstance(value, list):
        return [file_of(item) for item in value if item is not None]
    text = value.get("base64") if isinstance(value, dict) else value
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, TypeError):
        return value


def is_styled(encoding: dict[str, Any]) -> bool:
    return any(key in encoding for key in ("style", "explode", "allow_reserved"))


def is_open(parameter: dict[str, Any], value: Any, arguments: dict[str, Any]) -> bool:
    """Whether one of `UNDEFINED` is about it."""
    if parameter["in"] == "header":
        texts = list(strings(value))
        return any(text != text.strip() or (not isinstance(value, str) and set(text) & {",", "="}) for text in texts)
    if parameter.get("allow_reserved") or parameter.get("style") == "cookie":
        return any(not text.isalnum() for text in strings(value))
    if parameter.get("style") == "deepObject":
        return nested(value) or any(set(name) & {"[", "]"} for name in value)
    return isinstance(value, dict) and parameter.get("explode", True) and any(name in arguments for name in value)


def is_open_part(encoding: dict[str, Any], value: Any, media_type: str, form: dict[str, Any]) -> bool:
    if encoding.get("style") == "deepObject":
        return nested(value) or any(set(name) & {"[", "]"} for name in value)
    if isinstance(value, dict) and any(name in form for name in value):
        return True
    if media_type.startswith("multipart/") or encoding.get("allow_reserved"):
        return any(not text.isalnum() for text in strings(value))
    return False


def nested(value: Any) -> bool:
    return not isinstance(value, dict) or any(isinstance(member, (dict, list)) for member in value.values())


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from strings(member)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def equal(given: Any, read: Any) -> bool:
    """The same JSON value: numbers by value, everything else by type too."""
    if isinstance(given, bool) or isinstance(read, bool) or given is None or read is None:
        return given is read
    if isinstance(given, (int, float)) and isinstance(read, (int, float)):
        return given == read
    if isinstance(given, dict) and isinstance(read, dict):
        return given.keys() == read.keys() and all(equal(member, read[name]) for name, member in given.items())
    if isinstance(given, list) and isinstance(read, list):
        return len(given) == len(read) and all(map(equal, given, read))
    return type(given) is type(read) and given == read


def same(given: Any, read: Any, in_json: bool = False) -> bool:
    """The same value as texts tell it: null and what is empty are like absent (style table, `undefined`; RFC 6570, section 2.3),
    and what is nested in a list or object is JSON."""
    if in_json:
        return equal(given, read) or (isinstance(given, list) and same(given, read))
    given, read = without_nothing(given), without_nothing(read)
    if given is None or read is None:
        return given is read
    if isinstance(given, dict) and isinstance(read, dict):
        return given.keys() == read.keys() and all(leaf(member, read[name]) for name, member in given.items())
    if isinstance(given, list):
        # A list of one is written like its item.
        items = read if isinstance(read, list) else [read]
        return len(given) == len(items) and all(map(leaf, given, items))
    if isinstance(read, list) and len(read) == 1:
        return leaf(given, read[0])
    return leaf(given, read)


def leaf(given: Any, read: Any) -> bool:
    if equal(given, read):
        return True
    if isinstance(read, bytes) and isinstance(given, str):
        return given.encode() == read
    if isinstance(read, str):
        try:
            return given == read if isinstance(given, str) else equal(given, json.loads(read))
        except ValueError:
            return False
    return isinstance(given, str) and given == (read if isinstance(read, str) else json.dumps(read))


def without_nothing(value: Any) -> Any:
    if isinstance(value, list):
        value = [item for item in value if item is not None]
    elif isinstance(value, dict):
        value = {name: member for name, member in value.items() if member is not None}
    return value if value not in ([], {}) else None


def shown(value: Any) -> str:
    return (repr(value) if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False, default=repr))[:300]
