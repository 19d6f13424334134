"""What the API endpoints of all apps share: domain errors as JSON, and serializers that refuse unknown fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser
from rest_framework.response import Response
from rest_framework.views import exception_handler as rest_exception_handler
from rest_framework.views import set_rollback

from consilium.core.errors import DomainError, FaultsRefused
from consilium.core.i18n import translate
from consilium.core.jobs import JobStatus
from consilium.core.strict_json import RefusedJSON, read_json

if TYPE_CHECKING:
    _SerializerBase = serializers.Serializer[Any]
else:
    _SerializerBase = object


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer a `DomainError` as ``{"detail": …}`` with its own status; all else as the framework does.

    A refused import or draft also lists its faults:
    ``{"detail", "errors": [{"line", "field", "message"}], "error_total"}``.
    """
    if not isinstance(error, DomainError):
        return rest_exception_handler(error, context)
    set_rollback()
    body: dict[str, Any] = {"detail": str(error)}
    if isinstance(error, FaultsRefused):
        body["errors"] = [
            {"line": fault.line, "field": fault.field, "message": fault.message} for fault in error.errors
        ]
        body["error_total"] = error.total
    return Response(body, status=error.status_code)


_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


class StorableJSONParser(JSONParser):
    """JSON in UTF-8 within the limits of `read_json`, whose text PostgreSQL can hold and an answer can repeat.

    Anything else, such as a NUL or half a character anywhere, is a 400.
    """

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        """Read strictly, then refuse what cannot be stored."""
        try:
            data = read_json(stream.read())
        except RefusedJSON as refused:
            raise ParseError(translate(refused.message)) from refused
        except ValueError as error:
            raise ParseError(_("This is not valid JSON: %(problem)s.") % {"problem": error}) from error
        if not _storable(data):
            raise ParseError(_("The text contains a NUL or an incomplete character."))
        return data


def _storable(data: Any) -> bool:
    if isinstance(data, str):
        return _NOT_STORABLE.search(data) is None
    if isinstance(data, dict):
        return all(_storable(key) and _storable(value) for key, value in data.items())
    return all(map(_storable, data)) if isinstance(data, list) else True


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

    def to_internal_value(self, data: Any) -> Any:
        """Refuse unknown and read-only keys, then validate as usual."""
        if isinstance(data, Mapping):
            writable = {name for name, field in self.fields.items() if not field.read_only}
            unknown = sorted(str(key) for key in data if key not in writable)
            if unknown:
                raise serializers.ValidationError({key: [_("This field cannot be set here.")] for key in unknown})
        return super().to_internal_value(data)
