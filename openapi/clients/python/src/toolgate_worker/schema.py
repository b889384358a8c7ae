"""Arguments against the JSON Schema of a tool."""

import json
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import validator_for

# Keywords whose messages have names and no values.
NAMES_ONLY = ("required", "additionalProperties", "unevaluatedProperties", "dependentRequired")
# Faults that an error names, and characters of each.
MOST_FAULTS, LONGEST = 20, 300


class Schema:
    """A JSON Schema, compiled once."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Raises `jsonschema.SchemaError` for what is no schema."""
        kind = validator_for(schema, default=Draft202012Validator)
        kind.check_schema(schema)
        self._validator = kind(schema)

    def faults(self, arguments: dict[str, Any]) -> list[dict[str, str]]:
        """What is wrong: JSON pointers and messages, which never have a value: an argument may be a secret."""
        errors = self._validator.iter_errors(arguments)
        return [{"pointer": _pointer(error), "message": _message(error)} for error, _ in zip(errors, range(MOST_FAULTS))]


def _pointer(error: ValidationError) -> str:
    parts = (str(part).replace("~", "~0").replace("/", "~1") for part in error.absolute_path)
    return "".join(f"/{part}" for part in parts)


def _message(error: ValidationError) -> str:
    if error.validator in NAMES_ONLY:
        return error.message[:LONGEST]
    return f"does not satisfy {error.validator}: {json.dumps(error.validator_value)}"[:LONGEST]


def in_words(faults: list[dict[str, str]]) -> str:
    """The faults as one text."""
    return "the arguments are invalid: " + "; ".join(f"{one['pointer'] or '/'}: {one['message']}" for one in faults)
