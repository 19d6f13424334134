"""Typed commands: the input of a write, described once for its form, its API endpoint and its command line.

A command is a frozen pydantic dataclass, which a service takes whole. A field has a type, bounds (`pydantic.Field`), a
default, its name on the page (`Label`) and a description for the API's schema (``description=`` of `pydantic.Field`).
`CommandForm` and `CommandSerializer` make their fields from that, so they refuse what the command would refuse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import chain
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin

from django import forms
from django.utils.translation import gettext_lazy
from pydantic import GetCoreSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema
from rest_framework import serializers

from consilium.core.limits import MAX_LISTED_VALUES

if TYPE_CHECKING:
    from django.db.models import TextChoices
    from django.utils.functional import _StrOrPromise

    _SerializerBase = serializers.Serializer[Any]
else:
    _SerializerBase = serializers.Serializer

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Label:
    """What a page calls a field, and the sentence under it."""

    label: _StrOrPromise
    help_text: _StrOrPromise = ""


@dataclass(frozen=True, slots=True)
class OneOf:
    """Annotates a text that is one of the values of ``choices``."""

    choices: type[TextChoices]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Accept only these values."""
        return core_schema.literal_schema([str(value) for value in self.choices.values])


@dataclass(frozen=True, slots=True)
class _Shape:
    """A field of a command, as form and serializer need it."""

    type: Any
    nullable: bool = False
    item: _Shape | None = None  # of a sequence
    choices: list[tuple[Any, Any]] | None = None
    label: Label = field(default_factory=lambda: Label(""))
    limits: dict[str, Any] = field(default_factory=dict)


# Bounds of `pydantic.Field` → the names that Django's and DRF's fields have for them.
_LIMITS = {
    "ge": "min_value",
    "le": "max_value",
    "max_length": "max_length",
    "max_digits": "max_digits",
    "decimal_places": "decimal_places",
}
_FORM_FIELDS: dict[Any, type[forms.Field]] = {
    str: forms.CharField,
    int: forms.IntegerField,
    float: forms.FloatField,
    bool: forms.BooleanField,
    Decimal: forms.DecimalField,
    date: forms.DateField,
}
_SERIALIZER_FIELDS: dict[Any, Any] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
    Decimal: serializers.DecimalField,
    date: serializers.DateField,
}


def command_fields(command: type[Any]) -> dict[str, FieldInfo]:
    """The fields of a command by name, in their order."""
    return command.__pydantic_fields__


def _shape(annotation: Any, metadata: Sequence[Any]) -> _Shape:
    """The shape of a field; `TypeError` for a bound that neither a form nor a serializer would check."""
    nullable = get_origin(annotation) in (Union, UnionType)
    if nullable:
        (annotation,) = (part for part in get_args(annotation) if part is not NoneType)
    label, item = Label(""), None
    choices: list[tuple[Any, Any]] | None = None
    limits: dict[str, Any] = {}
    if get_origin(annotation) is Literal:
        annotation, choices = str, [(value, value) for value in get_args(annotation)]
    elif get_origin(annotation) is not None:  # a sequence, whose items may have an annotation of their own
        item_type = get_args(annotation)[0]
        item = _shape(get_args(item_type)[0], item_type.__metadata__) if _is_annotated(item_type) else _Shape(item_type)
    parts = chain.from_iterable(part.metadata if isinstance(part, FieldInfo) else [part] for part in metadata)
    for part in parts:
        bounds = {option: getattr(part, name, None) for name, option in _LIMITS.items()}
        bounds = {option: value for option, value in bounds.items() if value is not None}
        if isinstance(part, Label):
            label = part
        elif isinstance(part, OneOf):
            choices = part.choices.choices
        elif bounds:
            limits |= bounds
        else:
            raise TypeError(f"no form can check {part!r}")
    return _Shape(annotation, nullable, item, choices, label, limits)


def label_of(command: type[Any], name: str) -> _StrOrPromise:
    """What a page calls a field of ``command``."""
    info = command_fields(command)[name]
    return _shape(info.annotation, info.metadata).label.label


def _is_annotated(annotation: Any) -> bool:
    return get_origin(annotation) is Annotated


