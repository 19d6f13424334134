"""Filters of a list in the API: the form of its page declares them, checks them and says what there is to choose from.

A select whose choices are the same in every benchmark becomes an ``enum`` of the schema; the others, such as tags, are
known only once the benchmark is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError as FormError
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError

from consilium.core.parameters import one_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def declared(form: type[forms.Form], descriptions: Mapping[str, str]) -> list[OpenApiParameter]:
    """The parameters named in ``descriptions``, each as the field of ``form`` with this name takes it."""
    return [_parameter(name, form.base_fields[name], text) for name, text in descriptions.items()]


def _parameter(name: str, field: forms.Field, description: str) -> OpenApiParameter:
    if isinstance(field, forms.BooleanField):
        return OpenApiParameter(name, bool, description=description)
    if isinstance(field, forms.IntegerField) and not isinstance(field, forms.FloatField):
        return OpenApiParameter(name, int, description=description)
    if isinstance(field, forms.FloatField):
        return OpenApiParameter(name, float, description=description)
    if isinstance(field, forms.DateField):
        return OpenApiParameter(name, OpenApiTypes.DATE, description=description)
    if isinstance(field, forms.DateTimeField):
        return OpenApiParameter(name, OpenApiTypes.DATETIME, description=description)
    values = values_of(field) if isinstance(field, forms.ChoiceField) else []
    return OpenApiParameter(name, str, enum=values or None, description=description)


def values_of(field: forms.ChoiceField) -> list[str]:
    """What a select takes, those of its groups included, without the empty value that leaves nothing out."""

    def values(choices: Any) -> Iterable[str]:
        for value, label in choices:
            if isinstance(label, list | tuple):
                yield from values(label)
            elif value != "":
                yield str(value)

    return list(values(field.choices))


def checked(form: forms.Form) -> dict[str, Any]:
    """The cleaned filters; `ValidationError` where one is wrong, with the values to choose from."""
    with timezone.override(UTC):  # a time without an offset is the same moment for everybody
        is_valid = form.is_valid()
    if is_valid:
        return form.cleaned_data
    faults = {name: _faults(form.fields.get(name), errors) for name, errors in form.errors.as_data().items()}
    raise ValidationError(faults)


def _faults(field: forms.Field | None, errors: Sequence[FormError]) -> list[str]:
    if isinstance(field, forms.ChoiceField) and any(error.code == "invalid_choice" for error in errors):
        values = values_of(field)
        if values:
            return [one_of(values)]
    if isinstance(field, forms.DateField):
        return [_("This must be a date in the form YYYY-MM-DD.")]
    if isinstance(field, forms.DateTimeField) and any(error.code == "invalid" for error in errors):
        return [_("This must be a time such as 2026-03-01T12:00:00Z.")]
    return [message for error in errors for message in error.messages]
