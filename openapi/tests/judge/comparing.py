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
    "labels": "A dot is never percent-encoded (RFC 3986, section 2.3), so in an exploded label one inside an item looks like one "
    "between items (RFC 6570, section 3.2.5).",
    "delimited": "A blank or a pipe inside an item is written like one between items (OpenAPI 3.1.1, Appendix E: these delimiters "
    "cannot be told from data).",
    "parts": "Styled values of parts are not percent-encoded (OpenAPI 3.1.1, Encoding Object), so a delimiter inside an item looks like "
    "one between items.",
    "nested": "A list or object inside a list or object has no form outside of JSON (OpenAPI 3.1.1, style table).",
    "cookies": "The style `cookie` writes values as they are (OpenAPI 3.2, style table).",
    "deep objects": "Lists and objects inside, and brackets in names, are undefined (OpenAPI 3.1.1, style table).",
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
        encodings = body.get("encoding", {})
        takes_others = any(is_styled(encoding) and explodes(encoding) for encoding in encodings.values())
        for name, value in given.items() if isinstance(given, dict) else ():
            encoding = encodings.get(name, {})
            read = verdict.body.get(name) if isinstance(verdict.body, dict) else None
            if takes_others and read is None and not encoding:
                continue  # See "exploded objects".
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


def explodes(encoding: dict[str, Any]) -> bool:
    style = encoding.get("style", "form")
    return encoding.get("explode", style == "form")


def open_places(arguments: dict[str, Any], http: dict[str, Any]) -> set[str]:
    """Which of `UNDEFINED` a call is about."""
    request = http.get("request", {})
    found = set()
    for parameter in request.get("parameters", []):
        name = parameter.get("argument", parameter["name"])
        if name in arguments:
            found.add(is_open(parameter, arguments[name], arguments))
            found.add("nested" if "content_type" not in parameter and holds_more(arguments[name]) else None)
    body = request.get("body", {})
    given = arguments.get(body.get("argument"))
    for name, encoding in body.get("encoding", {}).items():
        if isinstance(given, dict) and name in given and is_styled(encoding):
            found.add(is_open_part(encoding, given[name], body.get("content_type", ""), given))
    return found - {None}


def is_open(parameter: dict[str, Any], value: Any, arguments: dict[str, Any]) -> str | None:
    """Which of `UNDEFINED` is about a parameter."""
    texts, style = list(strings(value)), parameter.get("style")
    is_one = isinstance(value, str)
    if parameter.get("content_type"):
        return None
    if parameter["in"] == "header":
        odd = any(text != text.strip() or (not is_one and set(text) & {",", "="}) for text in texts)
        return "headers" if odd else None
    if parameter.get("allow_reserved") and not all(text.isalnum() for text in texts):
        return "allowReserved"
    if style == "cookie" and not all(text.isalnum() for text in texts):
        return "cookies"
    if style == "label" and parameter.get("explode") and not is_one and "." in json.dumps(value, ensure_ascii=False):
        return "labels"
    return of_style(style, parameter.get("explode", True), value, arguments)


def of_style(style: str | None, explode: bool, value: Any, others: dict[str, Any]) -> str | None:
    texts = list(strings(value))
    if style in ("spaceDelimited", "pipeDelimited"):
        delimiter = " " if style == "spaceDelimited" else "|"
        # Numbers have neither; what is nested is JSON, which may.
        odd = any(delimiter in text for text in texts) or (not isinstance(value, dict) and nested_items(value))
        return "delimited" if not isinstance(value, str) and odd else None
    if style == "deepObject":
        return "deep objects" if nested(value) or any(set(name) & {"[", "]"} for name in value) else None
    if isinstance(value, dict) and explode and any(name in others for name in value):
        return "exploded objects"
    return None


def holds_more(value: Any) -> bool:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(member, (dict, list)) for member in members)


def nested_items(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value)


def is_open_part(encoding: dict[str, Any], value: Any, media_type: str, form: dict[str, Any]) -> str | None:
    texts = list(strings(value))
    if media_type.startswith("multipart/") and not all(text.isalnum() for text in texts):
        return "parts"
    if encoding.get("allow_reserved") and not all(text.isalnum() for text in texts):
        return "allowReserved"
    return of_style(encoding.get("style", "form"), explodes(encoding), value, form)


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
    if isinstance(given, (list, dict)) and isinstance(read, str) and leaf(given, read):
        return True
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
