"""Validates records against the part of JSON Schema that our schemas use, without a further library.

Keywords: type, properties, required, additionalProperties, items, minItems, minProperties, minLength, maxLength,
minimum, maximum, const, enum, not, anyOf. A test holds it against the `jsonschema` library.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def fault_of(value: Any, schema: Mapping[str, Any], place: str = "") -> str:
    """The first fault, with its place: ``rubrics[2].points: …``; empty where the record is valid."""
    subject = place or "the record"
    if "type" in schema and not _is(value, schema["type"]):
        expected = schema["type"] if isinstance(schema["type"], str) else " or ".join(schema["type"])
        return f"{subject}: not {expected}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{subject}: none of {schema['enum']}"
    if "const" in schema and not _same(value, schema["const"]):
        return f"{subject}: not {schema['const']}"
    if "not" in schema and not fault_of(value, schema["not"], place):
        return f"{subject}: may not be {str(value)[:40]}"
    if "anyOf" in schema and all(fault_of(value, option, place) for option in schema["anyOf"]):
        return f"{subject}: in none of the forms that it may have"
    if isinstance(value, str) and len(value) < schema.get("minLength", 0):
        return f"{subject}: empty"
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        return f"{subject}: longer than {schema['maxLength']} characters"
    if _is(value, "number") and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        return f"{subject}: {value} is out of range"
    if isinstance(value, list):
        return _list_fault(value, schema, place)
    return _object_fault(value, schema, place) if isinstance(value, dict) else ""


def _list_fault(value: list[Any], schema: Mapping[str, Any], place: str) -> str:
    if len(value) < schema.get("minItems", 0):
        return f"{place or 'the record'}: empty"
    if "items" in schema:
        for index, element in enumerate(value):
            if fault := fault_of(element, schema["items"], f"{place}[{index}]"):
                return fault
    return ""


def _object_fault(value: dict[str, Any], schema: Mapping[str, Any], place: str) -> str:
    dot = f"{place}." if place else ""
    for name in schema.get("required", ()):
        if name not in value:
            return f"{dot}{name}: missing"
    if len(value) < schema.get("minProperties", 0):
        return f"{place or 'the record'}: empty"
    properties = schema.get("properties", {})
    for name, inner in value.items():
        if name in properties:
            if fault := fault_of(inner, properties[name], f"{dot}{name}"):
                return fault
        elif schema.get("additionalProperties") is False:
            return f"{dot}{name}: no such field"
    return ""


_TYPES: dict[str, type] = {
    "string": str,
    "array": list,
    "object": dict,
    "null": type(None),
    "boolean": bool,
}


def _is(value: Any, expected: str | list[str]) -> bool:
    if isinstance(expected, list):
        return any(_is(value, kind) for kind in expected)
    if expected in ("integer", "number"):
        return _is_number(value) and (expected == "number" or value == int(value))
    return isinstance(value, _TYPES[expected])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(value: Any, other: Any) -> bool:
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)
