"""What the settings of each kind of judge are, for the API's schema: made from the models that check them."""

from __future__ import annotations

from functools import cache
from typing import Any

from drf_spectacular.utils import extend_schema_field
from pydantic import BaseModel
from rest_framework import serializers

from scoring.judges.config import AcuityConfig, ChatConfig, JuryConfig, TrainedConfig
from scoring.models import Judge

_SCALE = {"scale": {"type": "string", "description": "The name of a scale, whose levels the judge reads."}}
_KEPT = ("type", "items", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "enum")


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A property as OpenAPI 3.0 has it: ``nullable`` instead of a type null, bounds that may be excluded as flags."""
    if "anyOf" in schema:
        (own,) = (each for each in schema["anyOf"] if each.get("type") != "null")
        return {**_plain({**own, "default": schema.get("default")}), "nullable": True}
    plain = {name: schema[name] for name in _KEPT if name in schema}
    for bound in ("Minimum", "Maximum"):
        if f"exclusive{bound}" in schema:
            plain |= {bound.lower(): schema[f"exclusive{bound}"], f"exclusive{bound}": True}
    if schema.get("default") is not None:
        plain["default"] = schema["default"]
    return plain


def config_schema(model: type[BaseModel], **more: dict[str, Any]) -> dict[str, Any]:
    """The settings that ``model`` checks, and ``more``, as a schema of OpenAPI; other names are refused."""
    given = model.model_json_schema()
    properties = {name: _plain(schema) for name, schema in given.get("properties", {}).items()} | more
    required = [*given.get("required", []), *more]
    return {
        "type": "object",
        "description": " ".join((model.__doc__ or "").split()),
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def schemas_by_kind() -> dict[str, dict[str, Any]]:
    """Kind → its settings; a chat judge has those of its task."""
    chat, levels = config_schema(ChatConfig), config_schema(AcuityConfig, **_SCALE)
    return {
        Judge.Kind.CHAT: {"oneOf": [chat, levels]},
        Judge.Kind.TRAINED: config_schema(TrainedConfig),
        Judge.Kind.JURY: config_schema(JuryConfig),
        Judge.Kind.IMPORTED: {"type": "object", "description": "Empty: its verdicts come from files."},
    }


@cache
def _fields() -> dict[str, type[serializers.Field[Any, Any, Any, Any]]]:
    return {
        str(kind): extend_schema_field(schema)(
            type(f"{str(kind).capitalize()}ConfigField", (serializers.DictField,), {})
        )
        for kind, schema in schemas_by_kind().items()
    }


def by_kind(
    base: type[serializers.Serializer[Any]], ending: str
) -> dict[str, serializers.Serializer[Any] | type[serializers.Serializer[Any]]]:
    """Kind → ``base`` with the kind's own settings; only kinds that ``base`` knows."""
    kinds = base().fields["kind"].choices  # type: ignore[attr-defined]
    return {
        kind: type(
            f"{kind.capitalize()}{ending}Serializer",
            (base,),
            {"kind": serializers.CharField(help_text=f"{kind}."), "config": field(), "__doc__": base.__doc__},
        )
        for kind, field in _fields().items()
        if kind in kinds
    }
