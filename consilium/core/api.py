"""What the API endpoints of all apps share: domain errors as JSON, and serializers that refuse unknown fields."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ParseError, ValidationError
from rest_framework.parsers import JSONParser
from rest_framework.response import Response
from rest_framework.views import exception_handler as rest_exception_handler
from rest_framework.views import set_rollback

from consilium.core.errors import DomainError, FaultsRefused, field_named
from consilium.core.i18n import translate
from consilium.core.jobs import JobStatus
from consilium.core.parameters import one_of
from consilium.core.strict_json import MAX_DIGITS, RefusedJSON, read_json, strict_decoder

if TYPE_CHECKING:
    _SerializerBase = serializers.Serializer[Any]
else:
    _SerializerBase = object


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer a `DomainError` as ``{"detail": …}`` with its own status; all else as the framework does.

    A refused import or draft also lists its faults, and an error of one field that field:
    ``{"detail", "errors": [{"line", "field", "message"}], "error_total"}``.
    """
    if isinstance(error, Http404 | NotFound):
        error = NotFound(not_found())
    if not isinstance(error, DomainError):
        return rest_exception_handler(error, context)
    set_rollback()
    body: dict[str, Any] = {"detail": str(error)}
    if isinstance(error, FaultsRefused):
        body["errors"] = [
            {"line": fault.line, "field": fault.field, "message": fault.message} for fault in error.errors
        ]
        body["error_total"] = error.total
    elif error.field:
        body |= {"errors": [{"line": 0, "field": error.field, "message": str(error)}], "error_total": 1}
    return Response(body, status=error.status_code)


@contextmanager
def about_field(field: str) -> Iterator[None]:
    """What is looked up inside was named by ``field`` of the body: if it is not there, the refusal says so.

    A missing object is `ValidationError` (400), for a 404 would be about the address; a `DomainError` gets the field.
    """
    try:
        with field_named(field):
            yield
    except Http404:
        raise ValidationError({field: [not_found()]}) from None


def not_found() -> str:
    """What a 404 says, whatever is not there: it must not tell whether there is something that others see."""
    return _("There is no such object, or you have no access to it.")


MAX_DIGITS_OF_PYTHON = 4300
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


class StorableJSONParser(JSONParser):
    """JSON in UTF-8 within the limits of `read_json`, whose text PostgreSQL can hold and an answer can repeat.

    Anything else, such as a NUL or half a character anywhere, is a 400.
    """

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        """Read strictly, then refuse what cannot be stored."""
        raw = stream.read()
        try:
            data = read_json(raw)
        except RefusedJSON as refused:
            raise _refusal_at(_place_of(refused, raw), translate(refused.message)) from refused
        except ValueError as error:
            raise ParseError(_("This is not valid JSON: %(problem)s.") % {"problem": error}) from error
        if (place := _place_where(data, _is_not_storable)) is not None:
            raise _refusal_at(place, _("The text contains a NUL or an incomplete character."))
        return data


def _place_of(refused: RefusedJSON, raw: bytes) -> list[str]:
    """Where the refused value is; a number is looked for, because the decoder does not say where it is."""
    if refused.field is not None:
        return [refused.field] if refused.field else []
    lenient = strict_decoder(digits=MAX_DIGITS_OF_PYTHON, accept_nonfinite=True)
    try:
        return _place_where(lenient.decode(raw.decode()), _is_not_a_strict_number) or []
    except ValueError:
        return []


def _refusal_at(place: list[str], message: str) -> ValidationError:
    """A 400 that names the field at ``place``: ``["responses", "3", "response"]`` is a field of the fourth response."""
    detail: Any = [message]
    for name in reversed(place):
        detail = {name.encode("ascii", "backslashreplace").decode().replace("\0", "\\0"): detail}
    return ValidationError(detail if place else {"detail": message})


def _place_where(data: Any, is_wrong: Callable[[Any], bool]) -> list[str] | None:
    """The names and places (from 0) that lead to the first value or key that is wrong; None where all are right."""
    if isinstance(data, dict):
        parts: Iterable[tuple[Any, Any]] = data.items()
    elif isinstance(data, list):
        parts = enumerate(data)
    else:
        return [] if is_wrong(data) else None
    for name, part in parts:
        if is_wrong(name):
            return [name]
        if (place := _place_where(part, is_wrong)) is not None:
            return [str(name), *place]
    return None


def _is_not_storable(value: Any) -> bool:
    return isinstance(value, str) and _NOT_STORABLE.search(value) is not None


def _is_not_a_strict_number(value: Any) -> bool:
    is_too_long = isinstance(value, int) and abs(value) >= 10**MAX_DIGITS
    return is_too_long or (isinstance(value, float) and not math.isfinite(value))


# Tables of jobs say ``done`` and tables of runs say ``finished``. The API has one word for both.
DONE, FINISHED = "done", "finished"


def states_of(statuses: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Choices (value, label) of a state as the API names them."""
    return [(FINISHED if value == DONE else value, label) for value, label in statuses]


JOB_STATES = states_of(JobStatus.choices)


class StateField(serializers.ChoiceField):
    """A state, read only, as the API names it: work that ended with a result is ``finished``."""

    def __init__(self, statuses: Iterable[tuple[str, Any]], **options: Any) -> None:
        super().__init__(choices=states_of(statuses), **options)

    def to_representation(self, value: Any) -> Any:
        """The word of the API for a stored state."""
        return super().to_representation(FINISHED if value == DONE else value)


class StrictSerializer(_SerializerBase):
    """Mix in before a serializer class: a key that may not be written is refused with 400, not dropped silently.

    What a caller may set is exactly what the serializer lists as writable; a read-only field in the payload is refused
    as well, since whoever sends it believes that it does something.
    """

    def get_fields(self) -> dict[str, Any]:
        """The fields; the message of a wrong choice lists the choices."""
        fields: dict[str, Any] = super().get_fields()
        for field in fields.values():
            field = getattr(field, "child", field)
            if isinstance(field, serializers.ChoiceField):
                own, choices = field.error_messages["invalid_choice"], one_of([*field.choices])
                field.error_messages["invalid_choice"] = f"{own} {choices.replace('{', '{{').replace('}', '}}')}"
        return fields

    def to_internal_value(self, data: Any) -> Any:
        """Refuse unknown and read-only keys, then validate as usual."""
        if isinstance(data, Mapping):
            writable = {name for name, field in self.fields.items() if not field.read_only}
            unknown = sorted(str(key) for key in data if key not in writable)
            if unknown:
                raise serializers.ValidationError({key: [_("This field cannot be set here.")] for key in unknown})
        return super().to_internal_value(data)