def form_field(
    command: type[Any], name: str, field_class: type[forms.Field] | None = None, **options: Any
) -> forms.Field:
    """The form's field for a field of ``command``; ``options`` replace what the command says.

    It may be left empty where the command has None, an empty text or an empty sequence by default. ``field_class`` is
    for a field that needs another class than its type has, such as a choice of rows; such a field gets no bounds.
    """
    info = command_fields(command)[name]
    shape = _shape(info.annotation, info.metadata)
    default = None if info.is_required() or info.default_factory else info.default
    is_empty = default in (None, "", ())
    has_empty_default = is_empty and not info.is_required() and not info.default_factory
    options = {
        "label": shape.label.label,
        "help_text": shape.label.help_text,
        "required": not has_empty_default and shape.type is not bool,
        "initial": None if is_empty else default,
        **options,
    }
    if field_class:
        return field_class(**options)
    if shape.item:
        choices = shape.item.choices or ()
        return forms.MultipleChoiceField(**{"choices": choices, "widget": forms.CheckboxSelectMultiple, **options})
    if shape.choices:
        return forms.ChoiceField(**{"choices": shape.choices, **options})
    if shape.type is date:
        options = {"widget": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"), **options}
    return _FORM_FIELDS[shape.type](**{**shape.limits, **options})


def serializer_field(command: type[Any], name: str, **options: Any) -> serializers.Field[Any, Any, Any, Any]:
    """The serializer's field for a field of ``command``; ``options`` replace what the command says."""
    info = command_fields(command)[name]
    shape = _shape(info.annotation, info.metadata)
    if info.default_factory:
        options = {"required": False, **options}
    elif not info.is_required():
        options = {"default": list if shape.item else info.default, **options}
        if info.default == "" and not shape.choices:
            options = {"allow_blank": True, **options}
    if shape.nullable:
        options = {"allow_null": True, **options}
    if info.description:
        options = {"help_text": info.description, **options}
    if shape.item:
        return serializers.ListField(**{"child": _plain_field(shape.item), "max_length": MAX_LISTED_VALUES, **options})
    return _plain_field(shape, **options)


def _plain_field(shape: _Shape, **options: Any) -> Any:
    if shape.choices:
        return serializers.ChoiceField(**{"choices": shape.choices, **options})
    return _SERIALIZER_FIELDS[shape.type](**{**shape.limits, **options})


def command_of(command: type[C], data: Mapping[str, Any], **values: Any) -> C:
    """A command from cleaned data. ``values`` replace them; a field that is absent or None has its default."""
    named = {name: value for name in command_fields(command) if (value := data.get(name)) is not None}
    return command(**{**named, **values})


# What a form says of a number out of its bounds; by the code of Django's error.
OUT_OF_BOUNDS = {
    "min_value": gettext_lazy("Enter %(limit_value)s or more."),
    "max_value": gettext_lazy("Enter %(limit_value)s or less."),
}


class CommandForm(forms.Form):
    """A form with a field for each field of ``commands`` but those in ``exclude``.

    A field that the class declares replaces the command's field of the same name. ``field_order`` is Django's.
    """

    commands: ClassVar[tuple[type[Any], ...]]
    exclude: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for command in self.commands:
            for name in command_fields(command):
                if name not in self.fields and name not in self.exclude:
                    self.fields[name] = form_field(command, name)
        for bound in self.fields.values():
            bound.error_messages = {**OUT_OF_BOUNDS, **bound.error_messages}
        self.order_fields(self.field_order)


class CommandSerializer(_SerializerBase):
    """A serializer with a field for each field of ``commands`` but those in ``exclude``.

    A field that the class declares replaces the command's field of the same name. ``field_order`` is as in a form.
    """

    commands: ClassVar[tuple[type[Any], ...]]
    exclude: ClassVar[tuple[str, ...]] = ()
    field_order: ClassVar[tuple[str, ...]] = ()

    def get_fields(self) -> dict[str, Any]:
        """Those that the class declares, and those of the commands."""
        fields = super().get_fields()
        for command in self.commands:
            for name in command_fields(command):
                if name not in fields and name not in self.exclude:
                    fields[name] = serializer_field(command, name)
        return {name: fields[name] for name in dict.fromkeys([*self.field_order, *fields])}
