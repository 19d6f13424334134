"""Data of the grading pages, read in a fixed number of queries, without anything that a blinded role must not see.

Pages get these rows, never a `Response` or a `Candidate`, so that no template can show their other fields.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from annotation.models import Adjudication, Amendment, Assignment, Check, Decision, Outcome, Ruling
from annotation.selectors.queue_places import graded_queue, up_to
from annotation.selectors.review_rounds import (
    REVIEWED_FIELDS,
    TO_REVIEW,
    EarlierAmendment,
    Exchange,
    decisions_before,
    earlier_amendments,
    earlier_exchanges,
    review_requests,
)
from annotation.selectors.reviews import AmendedLine, amendments_of
from annotation.selectors.text_blocks import Block, blocks
from annotation.services.conflicts import Vote, accepted_votes
from consilium.core.i18n import translate
from rubrics.axes import PREFIX, axis_word
from rubrics.models import Case as ClinicalCase
from rubrics.models import RubricItem


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the conversation that led to the response."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class ReadingPane:
    """Texts of the left pane, for the reader. ``language`` is that of the case, or empty."""

    turns: tuple[Turn, ...]
    blocks: tuple[Block, ...]
    language: str


def reading_of(case: ClinicalCase, text: str) -> ReadingPane:
    """The conversation of ``case`` and the response ``text``, ready for the template."""
    turns = tuple(Turn(turn.get("role", "user"), turn.get("content", "")) for turn in case.conversation)
    return ReadingPane(turns, tuple(blocks(text)), case.language)


@dataclass(frozen=True, slots=True)
class CriterionLine:
    """A criterion of the list, the same for every reader."""

    id: int
    number: int
    text: str
    points: int
    axis: str
    language: str

    @property
    def label(self) -> str:
        """The row's name for screen readers."""
        return _("Criterion %(number)s") % {"number": self.number}

    @property
    def outcome_label(self) -> str:
        """The name of the row's group of buttons for screen readers."""
        return _("Outcome of criterion %(number)s") % {"number": self.number}

    @property
    def signed_points(self) -> str:
        """The points with sign as in print: ``+8``, ``−6``."""
        return f"+{self.points}" if self.points > 0 else str(self.points).replace("-", "\N{MINUS SIGN}")


def criterion_lines(rubric: int, criteria: Sequence[int] | None, language: str) -> list[CriterionLine]:
    """Criteria of a rubric (id) in order; only ``criteria`` where given, which keep their numbers in the rubric."""
    items = RubricItem.objects.filter(rubric=rubric).order_by("position")
    if criteria is not None:
        items = items.filter(criterion__in=criteria)
    return [
        CriterionLine(criterion, number, text, points, _axis(tags), language)
        for criterion, number, text, points, tags in items.values_list(
            "criterion_id", "position", "criterion__text", "points", "tags"
        )
    ]


def _axis(tags: Sequence[str]) -> str:
    for tag in tags:
        if tag.startswith(PREFIX):
            return str(translate(axis_word(tag.removeprefix(PREFIX))))
    return ""


# Grading ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GradingRow:
    """A criterion and its annotator's decision so far."""

    line: CriterionLine
    outcome: str = ""
    borderline: bool = False
    note: str = ""
    evidence: list[dict[str, Any]] = field(default_factory=list)
    version: int = 0
    saved_at: datetime | None = None
    amended: AmendedLine | None = None  # the amendment of the last check, if any
    review_request: str = ""  # the line with which the check of the round before asked to review the criterion
    answer: str = ""  # of the annotator, to that line
    before: GradingRow | None = None  # the decision of the round before, if there was one
    exchanges: Sequence[Exchange] = ()  # of the checks before that, the earliest first

    @property
    def evidence_json(self) -> str:
        """The evidence for the page's script."""
        return json.dumps([{"start": span["start"], "end": span["end"]} for span in self.evidence])

    @property
    def quoted_json(self) -> str:
        """The evidence with the quoted text."""
        return json.dumps(self.evidence)

    @property
    def flagged(self) -> bool:
        """Whether the decision deserves a second look before the work is handed in."""
        return self.borderline or self.outcome == Outcome.CANNOT_ASSESS

    @property
    def changed(self) -> bool:
        """Whether the annotator changed the decision since the round before."""
        return self.before is not None and any(
            getattr(self, name) != getattr(self.before, name) for name in REVIEWED_FIELDS
        )

    @property
    def before_json(self) -> str:
        """The decision of the round before for the page's script, which sees whether a criterion was reviewed."""
        before = self.before or GradingRow(self.line)
        spans = [{"start": span["start"], "end": span["end"]} for span in before.evidence]
        state = {"outcome": before.outcome, "borderline": before.borderline, "note": before.note, "evidence": spans}
        return json.dumps(state)


def grading_row(line: CriterionLine, decision: Decision | None) -> GradingRow:
    """The row of a criterion; ``decision`` is None if nothing was saved."""
    if decision is None:
        return GradingRow(line)
    return GradingRow(
        line,
        decision.outcome or "",
        decision.borderline,
        decision.note,
        decision.evidence,
        decision.version,
        decision.updated_at,
        answer=decision.answer,
    )


