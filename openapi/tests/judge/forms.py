"""Bodies: which properties of a form there are, and how each was written (OpenAPI 3.1.1, Media Type and Encoding Objects)."""

import json
from typing import Any

from jsonschema_path import SchemaPath
from openapi_core.deserializing.media_types import media_type_deserializers
from openapi_core.deserializing.media_types.deserializers import MediaTypesDeserializer
from openapi_core.schema.encodings import get_content_type
from openapi_core.schema.parameters import get_style_and_explode

from reading import Raw, Styles, kinds, multipart, query, resolved

LIBRARY = MediaTypesDeserializer(media_type_deserializers)


def is_form(mimetype: str) -> bool:
    return mimetype in ("application/x-www-form-urlencoded", "multipart/form-data")


def content(mimetype: str, parameters: dict[str, str], body: bytes) -> Any:
    """A body or part that is no form."""
    if mimetype.endswith("+json"):
        mimetype = "application/json"
    return LIBRARY.deserialize(mimetype, body, **parameters)


def form(styles: Styles, spec: SchemaPath, media_type: SchemaPath, mimetype: str, parameters: dict[str, str], body: bytes) -> Any:
    """The object that a form holds, cast to the types of its properties."""
    in_parts = mimetype == "multipart/form-data"
    location: Any = multipart(body, **parameters) if in_parts else query(body.decode("ascii"))
    encodings = media_type.get("encoding", SchemaPath.from_dict({}))
    properties = dict(declared(media_type / "schema")) if "schema" in media_type else {}
    if not in_parts:
        location.claimed = set(properties)
    texts = texts_of(location, set(properties)) if in_parts else location
    found: dict[str, Any] = {}
    for name, schema in properties.items():
        encoding = encodings / name if name in encodings else None
        try:
            if encoding is not None and any(key in encoding for key in ("style", "explode", "allowReserved")):
                found[name] = styled(styles, spec, schema, encoding, name, texts)
            else:
                found[name] = typed(styles, spec, schema, encoding, name, location)
        except KeyError:
            continue
    for name in location:
        # Names of exploded and deep objects are not those of properties.
        if name.split("[")[0] not in properties and not any(name in value for value in found.values() if isinstance(value, dict)):
            values = location.getlist(name)
            read = [text_or_bytes(value) if isinstance(value, bytes) else location.decode(value) for value in values]
            found[name] = read if len(read) > 1 else read[0]
    return found


def text_or_bytes(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def declared(schema: SchemaPath, depth: int = 0):
    """Every property of a schema and of what it is made of."""
    own = resolved(schema)
    if not isinstance(own, dict) or depth > 8:
        return
    for name in own.get("properties", {}):
        yield name, schema / "properties" / name
    for key in ("allOf", "anyOf", "oneOf"):
        for at in range(len(own.get(key, []))):
            yield from declared(schema / key / at, depth + 1)


def styled(styles: Styles, spec: SchemaPath, schema: SchemaPath, encoding: SchemaPath, name: str, location: Any) -> Any:
    style, explode = get_style_and_explode(encoding, default_location="query")
    return styles.create(spec, schema, style, explode, name).deserialize(location)


def texts_of(parts: Any, claimed: set[str]) -> Raw:
    """Parts as texts, which are not percent-encoded (3.1.1, Encoding Object: RFC 6570 applies to queries and forms)."""
    texts = Raw([(name, value.decode(errors="replace")) for name, value in parts.items(multi=True)], str)
    texts.claimed = claimed
    return texts


def typed(styles: Styles, spec: SchemaPath, schema: SchemaPath, encoding: SchemaPath | None, name: str, location: Any) -> Any:
    """A property by its content type: a list item by item."""
    values = location.getlist(name)
    if not values:
        raise KeyError(name)
    is_list = "array" in kinds(schema)
    item = schema / "items" if is_list and "items" in resolved(schema) else schema
    read = [one(styles, spec, item, encoding, value, location) for value in values]
    return read if is_list else read[-1]


def one(styles: Styles, spec: SchemaPath, schema: SchemaPath, encoding: SchemaPath | None, value: Any, location: Any) -> Any:
    mimetype = get_content_type(schema, encoding).split(",")[0].strip()
    allowed = set(kinds(schema))
    nested = allowed & {"object", "array"} and not (encoding is not None and "contentType" in encoding)
    text = value if isinstance(value, bytes) else location.decode(value).encode()
    if nested or mimetype.endswith("json"):
        return json.loads(text)
    if not mimetype.startswith("text/") and (encoding is not None or isinstance(value, bytes)) and "string" in allowed:
        return text
    try:
        return styles.schema_casters_factory.create(spec, schema).cast(text.decode())
    except UnicodeDecodeError:
        return text
