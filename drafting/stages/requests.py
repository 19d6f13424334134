"""The material of each stage's request, from its input, and how long its lists are. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from consilium.llm.staged import case_part
from drafting.stages import lists
from drafting.stages.answers import Lists
from drafting.stages.prompts import PLACES

Value = Mapping[str, Any]

# The text of each place, from the input. ``findings`` are sentences.
_TEXTS: Mapping[str, Callable[[Value], str]] = {
    "case": lambda value: case_part(value["conversation"]).text,
    "passages": lambda value: lists.passage_list(value["passages"]),
    "statements": lambda value: lists.statement_list(value["statements"]),
    "quotes": lambda value: lists.text_list(value["facts"], "words"),
    "needs": lambda value: lists.kind_list(value["needs"]),
    "axes": lambda value: lists.axis_list(value["axes"]),
    "criteria": lambda value: lists.criterion_list(value["criteria"]),
    "links": lambda value: lists.link_list(value["criteria"], numbers_of(value["facts"]), numbers_of(value["needs"])),
    "findings": lambda value: lists.words_list(value["findings"]),
}


def material_of(stage: str, value: Value) -> dict[str, str]:
    """The text of each place of a stage's request."""
    return {place: _facts(stage, value) if place == "facts" else _TEXTS[place](value) for place in PLACES[stage]}


def _facts(stage: str, value: Value) -> str:
    # Beside quotations the kind of a fact says nothing.
    return lists.text_list(value["facts"]) if "quotes" in PLACES[stage] else lists.kind_list(value["facts"])


def lists_of(value: Value) -> Lists:
    """How long the lists of a request are."""
    names = ("passages", "facts", "needs", "criteria")
    counts = {name: len(value.get(name, ())) for name in names}
    most = {"most": value["most"]} if "most" in value else {}
    return Lists(**counts, axes=tuple(value.get("axes", ())), **most)


def numbers_of(rows: Any) -> list[int]:
    """The numbers within the case of the items of a list, in the order of the list."""
    return [row["number"] for row in rows]
