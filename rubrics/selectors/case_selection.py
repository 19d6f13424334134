"""Which cases of a benchmark are meant: the one filter of cases that the list of cases, batches, audits and slices use.

A filter is a set of conditions that a case must all meet. Where a field takes several values, a case meets it with any
of them, but for ``all_tags`` and ``candidates``, which ask for each. A tag of a case is its own or one that physicians
agreed on. Lengths are in code points.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from django.db.models import BooleanField, Exists, F, Func, IntegerField, OuterRef, Q, QuerySet, Value
from django.db.models.lookups import GreaterThanOrEqual, LessThanOrEqual
from django.utils.translation import gettext_lazy
from pydantic import Field
from pydantic.dataclasses import dataclass as command

from consilium.core.commands import Label
from consilium.core.labels import STATUS_LABELS
from consilium.core.language_tags import MAX_LANGUAGE_LENGTH
from consilium.core.limits import MAX_KEY_LENGTH, MAX_TAG_LENGTH
from rubrics.models import Case, Response, Rubric

# Searches the key and texts of the turns in lower case, a column that only PostgreSQL knows (migration 0009). If there
# is a match, the text before it is shorter than the whole; `strpos` would spend a quarter of its time on counting the
# characters of that text.
SAYS = """octet_length(split_part("rubrics_case"."words", lower(%(expressions)s COLLATE "default") COLLATE "C", 1))
    < octet_length("rubrics_case"."words")"""
# The states of a case's rubric; besides a published one there may be a draft of the next version.
STATES = {
    "none": gettext_lazy("No rubric"),
    "draft": STATUS_LABELS["draft"],
    "in_review": STATUS_LABELS["in_review"],
    "published": STATUS_LABELS["published"],
    "excluded": gettext_lazy("Excluded"),
}
NONE = "none"  # in place of a value: cases without one
MAX_SEARCH_LENGTH = 200
MAX_MEASURE = 10_000_000

Tag = Annotated[str, Field(max_length=MAX_TAG_LENGTH)]
Code = Annotated[str, Field(max_length=MAX_LANGUAGE_LENGTH)]
Bound = Annotated[int | None, Field(ge=0, le=MAX_MEASURE)]


def user_turns_sql(conversation: str) -> str:
    """How many turns of the user the column ``conversation`` has."""
    turns = f"jsonb_array_elements({conversation}) AS turn"
    return f"(SELECT count(*) FROM {turns} WHERE turn->>'role' = 'user')::int4"


def characters_sql(conversation: str) -> str:
    """How many code points the turns of the column ``conversation`` have together."""
    turns = f"jsonb_array_elements({conversation}) AS turn"
    return f"COALESCE((SELECT sum(length(turn->>'content')) FROM {turns}), 0)::int4"


@command(frozen=True, slots=True)
class CaseSelection:
    """Which cases of a benchmark are meant; an empty field leaves nothing out."""

    text: Annotated[
        str,
        Field(max_length=MAX_SEARCH_LENGTH, description="Part of the key or of the conversation."),
        Label(gettext_lazy("Search"), gettext_lazy("Short name or text")),
    ] = ""
    tags: Annotated[
        Sequence[Tag],
        Field(description="Cases with any of them."),
        Label(gettext_lazy("With any of these tags")),
    ] = ()
    all_tags: Annotated[
        Sequence[Tag],
        Field(description="Cases with each of them."),
        Label(gettext_lazy("With all of these tags")),
    ] = ()
    difficulties: Annotated[
        Sequence[Code], Field(description="low, medium, high or none."), Label(gettext_lazy("Difficulty"))
    ] = ()
    registers: Annotated[
        Sequence[Code], Field(description="lay, professional or none."), Label(gettext_lazy("Register"))
    ] = ()
    languages: Annotated[
        Sequence[Code], Field(description="Tags of BCP 47, or none."), Label(gettext_lazy("Language"))
    ] = ()
    state: Annotated[
        Literal["", "none", "draft", "in_review", "published", "excluded"],
        Field(description="Of the rubric."),
        Label(gettext_lazy("Rubric")),
    ] = ""
    candidates: Annotated[
        Sequence[Annotated[str, Field(max_length=MAX_KEY_LENGTH)]],
        Field(description="Names: cases with a response of each."),
        Label(gettext_lazy("With a response by each of these candidates")),
    ] = ()
    min_user_turns: Annotated[Bound, Label(gettext_lazy("Turns of the user, at least"))] = None
    max_user_turns: Annotated[Bound, Label(gettext_lazy("Turns of the user, at most"))] = None
    min_characters: Annotated[Bound, Label(gettext_lazy("Characters of the conversation, at least"))] = None
    max_characters: Annotated[Bound, Label(gettext_lazy("Characters of the conversation, at most"))] = None

    def narrow(self, cases: QuerySet[Case]) -> QuerySet[Case]:
        """``cases`` that meet every condition."""
        if self.text:
            cases = cases.filter(Func(Value(self.text), template=SAYS, output_field=BooleanField()))
        for field, values in (
            ("difficulty", self.difficulties),
            ("register", self.registers),
            ("language", self.languages),
        ):
            if values:
                cases = cases.filter(**{f"{field}__in": ["" if value == NONE else value for value in values]})
        if self.tags:
            cases = cases.filter(has_any_tag(self.tags))
        for tag in self.all_tags:
            cases = cases.filter(has_any_tag([tag]))
        if self.state:
            cases = cases.filter(in_state(self.state))
        for name in self.candidates:
            answers = Response.objects.filter(case=OuterRef("pk"), candidate__name=name)
            cases = cases.filter(Exists(answers))
        return self._by_measures(cases)

    def _by_measures(self, cases: QuerySet[Case]) -> QuerySet[Case]:
        for low, high, sql in (
            (self.min_user_turns, self.max_user_turns, user_turns_sql),
            (self.min_characters, self.max_characters, characters_sql),
        ):
            measure = Func(F("conversation"), template=sql("%(expressions)s"), output_field=IntegerField())
            if low is not None:
                cases = cases.filter(GreaterThanOrEqual(measure, low))
            if high is not None:
                cases = cases.filter(LessThanOrEqual(measure, high))
        return cases


def has_any_tag(tags: Iterable[str], prefix: str = "") -> Q:
    """Cases with any of ``tags``; ``prefix`` leads from the rows that are filtered to the case, as ``case__``."""
    names = list(tags)
    own: dict[str, Any] = {f"{prefix}tags__overlap": names}
    agreed: dict[str, Any] = {f"{prefix}label_tags__overlap": names}
    return Q(**own) | Q(**agreed)


def in_state(state: str) -> Q:
    """Cases whose rubric is in ``state``, one of `STATES`."""
    if state == "excluded":
        return Q(excluded_at__isnull=False)
    rubrics = Rubric.objects.filter(case=OuterRef("pk"), track="gold")
    if state == NONE:
        return Q(~Exists(rubrics), excluded_at=None)
    return Q(Exists(rubrics.filter(status=state)), excluded_at=None)
