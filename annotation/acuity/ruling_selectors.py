"""Reads of rulings: the list of an adjudicator, and what those who run the benchmark see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from accounts.models import User
from annotation import access
from annotation.models import AcuityRuling, LabelQuestion, Physician, RulingRequest
from rubrics.models import Benchmark


@dataclass(frozen=True, slots=True)
class RulingLists:
    """The cases that wait for a ruling of an adjudicator, in their shuffled order, and those that they ruled on."""

    waiting: list[RulingRequest]
    done: list[RulingRequest]


def ruling_lists(user: User, benchmark: Benchmark | None = None) -> RulingLists:
    """Both lists, in one benchmark or in all."""
    waiting, done = access.open_ruling_requests(user), access.own_rulings(user)
    if benchmark is not None:
        waiting, done = (rows.filter(group__benchmark=benchmark) for rows in (waiting, done))
    return RulingLists(*(list(rows.select_related("group__benchmark", "question")) for rows in (waiting, done)))


def level_words(question: LabelQuestion, low: int | None, high: int | None) -> str:
    """The level of a ruling or a reference in words, both on a border."""
    if low is None or high is None:
        return _("Stays ambiguous")
    labels = [choice["label"] for choice in question.choices]
    return " / ".join(labels[place] for place in dict.fromkeys((low, high)))


@dataclass(frozen=True, slots=True)
class RulingLine:
    """A case that a ruling was asked for, and the ruling, if there is one; names are for staff alone."""

    case: str
    group: str
    requested_at: datetime
    ruling: AcuityRuling | None
    adjudicator: str  # pseudonym
    level: str  # in words

    @property
    def reason(self) -> str:
        """The reason in words; empty without a ruling."""
        return str(self.ruling.get_reason_display()) if self.ruling else ""


def ruling_lines(question: LabelQuestion) -> list[RulingLine]:
    """All requests about a question with their rulings, by key."""
    names = dict(Physician.objects.filter(benchmark=question.benchmark_id).values_list("user_id", "pseudonym"))
    rulings = {ruling.case_id: ruling for ruling in AcuityRuling.objects.filter(question=question)}
    requests = RulingRequest.objects.filter(question=question).select_related("case", "group")
    lines = []
    for request in requests.order_by("case__key"):
        ruling = rulings.get(request.case_id)
        lines.append(
            RulingLine(
                request.case.key,
                request.group.name,
                request.requested_at,
                ruling,
                names.get(ruling.adjudicator_id, "") if ruling else "",
                level_words(question, ruling.low, ruling.high) if ruling else "",
            )
        )
    return lines


RULING_COLUMNS = ("case", "state", "low", "high", "reason", "note", "adjudicator", "ruled_at", "requested_at", "group")
RULING_TEXT = ("case", "note", "adjudicator", "group")


def ruling_rows(question: LabelQuestion) -> Iterator[Sequence[object]]:
    """Rows of `RULING_COLUMNS`; the state is ``waiting``, ``level`` or ``stays-ambiguous``."""
    values = [choice["value"] for choice in question.choices]
    for line in ruling_lines(question):
        ruling = line.ruling
        ends = ["", ""]
        if ruling is not None and ruling.low is not None and ruling.high is not None:
            ends = [values[ruling.low], values[ruling.high]]
        state = "waiting" if ruling is None else "stays-ambiguous" if ruling.stays_ambiguous else "level"
        yield (
            *(line.case, state, *ends),
            *((ruling.reason, ruling.note) if ruling else ("", "")),
            *(line.adjudicator, ruling.created_at.isoformat() if ruling else ""),
            *(line.requested_at.isoformat(), line.group),
        )
