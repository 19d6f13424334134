"""Parses an answer that must be one JSON object of a given form, strictly. The rule for fences is that of verdicts.

No key may be missing, unknown or there twice, and nothing is coerced: a number in quotes is a text, and a text is never
a number. What has to be guessed is no answer.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from consilium.llm.errors import ContentError
from consilium.llm.parsing import MAXIMUM_CHARACTERS, one_object


class StructuredAnswer(BaseModel):
    """The form of an answer. Derive from it, also for the objects inside; give no field a default."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, protected_namespaces=())


T = TypeVar("T", bound=StructuredAnswer)

# Errors of pydantic by the kinds of `ContentError`; any other is a wrong type.
_KINDS = {"missing": "missing_field", "extra_forbidden": "extra_field", "json_invalid": "not_json"}
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # as it is written in JSON


def parse_structured(text: str, form: type[T], *, maximum: int = MAXIMUM_CHARACTERS) -> T:
    """The answer as an object of ``form``; `ContentError`, with its kind and the text, for everything else.

    The message names the place of the first fault and never repeats more than 60 characters of the answer.
    """
    try:
        written = _written(one_object(text, maximum=maximum))
        try:
            # Validated as JSON, where an enum is its value and a tuple a list; nothing else is converted.
            return form.model_validate_json(written)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part)[:60] for part in fault["loc"])
            kind = _KINDS.get(fault["type"], "wrong_type")
            raise ContentError(kind, f"“{place[:60]}”: {fault['msg'][:200]}") from None
    except ContentError as error:
        error.raw = text
        raise


def _written(value: dict[str, Any]) -> str:
    """An object as JSON again; `ContentError` where it holds what no column can."""
    try:
        written = json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        raise ContentError("not_json", "a number is too large, or brackets are nested too deeply") from None
    if _NUL.search(written):
        raise ContentError("nul", "a text holds a NUL character")
    return written


def json_schema(form: type[StructuredAnswer]) -> dict[str, Any]:
    """``response_format`` for an endpoint that takes a JSON schema."""
    schema = {"name": form.__name__, "strict": True, "schema": form.model_json_schema()}
    return {"type": "json_schema", "json_schema": schema}
