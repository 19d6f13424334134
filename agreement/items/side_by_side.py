"""A response on which two raters differ, beside one to the same case on which they agree more, with their reasons.

Shows the current state: outcomes of both raters, their notes and evidence, the reasons of checkers and adjudicators,
and judges' explanations. The number of queries is fixed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.db.models import F

from agreement.counting.inputs import pairs_of
from agreement.counting.pairs import PairStatus
from agreement.items.inputs import groups_among
from annotation.models import Amendment, Decision, ExpertGroup, Ruling
from annotation.selectors.text_blocks import Block, TextPiece, blocks
from consilium.core.ratings import Span
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark, Criterion, Response, Rubric, RubricItem
from scoring.selectors.raters import Rater, groups_of_consensus, is_consensus

Place = tuple[int, int]  # of a piece of a text: where it begins and ends
_AGREE = (PairStatus.TP, PairStatus.TN)


@dataclass(frozen=True, slots=True)
class Remark:
    """What an annotator, a checker, an adjudicator or a judge (``part``) wrote about a decision."""

    part: str
    who: str
    outcome: str
    note: str = ""
    borderline: bool = False
    quotes: tuple[str, ...] = ()


@dataclass(slots=True)
class RatedCriterion:
    """Both raters' outcomes on one criterion of one response; ``status`` is differ, agree, left_out, or empty."""

    a: str = ""
    b: str = ""
    status: str = ""
    remarks: dict[str, list[Remark]] = field(default_factory=lambda: {"a": [], "b": []})


@dataclass(slots=True)
class CriterionRow:
    """A criterion with its ratings on both responses."""

    position: int
    text: str
    points: int
    this: RatedCriterion
    other: RatedCriterion


@dataclass(frozen=True, slots=True)
class MarkedPiece:
    """A piece of the response as `annotation.selectors.text_blocks.TextPiece`, and whether it was given as evidence."""

    text: str
    style: str
    marked: bool


@dataclass(frozen=True)
class MarkedBlock:
    """A block of the response with its lines of marked pieces; ``rows`` are those of a table."""

    block: Block
    lines: list[list[MarkedPiece]]

    @property
    def rows(self) -> list[list[list[MarkedPiece]]]:
        """The cells of a table by row."""
        width = self.block.width or 1
        return [self.lines[at : at + width] for at in range(0, len(self.lines), width)]


def criterion_rows(
    benchmark: Benchmark, raters: tuple[Rater, Rater], this: Response, other: Response | None
) -> tuple[list[CriterionRow], dict[int, list[tuple[int, int]]]]:
    """The criteria that both raters decided on one of the responses, in the order of the rubric; and by the id of each
    response, the places in its text that were given as evidence. Only these responses are read.
    """
    shown = [this] if other is None else [this, other]
    answers = _answers(benchmark, raters, shown)
    spans: dict[int, list[tuple[int, int]]] = {response.pk: [] for response in shown}
    for response, criterion, side, remark, evidence in _remarks(benchmark, raters, shown):
        if (response, criterion) in answers:
            answers[response, criterion].remarks[side].append(remark)
            spans[response] += evidence
    rows = [
        CriterionRow(
            position=position,
            text=text,
            points=points,
            this=answers.get((this.pk, criterion), RatedCriterion()),
            other=answers.get((other.pk, criterion), RatedCriterion()) if other else RatedCriterion(),
        )
        for criterion, (position, points, text) in _criteria({criterion for _response, criterion in answers}).items()
    ]
    rows.sort(key=lambda row: (row.position == 0, row.position, row.text))
    return rows, spans


def _criteria(ids: set[int]) -> dict[int, tuple[int, int, str]]:
    """Each criterion's text, and its position and points in the newest rubric that holds it, 0 and 1 if none does."""
    criteria = {pk: (0, 1, text) for pk, text in Criterion.objects.filter(pk__in=ids).values_list("pk", "text")}
    shown = (Rubric.Status.PUBLISHED, Rubric.Status.SUPERSEDED)
    items = RubricItem.objects.filter(criterion__in=ids, rubric__status__in=shown).order_by("rubric__version", "pk")
    for pk, position, points in items.values_list("criterion", "position", "points"):
        criteria[pk] = position, points, criteria[pk][2]
    return criteria


def _answers(
    benchmark: Benchmark, raters: tuple[Rater, Rater], shown: Sequence[Response]
) -> dict[tuple[int, int], RatedCriterion]:
    answers = {}
    for response in shown:
        mine = pairs_of(benchmark, *raters, Span(response.pk, response.pk))
        for i, criterion in enumerate(mine.criterion.tolist()):
            status = int(mine.status[i])
            answers[response.pk, criterion] = RatedCriterion(
                a=Outcome(mine.a[i]).word,
                b=Outcome(mine.b[i]).word,
                status="agree"
                if status in _AGREE
                else "differ"
                if status <= PairStatus.MISSING_ON_NOT_MET
                else "left_out",
            )
    return answers


_Found = tuple[int, int, str, Remark, list[tuple[int, int]]]


