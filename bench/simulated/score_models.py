"""Studies of what candidates reach: criteria met, scores of rubrics with negative points, and turned verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bench.simulated.study import Array, Drawn, Study, logistic, normal_points, whole_numbers
from consilium.statistics.cacs import cacs_values
from consilium.statistics.worst_at_k import minimum_weights

THRESHOLD = 10
RESPONSE_SD, CORRELATION = 0.5, 0.7
MORE_WHERE_HARD = 5
HIT_SUMS = ("hits", "present", "passes", "cacs", "scored", "responses")


@dataclass(frozen=True)
class HitModel:
    """Positive criteria met by two candidates on the same cases, whose case effects correlate; k is 10.

    ``means``: of both candidates on the logit scale. ``severity``: the SD of the effect of the physician who grades a
    batch of five cases; twelve physicians grade in turn. ``refused``: the share of cases in which the first candidate
    meets nothing. ``informative``: more responses where a case is hard.
    """

    name: str
    means: tuple[float, float]
    criteria: tuple[int, int] = (30, 30)
    responses: tuple[int, int] = (1, 1)
    case_sd: float = 1.0
    severity: float = 0.0
    refused: float = 0.0
    informative: bool = False
    kind: str = "hits"

    def draw(self, rng: np.random.Generator, cases: int, repetitions: int) -> Drawn:
        most = 1 + MORE_WHERE_HARD if self.informative else self.responses[1]
        shared, *own = rng.standard_normal((3, cases, repetitions, 1))
        graders = self.severity * rng.standard_normal((1, repetitions, 12))
        truths = {"cases": _expected_hits(self)}
        graded: Array | float = 0.0
        if self.severity:
            slots = np.arange(cases) // 5 % 12
            graded = np.moveaxis(graders[..., slots], -1, 0).reshape(cases, repetitions, 1)
            truths = {"cases": self._of_graders(graders[0], slots), "cases and physicians": _expected_hits(self)}
        if self.informative:
            number = 1 + rng.binomial(MORE_WHERE_HARD, _share_of_more(shared))
        else:
            number = whole_numbers(rng, self.responses, shared.shape)
        given = np.arange(most) < number
        present = np.broadcast_to(whole_numbers(rng, self.criteria, shared.shape), given.shape)
        sums: dict[str, Array] = {}
        for candidate in range(2):
            share = self._share(candidate, shared, own[candidate], rng.standard_normal(given.shape), graded)
            if self.refused and not candidate:
                share = share * (rng.random(shared.shape) >= self.refused)
            hits = np.where(given, rng.binomial(present, share), 0)
            cacs = np.where(given, cacs_values(hits, present, THRESHOLD), np.nan)
            scored = ~np.isnan(cacs)
            parts = (hits, present * given, given & (hits >= THRESHOLD), np.where(scored, cacs, 0), scored, given)
            for key, part in zip(HIT_SUMS, parts, strict=True):
                sums[f"{key} {candidate}"] = part.sum(axis=-1).astype(np.float64)
        return Drawn(Study(sums), truths)

    def _share(self, candidate: int, shared: Array, own: Array, response: Array, graded: Array | float) -> Array:
        case = np.sqrt(CORRELATION) * shared + np.sqrt(1 - CORRELATION) * own
        return logistic(self.means[candidate] + self.case_sd * case + RESPONSE_SD * response + graded)

    def expected(self, graded: Array | float, points: int) -> dict[str, Array]:
        """Expected sums of a case, (physicians or 1,); ``graded`` (physicians, 1) are their effects."""
        shared, *own, response, drawn = normal_points(5, points)[:, None, :]
        effect = self.severity * drawn if isinstance(graded, float) and self.severity else graded
        n: Array | float = (
            1 + MORE_WHERE_HARD * _share_of_more(shared) if self.informative else float(np.mean(self.responses))
        )
        grid, *tables = _by_share(self.criteria)
        sums: dict[str, Array] = {}
        for candidate in range(2):
            share = self._share(candidate, shared, own[candidate], response, effect)
            mean_criteria = float(np.mean(self.criteria))
            scored = float(np.mean([number >= THRESHOLD for number in _numbers(self.criteria)]))
            passes, cacs = (np.interp(share, grid, table) for table in tables)
            answered = 1.0 if candidate else 1 - self.refused
            reached = [answered * some for some in (share * mean_criteria, passes, cacs)]
            parts: list[Array | float] = [reached[0], mean_criteria, *reached[1:], scored, 1.0]
            for key, part in zip(HIT_SUMS, parts, strict=True):
                sums[f"{key} {candidate}"] = (n * part * np.ones(share.shape)).mean(axis=1)
        return sums

    def _of_graders(self, graders: Array, slots: NDArray[np.int64]) -> Study:
        """Expected sums of each repetition with its physicians (repetitions, 12), who grade the slots."""
        weights = np.bincount(slots, minlength=12) / len(slots)
        used = np.flatnonzero(weights)
        grid = np.linspace(-6, 6, 201) * self.severity
        table = self.expected(grid[:, None], 2**12)
        effects = graders[:, used]
        return Study({name: (np.interp(effects, grid, values) @ weights[used])[None] for name, values in table.items()})


@lru_cache
def _expected_hits(model: HitModel) -> Study:
    return Study({name: values[None] for name, values in model.expected(0.0, 2**16).items()})


def _numbers(criteria: tuple[int, int]) -> range:
    return range(criteria[0], criteria[1] + 1)


def _share_of_more(shared: Array) -> Array:
    return logistic(-1 - 1.5 * shared)


@lru_cache
def _by_share(criteria: tuple[int, int]) -> tuple[Array, Array, Array]:
    """Expected passes and CACS of a response by its share of criteria met: the shares, and both by them."""
    from scipy.special import bdtr, bdtrc

    grid = logistic(np.linspace(-14, 14, 4001))
    passes, cacs = np.zeros((2, len(grid)))
    for n in _numbers(criteria):
        if n < THRESHOLD:
            continue
        passes += bdtrc(THRESHOLD - 1, n, grid)
        # The mean of max(0, s - k + 1) is the sum of P(s >= t) over t from k.
        reached = np.sum([1 - bdtr(t - 1, n, grid) for t in range(THRESHOLD, n + 1)], axis=0)
        cacs += 100 * reached / (n - THRESHOLD + 1)
    size = len(_numbers(criteria))
    return grid, passes / size, cacs / size


@dataclass(frozen=True)
class RubricModel:
    """Rubric scores of four samples of each case: 5 to 15 positive criteria of 1 to 10 points and three negative ones
    of 1 to 8, the same for all samples of a case. ``informative``: one to four samples, more where the case is hard.
    """

    name: str
    mean: float
    harm: float = -1.5
    informative: bool = False
    kind: str = "rubric"

    def draw(self, rng: np.random.Generator, cases: int, repetitions: int) -> Drawn:
        return Drawn(Study(self._sums(rng, cases, repetitions)), {"cases": _expected_scores(self)})

    def _sums(self, rng: np.random.Generator, cases: int, repetitions: int) -> dict[str, Array]:
        shape = (cases, repetitions)
        size = whole_numbers(rng, (5, 15), (*shape, 1))
        points = whole_numbers(rng, (1, 10), (*shape, 15)) * (np.arange(15) < size)
        harms = whole_numbers(rng, (1, 8), (*shape, 3))
        case = rng.standard_normal((*shape, 1))
        response = case + RESPONSE_SD * rng.standard_normal((*shape, 4))
        met, harmful = logistic(self.mean + response)[..., None], logistic(self.harm - response)[..., None]
        reached = ((rng.random((*shape, 4, 15)) < met) * points[..., None, :]).sum(axis=-1)
        lost = ((rng.random((*shape, 4, 3)) < harmful) * harms[..., None, :]).sum(axis=-1)
        most = points.sum(axis=-1, keepdims=True)
        scores = (reached - lost) / most
        least: Array = -harms.sum(axis=-1) / most[..., 0]
        number = 1 + rng.binomial(3, _share_of_more(case)) if self.informative else np.full((*shape, 1), 4)
        given = np.arange(4) < number
        responses = given.sum(axis=-1).astype(np.float64)
        sums: dict[str, Array] = {
            "score": np.where(given, scores, 0).sum(axis=-1),
            "responses": responses,
            "least": least * responses,
        }
        if not self.informative:
            worst = np.sort(scores, axis=-1) @ minimum_weights(4, 3)
            sums |= {"worst": worst, "least of case": least, "counted": np.ones(shape)}
        return sums


@lru_cache
def _expected_scores(model: RubricModel) -> Study:
    """From 600,000 drawn cases: the worst of several samples has no simple expectation."""
    rng = np.random.default_rng(20)
    total: dict[str, Array] = {}
    for _ in range(60):
        for name, values in model._sums(rng, 10_000, 1).items():
            total[name] = total.get(name, 0.0) + values.mean(axis=0, keepdims=True) / 60
    return Study(total)


@dataclass(frozen=True)
class TurnModel:
    """Verdicts that an injected text turns, and that a harmless edit turns: 2 to 12 answers and 0 to 6 in each case."""

    name: str
    turned: float
    noise: float
    kind: str = "turns"

    def draw(self, rng: np.random.Generator, cases: int, repetitions: int) -> Drawn:
        shape = (cases, repetitions)
        effects = rng.standard_normal((2, *shape))
        sums: dict[str, Array] = {}
        for name, share, ends in zip(("turned", "noise"), self._shares(effects), ((2, 12), (0, 6)), strict=True):
            answers = whole_numbers(rng, ends, shape)
            sums[f"{name} answers"] = answers.astype(np.float64)
            sums[name] = rng.binomial(answers, share).astype(np.float64)
        return Drawn(Study(sums), {"cases": _expected_turns(self)})

    def _shares(self, effects: Array) -> tuple[Array, Array]:
        return logistic(self.turned + effects[0]), logistic(self.noise + 0.6 * effects[0] + 0.6 * effects[1])


@lru_cache
def _expected_turns(model: TurnModel) -> Study:
    turned, noise = model._shares(normal_points(2))
    sums = {"turned": 7 * turned.mean(), "turned answers": 7.0, "noise": 3 * noise.mean(), "noise answers": 3.0}
    return Study({name: np.full((1, 1), value) for name, value in sums.items()})


MODELS: tuple[HitModel | RubricModel | TurnModel, ...] = (
    HitModel("Pass 0.6, 1 response", (-0.4, -0.7)),
    HitModel("Pass 0.6, 4 responses", (-0.4, -0.7), responses=(4, 4)),
    HitModel("5-20 criteria, 1-4 responses", (0.3, 0.0), criteria=(5, 20), responses=(1, 4)),
    HitModel("Pass 0.99, 4 responses", (2.05, 1.75), responses=(4, 4)),
    HitModel("sparse CACS", (-2.6, -1.9)),
    HitModel("heavy case effect", (-0.6, -0.9), responses=(2, 2), case_sd=1.4),
    HitModel("crossed physicians, hits", (-0.4, -0.7), responses=(2, 2), severity=0.5),
    HitModel("informative sizes, hits", (-0.4, -0.7), informative=True),
    HitModel("refusals in a tenth", (0.6, 0.0), responses=(2, 2), refused=0.1),
    HitModel("very unequal, hits", (0.3, 0.0), criteria=(2, 60), responses=(1, 6)),
    RubricModel("scores low", -1.6, harm=-1.2),
    RubricModel("scores middling", 0.2),
    RubricModel("scores high", 2.2, harm=-3.0),
    RubricModel("informative sizes, scores", 0.2, informative=True),
    TurnModel("turns 0.15 against 0.05", -2.0, -3.2),
    TurnModel("turns 0.35 against 0.10", -0.75, -2.5),
)
