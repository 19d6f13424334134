"""JSON objects of the API whose fields are known elsewhere: by a pydantic model, or by a serializer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from pydantic import BaseModel
from rest_framework import serializers

Schema = dict[str, Any]
_BOUNDS = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems"}
)
_KEPT = ("type", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "enum", "format")

# The value of a cell of a table.
CELL: Schema = {"oneOf": [{"type": "number"}, {"type": "string"}, {"type": "boolean"}], "nullable": True}


def _plain(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    """A property as OpenAPI 3.0 has it: ``nullable`` instead of a type null, bounds that may be excluded as flags."""
    if "$ref" in schema:
        return _object(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        (own,) = (each for each in schema["anyOf"] if each.get("type") != "null")
        return {**_plain({**own, "default": schema.get("default")}, definitions), "nullable": True}
    if "properties" in schema:
        return _object(schema, definitions)
    plain = {name: schema[name] for name in _KEPT if name in schema}
    if "const" in schema:
        plain["enum"] = [schema["const"]]
    if "items" in schema:
        plain["items"] = _plain(schema["items"], definitions)
    if isinstance(schema.get("additionalProperties"), dict):
        plain["additionalProperties"] = _plain(schema["additionalProperties"], definitions)
    for bound in ("Minimum", "Maximum"):
        if f"exclusive{bound}" in schema:
            plain |= {bound.lower(): schema[f"exclusive{bound}"], f"exclusive{bound}": True}
    if schema.get("default") is not None:
        plain["default"] = schema["default"]
    return plain


def _object(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], *, without: Collection[str] = (), **more: Schema
) -> Schema:
    own = {name: part for name, part in schema.get("properties", {}).items() if name not in without}
    properties = {name: _plain(part, definitions) for name, part in own.items()} | more
    required = [*(name for name in schema.get("required", []) if name not in without), *more]
    return {
        "type": "object",
        **({"description": " ".join(schema["description"].split())} if "description" in schema else {}),
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def object_schema(model: type[BaseModel], *, without: Collection[str] = (), **more: Schema) -> Schema:
    """What ``model`` accepts as a schema of OpenAPI: no other names, none of ``without``, and ``more``."""
    schema = model.model_json_schema()
    return _object(schema, schema.get("$defs", {}), without=without, **more)


def stored(schema: Any) -> Any:
    """``schema`` without bounds and required fields: what other versions or releases have stored may lack some."""
    if isinstance(schema, list):
        return [stored(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {"anyOf" if name == "oneOf" else name: part for name, part in schema.items()}
    kept = {name: stored(part) for name, part in schema.items() if name not in _BOUNDS or isinstance(part, dict)}
    return {name: part for name, part in kept.items() if name != "required" or not isinstance(part, list)}


def model_field(model: type[BaseModel], *, without: Collection[str] = (), **options: Any) -> serializers.DictField:
    """A JSON object that a service checks by ``model``; ``without``: what the service adds by itself."""
    return described_field(object_schema(model, without=without), **options)


def stored_field(model: type[BaseModel], **options: Any) -> serializers.DictField:
    """A JSON object that was checked by ``model`` when it was stored."""
    return described_field(stored(object_schema(model)), **options)


def described_field(schema: Any, **options: Any) -> serializers.DictField:
    """A JSON object that is written as it is stored. ``schema``: its fields, as a serializer or for OpenAPI."""
    return extend_schema_field(schema)(type("DescribedField", (serializers.DictField,), {}))(**options)


def the_kind(kind: str) -> serializers.CharField:
    """The field by which one of several schemas is told from the others: always ``kind``.

    A pattern, because each enumeration of the field ``kind`` would need a name of its own.
    """
    return extend_schema_field({"type": "string", "pattern": f"^{kind}$"})(
        type("KindField", (serializers.CharField,), {})
    )()


def rows_field(**options: Any) -> serializers.ListField:
    """Rows of a table, each by the names of its columns."""
    row = described_field({"type": "object", "additionalProperties": CELL})
    return serializers.ListField(child=row, **options)
