"""Which descriptions requests are made of, and what of them the reference server goes by."""

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

# Headers that are no parameters, whatever a description says (OpenAPI 3.1.1, Parameter Object, `name`).
IGNORED = {"accept", "content-type", "authorization"}
# Descriptions that are left out, with the reason.
LEFT_OUT = {
    "3.1-train-travel": "its licence (CC BY-NC-SA 4.0) keeps it out of commercial work",
    "3.1-webhooks": "it has no operation",
}
# Operations that are not judged, with the reason.
NOT_JUDGED = {
    ("3-1-schema-validation-local", "/anything/numbers"): "its schemas name dialects that do not exist, so nothing says what their "
    "keywords mean (OpenAPI 3.1.1, Specifying Schema Dialects)",
}


@dataclass
class Description:
    """A description, as it is imported and as the reference server reads it."""

    name: str
    text: bytes
    media_type: str
    judged: dict[str, Any]


class Loader(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):
    """YAML 1.2's idea of scalars, which is OpenAPI's: dates are texts."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def load(folder: Path, address: str) -> list[Description]:
    """Every description of a folder. `name.converted.json` is one of Swagger 2.0 as OpenAPI 3.0, which the reference server reads."""
    found = []
    for file in sorted(folder.iterdir()):
        name = file.name.split(".json")[0].split(".yaml")[0]
        if file.name.endswith(".converted.json") or name in LEFT_OUT:
            continue
        name = "".join(letter if letter.isalnum() else "-" for letter in name.lower()).strip("-")
        text = file.read_bytes()
        converted = file.with_name(f"{file.stem}.converted.json")
        content = converted.read_bytes() if converted.exists() else text
        document = text_keys(yaml.load(content, Loader) if file.suffix == ".yaml" and content is text else json.loads(content))
        media_type = "application/yaml" if file.suffix == ".yaml" else "application/json"
        found.append(Description(f"d-{name}", text, media_type, judged(document, f"{address}/d-{name}")))
    return found


def text_keys(value: Any) -> Any:
    """YAML reads the status `200` as a number; names in JSON are texts."""
    if isinstance(value, dict):
        return {str(name): text_keys(member) for name, member in value.items()}
    return [text_keys(item) for item in value] if isinstance(value, list) else value


def judged(document: dict[str, Any], address: str) -> dict[str, Any]:
    """The description with the reference server for all servers (as `base_url` has it), and with what `DEVIATIONS` says about
    empty query parameters, headers, defaults and the names in discriminators."""
    document = copy.deepcopy(document)
    document["servers"] = [{"url": address}]
    for item in document.get("paths", {}).values():
        item.pop("servers", None)
        for operation in item.values():
            if isinstance(operation, dict):
                operation.pop("servers", None)
    for part in objects(document):
        if not (isinstance(part.get("in"), str) and isinstance(part.get("name"), str)):
            continue
        if part["in"] == "query":
            part["allowEmptyValue"] = True
        if part["in"] == "header" and part["name"].lower() in IGNORED:
            part |= {"required": False, "schema": {}}
        if isinstance(part.get("schema"), dict):
            part["schema"].pop("default", None)
    # Neither the library nor the gateway knows client certificates, which are below HTTP.
    for scheme in document.get("components", {}).get("securitySchemes", {}).values():
        if scheme.get("type") == "mutualTLS":
            scheme["type"] = "oauth2"
    names = document.get("components", {}).get("schemas", {})
    for part in objects(document):
        mapping = part.get("mapping")
        if isinstance(mapping, dict) and "propertyName" in part:
            part["mapping"] = {value: f"#/components/schemas/{to}" if to in names else to for value, to in mapping.items()}
    return document


def objects(value: Any):
    """Every object in a description."""
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from objects(member)
    elif isinstance(value, list):
        for item in value:
            yield from objects(item)
