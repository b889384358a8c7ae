"""How a request is read: openapi-core splits values by their style, and every piece is decoded afterwards.

The library takes values that a web framework has decoded before, so it cannot tell a comma between two items from one
inside an item. Here it gets them as they came, which is what RFC 6570 (section 3) and the style table of OpenAPI mean. Where
the library does not follow the specification, the reader stands in `DEVIATIONS` with the section that it follows instead.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, unquote_plus

from openapi_core.casting.schemas.casters import SchemaCaster
from openapi_core.casting.schemas.exceptions import CastError
from openapi_core.deserializing.styles import util as library
from openapi_core.deserializing.styles.deserializers import StyleDeserializer
from openapi_core.deserializing.styles.factories import StyleDeserializersFactory
from werkzeug.datastructures import MultiDict
from werkzeug.formparser import MultiPartParser

DEVIATIONS = {
    "path templates": "The library looks for label and matrix values under `.name` and `;name*`, which are no names of OpenAPI "
    "(3.1.1, Path Templating: `{name}`). It is given the value under these names too.",
    "an empty matrix value": "`;color` has no `=` (style table, column `empty`; RFC 6570, section 3.2.7); the library wants one.",
    "an exploded object in a query or cookie": "Its members are pairs of their own (style table: `R=100&G=200&B=150`); the library "
    "looks for one pair with the parameter's name. Here they are all pairs that no other parameter claims.",
    "deepObject": "The library takes names of letters and digits only, and one level; names are read as PHP and qs read them. "
    "Nested objects are undefined in OpenAPI 3.1.1 (style table, deepObject).",
    "a delimited list": "The library looks for `|` and `%20`; `%7C` is the same character (OpenAPI 3.1.1, style table and Appendix E).",
    "schemas without a single type": "The library splits nothing unless the schema has one `type`. Here a schema that allows a list "
    "or an object behind `$ref`, `allOf`, `anyOf`, `oneOf` or a list of types is read as such.",
    "an empty query parameter": "The library refuses `color=` without `allowEmptyValue`; the style table has exactly this text for an "
    "empty string, and then `allowEmptyValue` is ignored (3.1.1, Parameter Object).",
    "properties of forms": "The library reads every property of a form as style `form`. Without `style`, `explode` and "
    "`allowReserved` the content type counts, which for an object is JSON (3.1.1, Encoding Object).",
    "parts that are no text": "The library leaves a number or boolean of a part a text; `text/plain` holds primitive values "
    "(3.1.1, Encoding Object, contentType). They are cast as those of queries.",
    "multipart/form-data": "The library reads parts with the e-mail parser, which changes line ends and takes ASCII only. "
    "Werkzeug's parser reads them (RFC 7578).",
    "bytes": "Out of a description of 3.1 the library takes no bytes for `type: string`, as which descriptions go on describing files; "
    "they are validated as texts (3.1.1, Migrating binary descriptions from OAS 3.0).",
    "XML bodies": "The library makes an element tree of them and validates that like JSON; the XML Object is not supported. Only "
    "the media type is judged.",
    "headers": "The library asks for parameters named Accept, Content-Type and Authorization; they are ignored (3.1.1, Parameter Object).",
    "defaults": "The library validates the default of a parameter that is not sent; what a server takes then is its own affair (3.1.1, "
    "Schema Object, default), and examples have defaults that their own schema refuses.",
    "time": "The library takes `time` without fractions and offset only, as draft 3 of JSON Schema had it; it is RFC 3339's full-time.",
    "discriminators": "The library takes the mapping of a discriminator for addresses only; it may name schemas (3.1.1, Discriminator "
    "Object).",
    "+json": "The library reads media types that it does not list as bytes; `+json` is JSON (RFC 6839, section 3.1).",
}


class Raw(MultiDict):
    """Names with values as they came, and how to decode them."""

    def __init__(self, pairs: list[tuple[str, str]], decode) -> None:
        super().__init__(pairs)
        self.decode = decode
        # Names that parameters claim, so that others belong to an exploded object.
        self.claimed: set[str] = set()

    def unclaimed(self) -> dict[str, str]:
        return {name: value for name, value in self.items() if name.split("[")[0] not in self.claimed and name not in self.claimed}


class PathValues(dict):
    """Values of a path, under all names that the library may look for."""

    decode = staticmethod(unquote)

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(name.strip(".;*"))

    def __contains__(self, name: object) -> bool:
        return super().__contains__(str(name).strip(".;*"))


def query(text: str) -> Raw:
    """A query or a form. A plus is a blank, as every form parser reads it."""
    pairs = [pair.partition("=") for pair in text.split("&") if pair]
    return Raw([(unquote_plus(name), value) for name, _, value in pairs], unquote_plus)


def cookies(text: str) -> Raw:
    pairs = [pair.strip().partition("=") for pair in text.split(";") if pair.strip()]
    return Raw([(unquote(name), value) for name, _, value in pairs], unquote)


def multipart(body: bytes, boundary: str = "", **_: str) -> MultiDict:
    """The parts of a form; files and texts alike as bytes."""
    import io

    fields, files = MultiPartParser(max_form_memory_size=None).parse(io.BytesIO(body), boundary.encode(), len(body))
    parts: MultiDict = MultiDict()
    for name, value in fields.items(multi=True):
        parts.add(name, value.encode())
    for name, value in files.items(multi=True):
        parts.add(name, value.read())
    return parts


def _decoded(value: Any, location: Any) -> Any:
    decode = getattr(location, "decode", None)
    if decode is None:
        return value
    if isinstance(value, str):
        return decode(value)
    if isinstance(value, dict):
        return {decode(name): decode(member) for name, member in value.items()}
    return [decode(item) for item in value]


def _by_library(style: str):
    load = getattr(library, f"{style}_loads")
    return lambda explode, name, kind, location: _decoded(load(explode, name, kind, location), location)


def _matrix(explode: bool, name: str, kind: str, location: Mapping[str, str]) -> Any:
    if location[name] == f";{name}":
        return "" if kind not in ("array", "object") else [""]
    if kind == "array" and explode:
        pairs = [pair.partition("=") for pair in location[name].split(";")[1:]]
        return [unquote(value) for _, _, value in pairs]
    if kind == "object" and explode:
        pairs = [pair.partition("=") for pair in location[name].split(";")[1:]]
        return {unquote(key): unquote(value) for key, _, value in pairs}
    return _decoded(library.matrix_loads(False, name, kind, {f";{name}": location[name]}), location)


def _form(explode: bool, name: str, kind: str, location: Any) -> Any:
    if explode and kind == "object":
        if name in location:
            # A property of a form whose objects are JSON.
            return json.loads(location.decode(location[name]))
        members = _decoded(location.unclaimed(), location) if isinstance(location, Raw) else {}
        if not members:
            raise KeyError(name)
        return members
    return _decoded(library.form_loads(explode, name, kind, location), location)


def _delimited(delimiter: str, *spellings: str):
    def load(explode: bool, name: str, kind: str, location: Any) -> Any:
        if explode:
            return _form(explode, name, kind, location)
        value = location[name]
        for spelling in spellings:
            value = re.sub(re.escape(spelling), delimiter, value, flags=re.IGNORECASE)
        return _decoded(library.delimited_loads(False, name, kind, {name: value}, delimiter), location)

    return load


def _deep(explode: bool, name: str, kind: str, location: Any) -> Any:
    found: dict[str, Any] = {}
    for key, value in location.items(multi=True):
        if not key.startswith(f"{name}["):
            continue
        path = re.findall(r"\[([^\]]*)\]", key[len(name) :])
        place = found
        for step in path[:-1]:
            place = place.setdefault(step, {})
        place[path[-1]] = location.decode(value)
    if not found:
        raise KeyError(name)
    return _lists(found)


def _lists(value: Any) -> Any:
    """Objects whose names count from 0 are lists."""
    if not isinstance(value, dict):
        return value
    members = {name: _lists(member) for name, member in value.items()}
    if list(members) == [str(at) for at in range(len(members))]:
        return list(members.values())
    return members


READERS = {
    "simple": _by_library("simple"),
    "label": _by_library("label"),
    "matrix": _matrix,
    "form": _form,
    "cookie": _form,
    "spaceDelimited": _delimited("%20", "+", " "),
    "pipeDelimited": _delimited("|", "%7C"),
    "deepObject": _deep,
}


def resolved(schema: Any) -> Any:
    """The content of a schema of the library, references followed."""
    with schema.resolve() as found:
        return found.contents


def kinds(schema: Any, depth: int = 0) -> Iterator[str]:
    """The types that a schema names, those of its parts too."""
    own = resolved(schema)
    if not isinstance(own, dict) or depth > 4:
        return
    types = own.get("type")
    yield from [types] if isinstance(types, str) else types or []
    if types is None and "properties" in own:
        yield "object"
    for key in ("allOf", "anyOf", "oneOf"):
        for at in range(len(own.get(key, []))):
            yield from kinds(schema / key / at, depth + 1)


class Styles(StyleDeserializersFactory):
    """The library's factory, which knows what a schema allows."""

    def __init__(self, schema_casters_factory: Any) -> None:
        super().__init__(schema_casters_factory, READERS)

    def create(self, spec: Any, schema: Any, style: str, explode: bool, name: str) -> Any:
        allowed = list(dict.fromkeys(kinds(schema)))
        kind = next((kind for kind in allowed if kind in ("array", "object")), allowed[0] if allowed else "")
        caster = self.schema_casters_factory.create(spec, schema)
        return StyleDeserializer(style, explode, name, kind, caster, self.style_deserializers.get(style))


def _cast(caster: SchemaCaster, value: Any) -> Any:
    """A value as the first of the types that it fits: see `schemas without a single type`."""
    own = resolved(caster.schema)
    types = own.get("type") if isinstance(own, dict) else None
    if not isinstance(types, list) or value is None:
        return _by_type(caster, value)
    for kind in CASTS:
        if kind in types:
            try:
                return caster.types_caster.get_caster(kind)(caster.schema, caster.schema_validator, caster)(value)
            except (ValueError, TypeError, AttributeError, CastError):
                continue
    raise ValueError(f"{value!r} is none of {types}")


CASTS = ("integer", "number", "boolean", "array", "object", "string")
_by_type = SchemaCaster.cast
SchemaCaster.cast = _cast  # type: ignore[method-assign]
