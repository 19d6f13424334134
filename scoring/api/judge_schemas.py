"""What the settings of each kind of judge are, for the API's schema: made from the models that check them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from consilium.core.api import StrictSerializer
from consilium.core.model_schemas import described_field, object_schema, stored, the_kind
from scoring.judges.config import AcuityConfig, ChatConfig, JuryConfig, TrainedConfig
from scoring.models import Judge

_SCALE = {"scale": {"type": "string", "description": "The name of a scale, whose levels the judge reads."}}


def schemas_by_kind() -> dict[str, dict[str, Any]]:
    """Kind → its settings; a chat judge has those of its task."""
    chat, levels = object_schema(ChatConfig), object_schema(AcuityConfig, **_SCALE)
    return {
        Judge.Kind.CHAT.value: {"oneOf": [chat, levels]},
        Judge.Kind.TRAINED.value: object_schema(TrainedConfig),
        Judge.Kind.JURY.value: object_schema(JuryConfig),
        Judge.Kind.IMPORTED.value: {
            "type": "object",
            "description": "Empty: its verdicts come from files.",
            "properties": {},
            "additionalProperties": False,
        },
    }


def by_kind(
    base: type[serializers.Serializer[Any]], ending: str
) -> dict[str, serializers.Serializer[Any] | type[serializers.Serializer[Any]]]:
    """Kind → ``base`` with the kind's own settings; only kinds that ``base`` knows."""
    kinds = base().fields["kind"].choices  # type: ignore[attr-defined]
    is_request = issubclass(base, StrictSerializer)
    return {
        kind: type(
            f"{kind.capitalize()}{ending}Serializer",
            (base,),
            {
                "kind": the_kind(str(kind)),
                "config": described_field(schema if is_request else stored(schema)),
                "__doc__": base.__doc__,
            },
        )
        for kind, schema in schemas_by_kind().items()
        if kind in kinds
    }
