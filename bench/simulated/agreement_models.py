"""Studies in which physicians and judges say met or not met: agreement, its differences and gaps.

A pair (response, criterion) is met in truth with a probability that differs by case. Each rater sees the truth with a
probability on the logit scale: the rater's mean, less where the case is difficult (shared by all raters) and where the
response is, a strictness of the case that helps one class and harms the other, and an effect of rater and case. There
are two physicians (the first is the reference) and two judges, "first" and "second". Without a panel the reference is
the truth itself; with one, both physicians err and differ in severity and skill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.simulated.study import Array, Drawn, Study, intercept, logistic, normal_points, whole_numbers

# How many of (n) go to a part, given its share: drawn, or expected.
Split = Callable[[Array, Array], Array]

PREVALENCE_SD, STRICTNESS_SD, RESPONSE_SD, OWN_SD = 1.0, 0.4, 0.5, 0.4
# Beside the first judge, on the logit scale.
COLLEAGUE, SECOND_JUDGE = 0.2, -0.3
SEVERITY_SD, SKILL_SD = 0.5, 0.4
PHYSICIANS, BATCH, REPETITIONS_OF_A_PANEL = 12, 5, 20
RESPONSES_OF_A_HARD_CASE = 6
# Krippendorff's alpha is corrected for the number of pairs; its truth is that of many cases.
MANY = 1e6
EFFECTS = 7


@dataclass(frozen=True)
class AgreementModel:
    """``agreement``: mean accuracy of the first judge. ``failing``: the share of cases in which the judges are 2.5
    logits worse. ``crossed``: physicians are a panel, each grading many batches of cases. ``missing``: hard pairs are
    skipped and adjudicated more often. ``informative``: a hard case has more responses.
    """

    name: str
    prevalence: float
    agreement: float
    criteria: tuple[int, int] = (30, 30)
    responses: tuple[int, int] = (1, 1)
    difficulty: float = 0.7
    failing: float = 0.0
    crossed: bool = False
    missing: bool = False
    informative: bool = False
    kind: str = "agreement"

    def draw(self, rng: np.random.Generator, cases: int, repetitions: int) -> Drawn:
        most = RESPONSES_OF_A_HARD_CASE if self.informative else self.responses[1]
        of_case = (cases, repetitions, 1)
        effects = [rng.standard_normal(of_case) for _ in range(EFFECTS - 1)]
        effects.append(rng.standard_normal((cases, repetitions, most)))
        fails = (rng.random(of_case) < self.failing).astype(np.float64)
        if self.informative:
            number = 1 + rng.binomial(most - 1, _share_of_more(effects[1]))
        else:
            number = whole_numbers(rng, self.responses, of_case)
        pairs = whole_numbers(rng, self.criteria, of_case) * (np.arange(most) < number)
        if self.missing:
            pairs *= rng.random(pairs.shape) >= _left_out(effects[1])

        def split(n: Array, share: Array) -> Array:
            return rng.binomial(n.astype(np.int64), np.broadcast_to(share, n.shape)).astype(np.float64)

        if not self.crossed:
            tables = self._tables(split, pairs.astype(np.float64), effects, fails)
            return Drawn(_study(tables, axis=2), {"cases": _expected(self)})
        panels = -(-repetitions // REPETITIONS_OF_A_PANEL)
        panel = rng.standard_normal((panels, PHYSICIANS, 2)) * (SEVERITY_SD, SKILL_SD)
        batches = _pairs_of_physicians(cases)
        of_slot = np.repeat(batches, BATCH, axis=0)[:cases]  # (cases, 2)
        graded_by = panel[np.repeat(np.arange(panels), REPETITIONS_OF_A_PANEL)[:repetitions]]
        graders = [np.moveaxis(graded_by[:, of_slot[:, i]], 0, 1)[..., None] for i in range(2)]  # (cases, reps, 2, 1)
        tables = self._tables(split, pairs.astype(np.float64), effects, fails, graders)
        truths = {
            "cases": _of_panels(self, panel, cases, repetitions),
            "cases and physicians": _expected(self),
        }
        return Drawn(_study(tables, axis=2), truths)

    def expected(self, graders: list[Array] | None = None, points: int | None = None) -> dict[str, Array]:
        """Expected sums of many cases: the tables, each cell an expectation; the cases of ``failing`` in their share.

        ``graders``: severity and skill of both physicians, each (pairs of physicians, 2).
        """
        effects = normal_points(EFFECTS + 4, points) if points else normal_points(EFFECTS + 4)
        own, drawn = list(effects[:EFFECTS, None, :]), effects[EFFECTS:]
        if self.crossed and graders is None:
            by_rater = [np.stack([SEVERITY_SD * drawn[2 * i], SKILL_SD * drawn[2 * i + 1]])[None] for i in range(2)]
        else:
            by_rater = [] if graders is None else [grader[..., None] for grader in graders]
        number = (
            1 + (RESPONSES_OF_A_HARD_CASE - 1) * _share_of_more(own[1]) if self.informative else np.ones_like(own[1])
        )
        pairs = number * float(np.mean(self.criteria)) * (1 if self.informative else float(np.mean(self.responses)))
        if self.missing:
            pairs = pairs * (1 - _left_out(own[1]))
        shape = (len(by_rater[0]) if by_rater else 1, own[0].shape[-1])
        pairs = MANY * np.broadcast_to(pairs, shape)
        total: dict[str, Array] = {}
        for fails, weight in ((0.0, 1 - self.failing), (1.0, self.failing)):
            if weight:
                tables = self._tables(lambda n, share: n * share, pairs, own, np.array(fails), by_rater)
                for name, table in tables.items():
                    total[name] = total.get(name, 0.0) + weight * table.mean(axis=1)
        return total

    def _tables(
        self, split: Split, pairs: Array, effects: list[Array], fails: Array, graders: list[Array] | None = None
    ) -> dict[str, Array]:
        """The 2x2 tables of each response, (…, 4), by their names."""
        case, difficult, strict, colleague, first, second, response = effects
        deviation = np.sqrt(self.difficulty**2 + STRICTNESS_SD**2 + OWN_SD**2 + RESPONSE_SD**2)
        skill = intercept(self.agreement, float(deviation))
        shared = self.difficulty * difficult + RESPONSE_SD * response
        met_share = logistic(intercept(self.prevalence, PREVALENCE_SD) + PREVALENCE_SD * case)

        def right(mean: Array | float, sign: int, severity: Array | float = 0.0) -> Array:
            return logistic(skill + mean + shared + sign * (STRICTNESS_SD * strict + severity))

        judges = {"first": OWN_SD * first - 2.5 * fails, "second": SECOND_JUDGE + OWN_SD * second - 2.5 * fails}
        physicians: list[tuple[Array | float, Array | float]]
        if graders:
            physicians = [(COLLEAGUE + grader[..., 1, :], grader[..., 0, :]) for grader in graders]
        else:
            physicians = [(0.0, 0.0), (COLLEAGUE + OWN_SD * colleague, 0.0)]
        tables = {name: np.zeros((*pairs.shape, 4)) for name in TABLES}
        for hardness, part in self._kinds(split, pairs, difficult):
            met = split(part, met_share)
            for truth, n in ((True, met), (False, part - met)):
                sign = 1 if truth else -1
                answers = [
                    right(mean - hardness, sign, severity) if i or graders or self.missing else None
                    for i, (mean, severity) in enumerate(physicians)
                ]
                for labels, count in _labelled(split, truth, n, answers, self.missing, hardness > 0):
                    _add(tables["ceiling"], labels.physician, labels.colleague, count)
                    for name, own in judges.items():
                        agreed = split(count, right(own - hardness, sign))
                        for label, some in ((truth, agreed), (not truth, count - agreed)):
                            _add(tables[name], labels.reference, label, some)
                            if name == "first":
                                _add(tables["first by physician"], labels.physician, label, some)
                                _add(tables["first by colleague"], labels.colleague, label, some)
        return tables

    def _kinds(self, split: Split, pairs: Array, difficult: Array) -> Iterator[tuple[float, Array]]:
        """How much harder a kind of pairs is, with those that both physicians decided."""
        if not self.missing:
            yield 0.0, pairs
            return
        # A difficult case has more hard pairs.
        hard = split(pairs, logistic(-1 - 1.2 * difficult))
        for hardness, part, skipped in ((1.5, hard, 0.4), (0.0, pairs - hard, 0.05)):
            yield hardness, split(part, np.broadcast_to((1 - skipped) ** 2, part.shape))


TABLES = ("first", "second", "ceiling", "first by physician", "first by colleague")


class _Labels(NamedTuple):
    """Whether the reference, the first and the second physician said met."""

    reference: bool
    physician: bool
    colleague: bool


def _labelled(
    split: Split, truth: bool, n: Array, right: list[Array | None], adjudicated: bool, hard: bool
) -> Iterator[tuple[_Labels, Array]]:
    """Pairs of one truth by their labels; ``right``: how often both physicians are, None for always."""
    first, second = right
    assert second is not None
    if first is None:
        by_first = [(truth, n)]
    else:
        agreed = split(n, first)
        by_first = [(truth, agreed), (not truth, n - agreed)]
    for physician, part in by_first:
        same = split(part, second)
        for colleague, count in ((truth, same), (not truth, part - same)):
            if not adjudicated or physician is colleague:
                yield _Labels(physician, physician, colleague), count
                continue
            # Adjudicated pairs have the truth as reference, the others the first physician's answer.
            settled = split(count, np.broadcast_to(0.9 if hard else 0.5, count.shape))
            yield _Labels(truth, physician, colleague), settled
            yield _Labels(physician, physician, colleague), count - settled


def _add(table: Array, reference: bool, rater: bool, count: Array) -> None:
    table[..., (0 if rater else 2) if reference else (1 if rater else 3)] += count


def _share_of_more(difficult: Array) -> Array:
    return logistic(-1 - 1.5 * difficult)


def _left_out(difficult: Array) -> Array:
    """The share of responses that physicians skip altogether."""
    return logistic(-3 - 1.5 * difficult)


def _study(tables: dict[str, Array], axis: int) -> Study:
    return Study({name: table.sum(axis=axis) for name, table in tables.items()})


@lru_cache
def _expected(model: AgreementModel) -> Study:
    return Study({name: table[None] for name, table in model.expected().items()})


def _pairs_of_physicians(cases: int) -> NDArray[np.int64]:
    """Who grades each batch: (batches, 2)."""
    batch = np.arange(-(-cases // BATCH))
    return np.stack([batch % PHYSICIANS, (batch + 1 + 3 * (batch // PHYSICIANS)) % PHYSICIANS], axis=1)


def _of_panels(model: AgreementModel, panel: Array, cases: int, repetitions: int) -> Study:
    """Expected sums of a study whose physicians are those of each panel (panels, physicians, 2), batch by batch."""
    pairs = _pairs_of_physicians(cases)
    share = np.bincount(np.arange(cases) // BATCH) / cases
    by_panel: dict[str, list[Array]] = {name: [] for name in TABLES}
    for own in panel:
        for name, table in model.expected([own[pairs[:, 0]], own[pairs[:, 1]]], points=2**12).items():
            by_panel[name].append(share @ table)
    repeated = {name: np.repeat(np.stack(rows), REPETITIONS_OF_A_PANEL, axis=0) for name, rows in by_panel.items()}
    return Study({name: rows[None, :repetitions] for name, rows in repeated.items()})


MODELS = (
    AgreementModel("p.35 a.85", 0.35, 0.85),
    AgreementModel("p.10 a.90", 0.10, 0.90),
    AgreementModel("p.80 a.85", 0.80, 0.85, responses=(2, 2)),
    AgreementModel("p.35 a.70", 0.35, 0.70),
    AgreementModel("p.35 a.99", 0.35, 0.99),
    AgreementModel("p.35 a.85, unequal", 0.35, 0.85, criteria=(5, 20), responses=(1, 4)),
    AgreementModel("p.10 a.90, 5-20 criteria", 0.10, 0.90, criteria=(5, 20)),
    AgreementModel("p.35 a.85, heavy", 0.35, 0.85, responses=(4, 4), difficulty=1.2),
    AgreementModel("p.35 a.90, failing", 0.35, 0.90, responses=(2, 2), failing=0.1),
    AgreementModel("very unequal", 0.35, 0.85, criteria=(2, 60), responses=(1, 6)),
    AgreementModel("a pair a case, p.35 a.85", 0.35, 0.85, criteria=(1, 1)),
    AgreementModel("few pairs, p.05 a.95", 0.05, 0.95, criteria=(3, 6)),
    AgreementModel("crossed physicians", 0.35, 0.85, responses=(2, 2), crossed=True),
    AgreementModel("adaptive missingness", 0.35, 0.88, criteria=(10, 30), responses=(1, 3), missing=True),
    AgreementModel("informative sizes", 0.35, 0.85, criteria=(5, 20), informative=True),
)