def grading_rows(assignment: Assignment) -> list[GradingRow]:
    """All rows of the current round."""
    decisions = {
        row.criterion_id: row for row in Decision.objects.filter(assignment=assignment, round=assignment.round)
    }
    lines = criterion_lines(assignment.rubric_id, assignment.criteria, assignment.case.language)
    rows = [grading_row(line, decisions.get(line.id)) for line in lines]
    if assignment.round == 1 and assignment.status != Assignment.Status.ACCEPTED:
        return rows  # no check has ended
    amended = amendments_of(assignment)
    rows = [replace(row, amended=amended.get(row.line.id)) for row in rows]
    return _beside_former_round(rows, assignment, assignment.round)


def _beside_former_round(rows: list[GradingRow], assignment: Assignment, number: int) -> list[GradingRow]:
    """``rows`` of round ``number`` with the decisions of the round before, and what its check asked to review."""
    if number == 1:
        return rows
    requests, before = review_requests(assignment, number), decisions_before(assignment, number)
    exchanges = earlier_exchanges(assignment, number)
    return [
        replace(
            row,
            review_request=requests.get(row.line.id, ""),
            before=grading_row(row.line, before[row.line.id]) if row.line.id in before else None,
            exchanges=exchanges.get(row.line.id, ()),
        )
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """The annotator's position in the batch: "Response 17 of 40"."""

    position: int
    total: int
    handed_in: int


def queue_place(assignment: Assignment) -> QueuePlace:
    """Place of the assignment in its annotator's own queue."""
    rows = graded_queue(batch=assignment.batch_id, annotator=assignment.annotator_id, of=assignment.pk)
    place = Count("pk", filter=up_to(assignment.position, assignment.pk))
    counts = rows.aggregate(total=Count("pk"), open=Count("pk", filter=Q(status__in=Assignment.OPEN)), place=place)
    return QueuePlace(counts["place"], counts["total"], counts["total"] - counts["open"])


@dataclass(frozen=True, slots=True)
class Return:
    """Why the work was last sent back: the note, which may be empty, and how many criteria to review."""

    note: str
    n_to_review: int


def last_return(assignment: Assignment) -> Return | None:
    """What the checker wrote when the work was last sent back; None unless it is with its annotator because of that."""
    if assignment.status != Assignment.Status.RETURNED:
        return None
    rows = Check.objects.filter(assignment=assignment, result=Check.Result.RETURNED)
    row = rows.order_by("-round").values_list("note", "n_to_review").first()
    return Return(*row) if row else None


# Checking -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A criterion, the annotator's decision, and the checker's amendment (``outcome`` empty: none)."""

    line: CriterionLine
    given: GradingRow
    outcome: str = ""
    reason: str = ""
    version: int = 0  # of the saved row, even if it was taken back; 0: never saved
    client_id: UUID | None = None
    saved_at: datetime | None = None
    to_review: bool = False  # the annotator is to review the criterion; `reason` says what, and `outcome` is empty
    earlier: EarlierAmendment | None = None  # of a round that was returned; it is no part of this round

    @property
    def effective(self) -> str:
        """The outcome that counts if the work is accepted now."""
        return self.outcome or self.given.outcome

    @property
    def choice(self) -> str:
        """What the checker has chosen, as the page sends it: an outcome, or `TO_REVIEW`."""
        return TO_REVIEW if self.to_review else self.effective

    @property
    def again(self) -> bool:
        """Whether a later round is about this criterion: its review was asked for, or the decision is another now.

        Also where the annotator kept a decision that was amended in an earlier round.
        """
        return bool(self.given.review_request) or self.given.changed or self.kept

    @property
    def kept(self) -> bool:
        """Whether the annotator's decision still differs from the amendment of an earlier round."""
        return self.earlier is not None and self.earlier.outcome != self.given.outcome

    @property
    def repeated(self) -> bool:
        """Whether the amendment is that of the earlier round, with the same reason."""
        return self.earlier is not None and (self.outcome, self.reason) == (self.earlier.outcome, self.earlier.reason)


def check_rows(assignment: Assignment, criterion: int | None = None, *, number: int | None = None) -> list[CheckRow]:
    """Rows of the round under check, or of round ``number``; only that of ``criterion`` where given."""
    number = assignment.round if number is None else number
    decisions = Decision.objects.filter(assignment=assignment, round=number)
    amendments = Amendment.objects.filter(check_row__assignment=assignment, check_row__round=number)
    criteria = assignment.criteria
    if criterion is not None:
        decisions, amendments = decisions.filter(criterion=criterion), amendments.filter(criterion=criterion)
        criteria = [criterion]
    decisions_by_criterion = {row.criterion_id: row for row in decisions}
    over = {row.criterion_id: row for row in amendments}
    lines = criterion_lines(assignment.rubric_id, criteria, assignment.case.language)
    given = [grading_row(line, decisions_by_criterion.get(line.id)) for line in lines]
    earlier = earlier_amendments(assignment, number)
    rows = []
    for row in _beside_former_round(given, assignment, number):
        amendment = over.get(row.line.id)
        to_review = amendment is not None and amendment.to_review
        rows.append(
            CheckRow(
                row.line,
                row,
                amendment.outcome if amendment else "",
                amendment.reason if amendment and (amendment.outcome or to_review) else "",
                to_review=to_review,
                earlier=earlier.get(row.line.id),
                **_saved(amendment),
            )
        )
    return rows


def _saved(row: Amendment | Ruling | None) -> dict[str, Any]:
    return {} if row is None else {"version": row.version, "client_id": row.client_id, "saved_at": row.updated_at}


# Adjudication -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Side:
    """One rater under a letter. If the rater is a whole group, ``votes`` holds the votes of all its annotators."""

    letter: str
    outcome: str
    votes: list[Vote]


@dataclass(frozen=True, slots=True)
class AdjudicationRow:
    """A criterion, the raters' votes, and the ruling (``outcome`` empty: none yet)."""

    line: CriterionLine
    sides: list[Side]
    in_conflict: bool
    outcome: str = ""
    reason: str = ""
    version: int = 0  # of the saved row, even if it was taken back; 0: never saved
    client_id: UUID | None = None
    saved_at: datetime | None = None

    @property
    def evidence_json(self) -> str:
        """The evidence of all raters for the page's script, each under its rater's letter."""
        return json.dumps(
            [
                {"start": span["start"], "end": span["end"], "letter": side.letter}
                for side in self.sides
                for vote in side.votes
                for span in vote.evidence
            ]
        )


def adjudication_rows(
    adjudication: Adjudication, *, everything: bool, criterion: int | None = None
) -> list[AdjudicationRow]:
    """Rows in conflict, or all rows that the raters decided; only that of ``criterion`` where given."""
    by_side = _votes_by_side(adjudication)
    # Each item has fixed letters, drawn by a keyed hash so that they reveal neither the order of work nor ids.
    letters = dict(zip(sorted(by_side, key=lambda key: _shuffle(adjudication, key)), "ABCDEFGHIJKLMNOP", strict=False))
    rulings = {row.criterion_id: row for row in Ruling.objects.filter(adjudication=adjudication)}
    conflicts = set(adjudication.criteria)
    criteria = [criterion] if criterion is not None else (None if everything else sorted(conflicts))
    rows = []
    for line in criterion_lines(adjudication.rubric_id, criteria, adjudication.response.case.language):
        sides = [
            Side(letters[key], _together(votes[line.id]), votes[line.id])
            for key, votes in by_side.items()
            if line.id in votes
        ]
        if not sides:
            continue
        ruling = rulings.get(line.id)
        rows.append(
            AdjudicationRow(
                line,
                sorted(sides, key=lambda side: side.letter),
                line.id in conflicts,
                ruling.outcome if ruling else "",
                ruling.reason if ruling else "",
                **_saved(ruling),
            )
        )
    return rows


def _votes_by_side(adjudication: Adjudication) -> dict[str, dict[int, list[Vote]]]:
    response, rubric = adjudication.response, adjudication.rubric
    if adjudication.other_group is None:
        within: dict[str, dict[int, list[Vote]]] = {}
        votes = accepted_votes(response=response, rubric=rubric, group=adjudication.group)
        for criterion, cast in votes.items():
            for vote in cast:
                within.setdefault(vote.assignment, {})[criterion] = [vote]
        return within
    between = {}
    for group in (adjudication.group, adjudication.other_group):
        votes = accepted_votes(response=response, rubric=rubric, group=group)
        within_rows = Adjudication.objects.filter(response=response, rubric=rubric, group=group, other_group=None)
        settled = Ruling.objects.filter(adjudication__in=within_rows, final_at__isnull=False)
        for criterion, outcome, reason in settled.values_list("criterion_id", "outcome", "reason"):
            votes[criterion] = [Vote("", outcome, reason, False, [], "")]
        between[group.public_id] = votes
    return between


def _together(votes: Sequence[Vote]) -> str:
    """The outcome that most votes of a side have; empty on a tie."""
    counts: dict[str, int] = {}
    for vote in votes:
        counts[vote.outcome] = counts.get(vote.outcome, 0) + 1
    best = sorted(counts.values())[-2:]
    if len(best) == 2 and best[0] == best[1]:
        return ""
    return max(counts, key=lambda outcome: counts[outcome])


def _shuffle(adjudication: Adjudication, side: str) -> str:
    return salted_hmac("annotation.sides", f"{adjudication.public_id}/{side}").hexdigest()


def last_save(rows: Sequence[GradingRow]) -> datetime | None:
    """When the annotator last saved anything in this round."""
    return max((row.saved_at for row in rows if row.saved_at is not None), default=None)
