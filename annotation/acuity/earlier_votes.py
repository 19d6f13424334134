"""What a physician in round 2 and an adjudicator may see of the votes on a case: how many, and notes, without names.

Groups stay independent: a physician sees the votes of their own group alone. An adjudicator sees those of all groups,
the panel, because a reference set takes the votes of all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q
from django.utils.translation import gettext as _

from annotation.models import CANNOT_TELL, FIRST_ROUND, LAST_ROUND, LabelAnswer, LabelQuestion, LabelTask

DOT = "●"


@dataclass(frozen=True, slots=True)
class VoteLine:
    """A level, the border of two levels, or why somebody could not tell, and how many votes it has."""

    label: str
    n: int

    @property
    def dots(self) -> str:
        """A dot for each vote."""
        return DOT * self.n


@dataclass(frozen=True, slots=True)
class RoundVotes:
    """The votes of one round on one case; ``notes`` are in the order of their texts, which tells nothing."""

    round: int
    lines: list[VoteLine]
    notes: list[str]

    @property
    def n(self) -> int:
        """How many physicians voted."""
        return sum(line.n for line in self.lines)


@dataclass(frozen=True, slots=True)
class EarlierVotes:
    """The votes of round 1 of a group on the case of a task of round 2, and the physician's own among them."""

    question: str  # public id
    votes: RoundVotes
    own: str  # in words
    own_note: str


def rounds_of(question: LabelQuestion, case_id: int) -> list[RoundVotes]:
    """The votes of each round on a case that has any, of all groups, in one query."""
    answers = _answers(question, case_id)
    rounds = (FIRST_ROUND, LAST_ROUND)
    by_round = {number: [answer for answer in answers if answer.task.round == number] for number in rounds}
    return [_round(question, number, own) for number, own in by_round.items() if own]


def earlier_votes(task: LabelTask) -> EarlierVotes | None:
    """What the page of a task of round 2 shows of round 1: its group's votes; None for a task of round 1."""
    if task.round == FIRST_ROUND:
        return None
    questions = LabelQuestion.objects.filter(
        public_id__in=task.batch.frame.get("questions", []), kind=LabelQuestion.Kind.LEVELS
    )
    question = questions.select_related("scale").first()
    if question is None:
        return None
    # A physician who came from another group sees their own vote there, and nothing else of that group.
    seen = Q(task__batch__group=task.batch.group_id) | Q(task__annotator=task.annotator_id)
    answers = [answer for answer in _answers(question, task.case_id, seen) if answer.task.round == FIRST_ROUND]
    own = next((answer for answer in answers if answer.task.annotator_id == task.annotator_id), None)
    others = _round(question, FIRST_ROUND, answers, without_note_of=own)
    labels = {choice["value"]: choice["label"] for choice in question.choices}
    words = _words(own, labels) if own else ""
    return EarlierVotes(question.public_id, others, words, own.note if own else "")


def _answers(question: LabelQuestion, case_id: int, seen: Q | None = None) -> list[LabelAnswer]:
    rows = LabelAnswer.objects.filter(question=question, task__case=case_id, task__status=LabelTask.Status.SUBMITTED)
    if seen is not None:
        rows = rows.filter(seen)
    # Where somebody voted twice, before that was refused, the vote that was handed in last counts.
    answers = {
        (answer.task.round, answer.task.annotator_id): answer
        for answer in rows.select_related("task").order_by("task__submitted_at", "pk")
    }
    return list(answers.values())


def _round(
    question: LabelQuestion, number: int, answers: Sequence[LabelAnswer], without_note_of: LabelAnswer | None = None
) -> RoundVotes:
    choices = question.choices
    labels = {choice["value"]: choice["label"] for choice in choices}
    counts = Counter((answer.value, answer.upper, answer.reason) for answer in answers)
    lines = []
    for place, choice in enumerate(choices):
        lines.append(VoteLine(choice["label"], counts[choice["value"], "", ""]))
        upper = choices[place + 1]["value"] if place + 1 < len(choices) else ""
        if upper and counts[choice["value"], upper, ""]:
            lines.append(VoteLine(_between(labels, choice["value"], upper), counts[choice["value"], upper, ""]))
    for reason in (*LabelAnswer.Reason.values, ""):
        if counts[CANNOT_TELL, "", reason]:
            lines.append(VoteLine(_cannot_tell(reason), counts[CANNOT_TELL, "", reason]))
    notes = sorted(answer.note for answer in answers if answer.note and answer is not without_note_of)
    return RoundVotes(number, lines, notes)


def _between(labels: dict[str, str], low: str, high: str) -> str:
    return f"{labels[low]} / {labels[high]}"


def _cannot_tell(reason: str) -> str:
    words = _("Cannot tell")
    return f"{words}: {LabelAnswer.Reason(reason).label}" if reason else words


def _words(answer: LabelAnswer, labels: dict[str, str]) -> str:
    if answer.value == CANNOT_TELL:
        return _cannot_tell(answer.reason)
    return _between(labels, answer.value, answer.upper) if answer.upper else labels[answer.value]
