"""Typed commands: their forms and serializers refuse exactly what they refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from django import forms
from django.db import models
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError
from pydantic.dataclasses import dataclass
from rest_framework import serializers

from consilium.core.commands import (
    CommandForm,
    CommandSerializer,
    Label,
    OneOf,
    command_of,
    form_field,
    serializer_field,
)


class Colour(models.TextChoices):
    RED = "red", "Red"
    BLUE = "blue", "Blue"


@dataclass(frozen=True, slots=True)
class Order:
    name: Annotated[str, Field(max_length=5), Label("Name", "At most five.")]
    count: Annotated[int, Field(ge=1, le=20, description="How many."), Label("Count")] = 1
    colour: Annotated[str, OneOf(Colour), Label("Colour")] = Colour.RED
    size: Literal["small", "large"] = "small"
    colours: Sequence[Annotated[str, OneOf(Colour)]] = ()
    budget: Annotated[Decimal | None, Field(ge=Decimal("0.01"), max_digits=4, decimal_places=2)] = None
    share: Annotated[float, Field(ge=0, le=1)] = 1.0
    gift: bool = True
    due: date | None = None
    note: str = ""
    seed: Annotated[int, Field(ge=0)] = field(default_factory=lambda: 7)


class OrderForm(CommandForm):
    commands = (Order,)
    exclude = ("share",)
    field_order = ("count", "percent")
    percent = forms.FloatField(required=False)
    note = forms.CharField(label="Remark", required=False)


class OrderSerializer(CommandSerializer):
    commands = (Order,)
    exclude = ("note",)
    field_order = ("seed", "extra")
    extra = serializers.CharField(default="")


FULL: dict[str, Any] = {
    "name": "Ann", "count": 1, "colour": "red", "size": "small", "colours": ["blue"], "budget": "1.50",
    "gift": "on", "due": "2026-02-03", "seed": 3,
}  # fmt: skip

VALUES = {
    "name": st.text("ab", min_size=1, max_size=8),
    "count": st.integers(-3, 25),
    "colour": st.sampled_from(["red", "blue", "green"]),
    "size": st.sampled_from(["small", "large", "huge"]),
    "colours": st.lists(st.sampled_from(["red", "blue", "green"]), max_size=3),
    "budget": st.decimals("-1", "101", places=2)
    | st.decimals("1", "2", places=3).filter(lambda value: value % Decimal("0.01")),
    "seed": st.integers(-2, 2),
}


@pytest.mark.slow
@given(st.sampled_from(sorted(VALUES)).flatmap(lambda name: st.tuples(st.just(name), VALUES[name])))
def test_form_and_serializer_refuse_what_the_command_refuses(change: tuple[str, Any]) -> None:
    name, value = change
    data = {**FULL, name: value}
    try:
        Order(**{**data, "gift": True})
        accepted = True
    except ValidationError:
        accepted = False
    form, serializer = OrderForm(data), OrderSerializer(data={**data, "gift": True})
    assert (form.is_valid(), serializer.is_valid()) == (accepted, accepted)
    assert accepted or set(form.errors) == set(serializer.errors) == {name}


def test_what_the_form_and_the_serializer_accept_makes_the_same_command() -> None:
    form, serializer = OrderForm({**FULL, "percent": "50"}), OrderSerializer(data={**FULL, "gift": True})
    assert form.is_valid(), form.errors
    assert serializer.is_valid(), serializer.errors
    order = command_of(Order, form.cleaned_data, share=form.cleaned_data["percent"] / 100)
    assert order == Order("Ann", colours=["blue"], budget=Decimal("1.5"), share=0.5, due=date(2026, 2, 3), seed=3)
    assert command_of(Order, serializer.validated_data, share=0.5) == order


def test_an_empty_field_has_the_default_of_the_command() -> None:
    form, serializer = OrderForm({**FULL, "budget": "", "due": ""}), OrderSerializer(data={"name": "Ann"})
    assert form.is_valid(), form.errors
    assert serializer.is_valid(), serializer.errors
    assert command_of(Order, serializer.validated_data) == Order("Ann", colours=[], seed=7)
    order = command_of(Order, form.cleaned_data)
    assert (order.budget, order.due, order.share) == (None, None, 1.0)


def test_fields_stand_in_their_order_and_declared_ones_replace_those_of_the_command() -> None:
    form = OrderForm()
    rest = ["name", "colour", "size", "colours", "budget", "gift", "due", "seed"]
    assert list(form.fields) == ["count", "percent", "note", *rest]
    assert form.fields["note"].label == "Remark"
    rest = ["name", "count", "colour", "size", "colours", "budget", "share", "gift", "due"]
    assert list(OrderSerializer().fields) == ["seed", "extra", *rest]


def test_a_field_has_label_help_and_first_value_of_the_command() -> None:
    name, count = form_field(Order, "name"), form_field(Order, "count")
    assert (name.label, name.help_text, name.initial, name.required) == ("Name", "At most five.", None, True)
    assert (count.initial, count.required) == (1, True)
    assert [form_field(Order, name).required for name in ("gift", "due", "colours", "seed")] == [False] * 3 + [True]
    assert form_field(Order, "count", initial=3, required=False).initial == 3
    assert serializer_field(Order, "count").help_text == "How many."


@pytest.mark.parametrize("share", ["nan", "inf", "-1e400", 1.01, -0.01])
def test_a_share_that_is_no_number_within_its_bounds_is_refused_by_its_field(share: Any) -> None:
    serializer = OrderSerializer(data={"name": "Ann", "share": share})
    assert not serializer.is_valid()
    assert set(serializer.errors) == {"share"}
    with pytest.raises(forms.ValidationError):
        form_field(Order, "share").clean(str(share))


def test_a_bound_that_a_form_would_not_check_is_refused() -> None:
    @dataclass
    class Other:
        above: Annotated[int, Field(gt=0)] = 1

    with pytest.raises(TypeError, match="no form can check"):
        form_field(Other, "above")
