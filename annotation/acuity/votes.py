"""Reads physicians' votes on how urgent cases are. Only those that were handed in count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from annotation.acuity.panel import PanelCase, panel_case
from annotation.models import CANNOT_TELL, FIRST_ROUND, LabelAnswer, LabelQuestion, LabelTask, Physician
from rubrics.acuity.scales import Scale
from rubrics.models import AcuityScale, Benchmark

VOTE_COLUMNS = ("case", "physician", "round", "level", "certainty", "note")  # as `import_votes` reads them
VOTE_TEXT = ("case", "physician", "note")


@dataclass(frozen=True, slots=True)
class CastVote:
    """A vote of one physician (the id of a user): from ``low`` to ``high``; both None where they cannot tell."""

    question: int
    case_id: int
    case: str
    physician: int
    low: int | None
    high: int | None
    reason: str
    certainty: int | None
    note: str
    round: int


def cast_votes(questions: Iterable[LabelQuestion], *, until: datetime | None = None) -> list[CastVote]:
    """The votes of all rounds on questions of one scale, by case, physician and round; those handed in by ``until``.

    One each: the one that was handed in last, where a physician voted on two questions on the scale.
    """
    latest = {(vote.case, vote.physician, vote.round): vote for vote in _handed_in(questions, until)}
    return [latest[key] for key in sorted(latest)]


def votes_by_question(questions: Iterable[LabelQuestion]) -> dict[int, list[CastVote]]:
    """The votes of round 1 on each question, by its id, in one query."""
    first = (vote for vote in _handed_in(questions, None) if vote.round == FIRST_ROUND)
    latest = {(vote.question, vote.case, vote.physician): vote for vote in first}
    votes: dict[int, list[CastVote]] = {}
    for key in sorted(latest):
        votes.setdefault(key[0], []).append(latest[key])
    return votes


def _handed_in(questions: Iterable[LabelQuestion], until: datetime | None) -> Iterator[CastVote]:
    """All votes in the order in which they were handed in."""
    places = {
        question.pk: {level["value"]: place for place, level in enumerate(question.scale.levels)}
        for question in questions
        if question.scale is not None
    }
    rows = LabelAnswer.objects.filter(question__in=places, task__status=LabelTask.Status.SUBMITTED)
    if until is not None:
        rows = rows.filter(task__submitted_at__lte=until)
    fields = ("question_id", "task__case_id", "task__case__key", "task__annotator_id", "value", "upper")
    for question, case_id, case, physician, value, upper, *rest in rows.order_by(
        "task__submitted_at", "pk"
    ).values_list(*fields, "reason", "certainty", "note", "task__round"):
        low = None if value == CANNOT_TELL else places[question][value]
        high = places[question][upper] if upper else low
        yield CastVote(question, case_id, case, physician, low, high, *rest)


def questions_on(benchmark: Benchmark, scale: AcuityScale) -> list[LabelQuestion]:
    """All questions on the scale, retired ones too, in their order."""
    return list(
        LabelQuestion.objects.filter(benchmark=benchmark, scale=scale, kind=LabelQuestion.Kind.LEVELS).select_related(
            "scale"
        )
    )


def panels_of(votes: Iterable[CastVote], n_levels: int, round: int = FIRST_ROUND) -> dict[int, PanelCase]:
    """The votes of one round by the id of their case, with their figures."""
    by_case: dict[int, list[CastVote]] = {}
    for vote in votes:
        if vote.round == round:
            by_case.setdefault(vote.case_id, []).append(vote)
    return {
        case_id: panel_case(own[0].case, [(vote.low, vote.high) for vote in own], n_levels)
        for case_id, own in by_case.items()
    }


def panel_of(benchmark: Benchmark, scale: AcuityScale) -> dict[int, PanelCase]:
    """The panel of each case by its id: the votes of round 1 on all questions on the scale, one of each physician."""
    return panels_of(cast_votes(questions_on(benchmark, scale)), len(scale.levels))


def vote_rows(votes: Sequence[CastVote], benchmark: Benchmark, scale: Scale) -> Iterator[Sequence[object]]:
    """The rows of a file that ``import_votes`` takes, under the physicians' pseudonyms."""
    names = dict(Physician.objects.filter(benchmark=benchmark).values_list("user_id", "pseudonym"))
    for vote in votes:
        level = CANNOT_TELL if vote.low is None or vote.high is None else scale.named(vote.low, vote.high)
        yield vote.case, names.get(vote.physician, ""), vote.round, level, vote.certainty, vote.note
