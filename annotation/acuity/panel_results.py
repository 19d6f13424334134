"""Results of a question on a scale: the panel of each case, and how far the physicians agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan

from annotation.acuity.moves import CaseMoves, moves_of
from annotation.acuity.outstanding import open_tasks
from annotation.acuity.panel import (
    AmbiguousRule,
    PanelAgreement,
    PanelCase,
    PanelStatus,
    panel_agreement,
    panel_case,
)
from annotation.acuity.votes import CastVote, cast_votes, panels_of
from annotation.models import FIRST_ROUND, LabelAnswer, LabelQuestion
from consilium.statistics.estimate import Figure
from rubrics.acuity.scales import Scale
from rubrics.acuity.stored import scale_of
from rubrics.models import Case

AGREED = (PanelStatus.CLEAR, PanelStatus.BOUNDARY)


@dataclass(frozen=True, slots=True)
class PanelResult:
    """A case, its votes, and what they say; ``n_annotators`` is how many physicians were asked."""

    id: int
    key: str
    public_id: str
    is_stub: bool
    n_annotators: int
    panel: PanelCase
    status: PanelStatus

    @property
    def shares(self) -> list[float | None]:
        """The distribution q by level; None without a vote."""
        return [float(share) for share in self.panel.q] if self.panel.m else [None] * len(self.panel.q)

    @property
    def n_between(self) -> int:
        """How many of the votes lie between two levels."""
        return int((self.panel.low != self.panel.high).sum())

    @property
    def dispersion(self) -> float | None:
        """None with fewer than two votes."""
        return None if isnan(self.panel.dispersion) else self.panel.dispersion

    @property
    def entropy(self) -> float | None:
        """The normalised entropy of q; None without a vote."""
        return self.panel.entropy if self.panel.m else None


@dataclass(frozen=True)
class LevelResults:
    """All cases that a question on a scale was asked about, in the order of their keys."""

    question: LabelQuestion
    scale: Scale
    cases: list[PanelResult]
    votes: list[CastVote]  # of round 1
    later_votes: list[CastVote] = field(default_factory=list)  # of round 2
    rule: AmbiguousRule = field(default_factory=AmbiguousRule)

    @property
    def answers(self) -> int:
        """Votes of round 1 handed in, those who cannot tell among them."""
        return len(self.votes)

    @cached_property
    def state_counts(self) -> Counter[str]:
        """How many cases have each status."""
        return Counter(str(case.status) for case in self.cases)

    @property
    def agreed(self) -> int:
        """How many cases have a reference that is not ambiguous."""
        return sum(case.status in AGREED for case in self.cases)

    @cached_property
    def levels(self) -> list[tuple[str, str, float, int]]:
        """For each level: value, label, votes (half a one for a border), and cases whose reference it is alone."""
        votes = [0.0] * len(self.scale)
        references: Counter[int] = Counter()
        for case in self.cases:
            for share, place in zip(case.shares, range(len(self.scale)), strict=True):
                votes[place] += (share or 0.0) * case.panel.m
            if case.status == PanelStatus.CLEAR:
                references[case.panel.reference_low] += 1
        return [
            (choice["value"], choice["label"], votes[place], references[place])
            for place, choice in enumerate(self.question.choices)
        ]

    @cached_property
    def reasons(self) -> list[tuple[str, int]]:
        """Why physicians could not tell, and how many; those without a reason last."""
        given = Counter(vote.reason for vote in self.votes if vote.low is None)
        labels = dict(LabelAnswer.Reason.choices)
        return [(str(labels.get(reason, "")), given[reason]) for reason in (*labels, "") if given[reason]]

    @cached_property
    def panel_agreement(self) -> PanelAgreement:
        """The figures over all cases."""
        return panel_agreement([case.panel for case in self.cases], len(self.scale))

    @property
    def agreement(self) -> dict[str, Figure]:
        """The figures of agreement by name."""
        figures = self.panel_agreement
        return {"alpha_ordinal_single": figures.single, "alpha_set": figures.sets}

    @property
    def alpha(self) -> Figure:
        """The alpha of all votes, those between two levels among them."""
        return self.panel_agreement.sets

    @cached_property
    def moves(self) -> list[CaseMoves]:
        """How the votes on each case of a second round moved."""
        return moves_of(self.votes, self.later_votes, len(self.scale))

    def reference(self, case: PanelResult) -> str:
        """The label of the reference of a case, of both levels on a border; empty without a vote."""
        return self.words(case.panel)

    def words(self, panel: PanelCase) -> str:
        """The label of the reference of a panel, as in `reference`."""
        if not panel.m:
            return ""
        labels = [choice["label"] for choice in self.question.choices]
        ends = (panel.reference_low, panel.reference_high)
        return " / ".join(labels[place] for place in dict.fromkeys(ends))


def level_results(question: LabelQuestion, n_annotators: dict[int, int]) -> LevelResults:
    """The results of a question on a scale; ``n_annotators`` has how many physicians each case was given to."""
    assert question.scale is not None
    scale = scale_of(question.scale)
    all_votes = cast_votes([question])
    votes = [vote for vote in all_votes if vote.round == FIRST_ROUND]
    later = [vote for vote in all_votes if vote.round > FIRST_ROUND]
    panels = panels_of(votes, len(scale))
    rows = Case.with_stubs.filter(pk__in={*n_annotators, *panels}).order_by("key")
    rule = AmbiguousRule()
    cases = []
    for pk, key, public_id, is_stub in rows.values_list("pk", "key", "public_id", "is_stub"):
        panel = panels.get(pk) or panel_case(key, [], len(scale))
        status = panel.status(rule, question.minimum_answers)
        cases.append(PanelResult(pk, key, public_id, is_stub, n_annotators.get(pk, 0), panel, status))
    return LevelResults(question, scale, cases, votes, later, rule)


def assigned_with_too_few(results: LevelResults) -> int:
    """How many of the cases with too few votes somebody still has to vote on."""
    few = [case.id for case in results.cases if case.status == PanelStatus.TOO_FEW]
    return open_tasks([results.question.public_id]).filter(case__in=few).values("case").distinct().count()


# Files --------------------------------------------------------------------------------------------------------------


def case_columns(scale: Scale) -> tuple[str, ...]:
    """Columns of the file of cases: as of ``panel_cases.csv``, with how many were asked and could not tell."""
    shares = (f"q_{level}" for level in scale.values)
    return ("case", "asked", "m", "cannot_tell", "low", "high", "panel_status", "dispersion", "entropy", *shares)


def case_rows(results: LevelResults) -> Iterator[Sequence[object]]:
    """One row for each case; a figure that is undefined is an empty cell."""
    values = results.scale.values
    for case in results.cases:
        panel = case.panel
        ends = (panel.reference_low, panel.reference_high)
        yield (
            *(case.key, case.n_annotators, panel.m, panel.n_cannot_tell),
            *(values[place] if panel.m else "" for place in ends),
            *(str(case.status), case.dispersion, case.entropy),
            *case.shares,
        )


def agreed_cases(question: LabelQuestion, votes: list[CastVote]) -> int:
    """How many cases have a reference that is not ambiguous by these votes."""
    assert question.scale is not None
    panels = panels_of(votes, len(question.scale.levels)).values()
    return sum(panel.status(AmbiguousRule(), question.minimum_answers) in AGREED for panel in panels)
