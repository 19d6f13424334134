"""Cases by a filter, for named slices: every filter of the list of cases, tags in combination, lengths, and levels."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field
from pydantic.dataclasses import dataclass as command

from agreement.acuity.parameters import reference_set_of
from agreement.composition.dimensions import levels_of
from agreement.reports.parameters import WrongParameters
from annotation.models import ReferenceSet
from annotation.services.known_terms import refuse_unknown
from consilium.core.commands import Label, command_fields
from consilium.core.i18n import listed
from consilium.core.languages import language_name
from rubrics.models import Benchmark, Case, Difficulty, Register
from rubrics.selectors.case_selection import NONE, STATES, CaseSelection

# A slice has cases that count, so that excluded ones are in none.
SLICE_STATES = tuple(state for state in STATES if state != "excluded")


@command(frozen=True, slots=True)
class SliceFilter(CaseSelection):
    """Which cases a slice keeps; an empty field leaves nothing out. ``levels`` are those of ``reference_set``."""

    levels: Annotated[
        Sequence[Annotated[str, Field(max_length=200)]],
        Field(description="Of a reference set: level, LOW|HIGH between two, or ambiguous."),
        Label(gettext_lazy("Reference level")),
    ] = ()
    reference_set: Annotated[
        int | None,
        Field(ge=1, description="The number of a reference set; the newest unless given."),
        Label(gettext_lazy("Reference set")),
    ] = None

    def stored(self) -> dict[str, Any]:
        """The fields that leave something out, as JSON values."""
        values = {name: getattr(self, name) for name in command_fields(SliceFilter)}
        plain = {name: list(value) if isinstance(value, list | tuple) else value for name, value in values.items()}
        return {name: value for name, value in plain.items() if value not in (None, "", [])}


@dataclass(frozen=True, slots=True)
class Matching:
    """The cases that match a filter: ``case_ids`` in ascending order, of ``n_cases`` that count in the benchmark.

    ``n_excluded`` cases match too but are excluded. ``filter`` is what is stored, ``keys`` are those of the cases.
    """

    filter: dict[str, Any]
    case_ids: list[int]
    keys: list[str]
    n_cases: int
    n_excluded: int
    digest: str


def match(*, benchmark: Benchmark, filter: SliceFilter) -> Matching:
    """The cases that match now, without keeping anything. `WrongParameters`, `FaultsRefused` where there are none or
    the filter names what the benchmark does not have.
    """
    stored = filter.stored()
    if not stored.keys() - {"reference_set"}:
        raise WrongParameters(_("Choose at least one filter. All cases need no slice."))
    _refuse_codes(filter)
    refuse_unknown(
        benchmark,
        candidates=filter.candidates,
        tags=filter.tags,
        languages=[language for language in filter.languages if language != NONE],
        prefix="filter.",
    )
    refuse_unknown(benchmark, tags=filter.all_tags, prefix="filter.all_")
    queryset = filter.narrow(Case.objects.filter(benchmark=benchmark))
    if filter.levels:
        reference_set = reference_set_of(benchmark, filter.reference_set)
        queryset = queryset.filter(pk__in=_at_levels(reference_set, filter.levels))
        stored["reference_set"] = reference_set.number
    else:
        stored.pop("reference_set", None)
    rows = list(queryset.order_by("pk").values_list("pk", "key", "excluded_at"))
    kept = [(pk, key) for pk, key, excluded_at in rows if excluded_at is None]
    if not kept:
        raise WrongParameters(_("No cases match this filter."))
    keys = sorted(key for _pk, key in kept)
    content = json.dumps([stored, keys], ensure_ascii=False, sort_keys=True)
    return Matching(
        filter=stored,
        case_ids=[pk for pk, _key in kept],
        keys=keys,
        n_cases=Case.objects.included().filter(benchmark=benchmark).count(),
        n_excluded=len(rows) - len(kept),
        digest=hashlib.sha256(content.encode()).hexdigest(),
    )


def _refuse_codes(filter: SliceFilter) -> None:
    """`WrongParameters` where a code is none of those that there are, or a lower bound is above the upper one."""
    for field, values, known in (
        ("difficulties", filter.difficulties, (*Difficulty.values, NONE)),
        ("registers", filter.registers, (*Register.values, NONE)),
        ("state", [filter.state] if filter.state else [], SLICE_STATES),
    ):
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise WrongParameters(
                _("“%(value)s” is not one of: %(known)s.") % {"value": unknown[0], "known": ", ".join(known)},
                field=f"filter.{field}",
            )
    for low, high, field in (
        (filter.min_user_turns, filter.max_user_turns, "max_user_turns"),
        (filter.min_characters, filter.max_characters, "max_characters"),
    ):
        if low is not None and high is not None and low > high:
            raise WrongParameters(_("The minimum is above the maximum."), field=f"filter.{field}")


def _at_levels(reference_set: ReferenceSet, levels: Sequence[str]) -> list[int]:
    """The cases whose reference is one of ``levels``."""
    level_of, names = levels_of(reference_set)
    unknown = sorted(set(levels) - set(names))
    if unknown:
        raise WrongParameters(
            _("“%(value)s” is not one of: %(known)s.") % {"value": unknown[0], "known": ", ".join(names)},
            field="filter.levels",
        )
    return [case for case, level in level_of.items() if level in levels]


def filter_in_words(stored: dict[str, Any]) -> list[tuple[str, str]]:
    """What a stored filter asks for: the label of each of its fields, and its value in words."""
    words = []
    fields = command_fields(SliceFilter)
    for name, value in stored.items():
        label = next((part.label for part in fields[name].metadata if isinstance(part, Label)), name)
        values = value if isinstance(value, list) else [value]
        words.append((str(label), listed(_value_in_words(name, each) for each in values)))
    return words


def _value_in_words(name: str, value: Any) -> str:
    if value == NONE and name in ("difficulties", "registers", "languages"):
        return _("Not given")
    if name == "languages":
        return language_name(value)
    choices: dict[str, Any] = {
        "difficulties": dict(Difficulty.choices),
        "registers": dict(Register.choices),
        "state": STATES,
    }.get(name, {})
    return str(choices.get(value, f"{value:,}" if isinstance(value, int) else value))