def _remarks(benchmark: Benchmark, pair: tuple[Rater, Rater], shown: Sequence[Response]) -> Iterator[_Found]:
    """For each remark: response, criterion, which rater, the remark, and the places of its evidence in the text."""
    raters = dict(zip("ab", pair, strict=True))
    side_of_group, _names = groups_among(benchmark, *pair)
    physician = {
        rater.label.removeprefix("physician:").rpartition("@")[0]: side
        for side, rater in raters.items()
        if rater.label.startswith("physician:")
    }
    # A consensus: its side, by its two groups.
    pair_of_side = {side: groups_of_consensus(benchmark, rater.label) for side, rater in raters.items()}
    ids = dict(ExpertGroup.objects.filter(benchmark=benchmark).values_list("name", "pk"))
    members = {side: {ids[name] for name in names} for side, names in pair_of_side.items() if names}

    def side_of_consensus(*groups: int) -> str:
        return next((side for side, pair in members.items() if pair.issuperset(groups)), "")

    def side_of(group: int, pseudonym: str = "") -> str:
        return physician.get(pseudonym) or side_of_group.get(group) or side_of_consensus(group)

    decisions = (
        Decision.objects.filter(
            assignment__response__in=shown,
            assignment__purpose="work",
            assignment__submitted_at__isnull=False,
            assignment__annotator__pseudonyms__benchmark=benchmark,
            round=F("assignment__round"),
            outcome__isnull=False,
        )
        .exclude(assignment__status="released")
        .annotate(who=F("assignment__annotator__pseudonyms__pseudonym"), group=F("assignment__batch__group"))
        .select_related("assignment")
        .order_by("who", "pk")
    )
    for decision in decisions:
        side = side_of(decision.group, decision.who)
        spans = [(span["start"], span["end"]) for span in decision.evidence]
        quotes = tuple(span.get("quote", "") for span in decision.evidence)
        if side and (decision.note or quotes or decision.borderline):
            remark = Remark(
                "annotator", decision.who, decision.outcome or "", decision.note, decision.borderline, quotes
            )
            yield decision.assignment.response_id, decision.criterion_id, side, remark, spans
    amendments = Amendment.objects.filter(
        check_row__assignment__response__in=shown,
        check_row__round=F("check_row__assignment__round"),
        check_row__result="accepted",
    ).exclude(outcome="")
    columns = ("check_row__assignment__response", "criterion", "check_row__assignment__batch__group")
    for response, criterion, group, outcome, reason in amendments.order_by("pk").values_list(
        *columns, "outcome", "reason"
    ):
        if side := side_of(group):
            yield response, criterion, side, Remark("checker", "", outcome, reason), []
    rulings = Ruling.objects.filter(adjudication__response__in=shown, final_at__isnull=False)
    given = ("adjudication__response", "criterion", "adjudication__group", "adjudication__other_group")
    for response, criterion, group, other_group, outcome, reason in rulings.order_by("pk").values_list(
        *given, "outcome", "reason"
    ):
        side = side_of_consensus(group, other_group) if other_group else side_of(group)
        if side and _with_rulings(raters[side].label):
            yield response, criterion, side, Remark("adjudicator", "", outcome, reason), []
    fields = ("response_id", "criterion_id", "outcome", "explanation")
    for side, rater in raters.items():
        for judge in rater.judges:
            verdicts = judge.verdicts().filter(response__in=shown).exclude(explanation="").order_by("run", "replicate")
            for response, criterion, outcome, explanation in verdicts.values_list(*fields):
                yield response, criterion, side, Remark("judge", judge.judge_name, outcome, explanation), []


Remarks = dict[tuple[int, int], list[Remark]]


def remarks_of(benchmark: Benchmark, rater: Rater, shown: Sequence[Response]) -> tuple[Remarks, dict[int, list[Place]]]:
    """What was written about the decisions of one rater, by response and criterion, each remark once; and by the id of
    each response, the places in its text that were given as evidence.
    """
    remarks: Remarks = {}
    spans: dict[int, list[Place]] = {response.pk: [] for response in shown}
    for response, criterion, _side, remark, evidence in _remarks(benchmark, (rater, rater), shown):
        own = remarks.setdefault((response, criterion), [])
        if remark not in own:
            own.append(remark)
        spans[response] += evidence
    return remarks, spans


def _with_rulings(label: str) -> bool:
    """Whether adjudications are part of the rater's decisions."""
    return is_consensus(label) or label.endswith("@final")


def marked(text: str, spans: Sequence[tuple[int, int]]) -> list[MarkedBlock]:
    """The response in blocks, cut where a piece of evidence begins or ends; places outside the text mark nothing."""
    inside = bytearray(len(text) + 1)
    for start, end in spans:
        low, high = max(0, start), min(len(text), end)
        if low < high:
            inside[low:high] = b"\1" * (high - low)
    return [
        MarkedBlock(block, [[fragment for piece in line for fragment in _cut(piece, inside)] for line in block.lines])
        for block in blocks(text)
    ]


def _cut(piece: TextPiece, inside: bytearray) -> Iterator[MarkedPiece]:
    begin = 0
    for at in range(1, len(piece.text) + 1):
        here = inside[piece.start + begin]
        if at == len(piece.text) or inside[piece.start + at] != here:
            yield MarkedPiece(piece.text[begin:at], piece.style, bool(here))
            begin = at
