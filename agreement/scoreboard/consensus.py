"""Consensus criteria: the error rate of each candidate on each cluster of criteria, and the score over all of them.

A cluster's criteria ask for the same thing in different cases. An error is a desired criterion that a response does not
meet, or an undesired one (with negative points) that it meets. An invalid or missing verdict counts as an error, as it
counts against the candidate in scores. Pairs that could not be assessed, are undecided or whose criterion is faulty
are left out and counted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from consilium.core.phrases import joined, labelled
from consilium.core.reasons import Reason
from consilium.statistics.case_figures import sums_by_case
from consilium.statistics.estimate import Figure
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.outcomes import Outcome
from consilium.statistics.ratios import ratio_figures
from rubrics.bank.themes import CLUSTER, MAP, theme_of
from rubrics.models import Benchmark, Candidate, Case
from rubrics.selectors.consensus_criteria import CONSENSUS_BANK, CONSENSUS_TAG, SCORED_TAGS
from scoring.scores.grid import grid_of
from scoring.scores.points import DEFAULT_RULES
from scoring.scores.score_columns import MEAN_OF_REPLICATES, Columns
from scoring.scores.score_tables import digest_of_sheet
from scoring.scores.sheet import Row, Sheet, Slice, read_sheet
from scoring.selectors.raters import Rater

NO_CLUSTER = "no cluster"
_RATE = ("error_rate", "error_rate_low", "error_rate_high")
_COUNTS = ("n_invalid", "n_missing", "n_cannot", "n_undecided", "n_faulty")
CANDIDATES_COLUMNS = (
    *("candidate", "kind", "n", "n_cases", "rubric_score", "rubric_score_low", "rubric_score_high", "rubric_score_se"),
    *(*_RATE, "n_pairs", *_COUNTS, "note", "rubric_score_effective", "error_rate_effective"),
)
ERRORS_COLUMNS = (
    *("cluster", "theme", "candidate", "n_pairs", "n_responses", "n_cases", *_RATE, *_COUNTS, "note"),
    "error_rate_effective",
)
CRITERIA_COLUMNS = (
    *("cluster", "theme", "n_criteria", "n_negative", "n_cases", "n_responses", "n_pairs", "prevalence", *_RATE),
    *(*_COUNTS, "note", "error_rate_effective"),
)
TEXT_COLUMNS = ("candidate", "kind", "cluster", "theme", "note")

_ITEMS = f"""
    SELECT i.criterion_id, i.tags, i.bank_item
    FROM rubrics_rubricitem i
    JOIN rubrics_rubric u ON u.id = i.rubric_id AND u.track = 'gold' AND u.status = 'published'
    JOIN rubrics_case c ON c.id = u.case_id
    WHERE c.benchmark_id = %(benchmark)s AND '{CONSENSUS_TAG}' = ANY({SCORED_TAGS})
    ORDER BY i.criterion_id
"""


@dataclass(frozen=True, eq=False)
class ConsensusInputs:
    """A rater's decisions, and the cluster of each criterion of the sheet: its place in ``clusters``, −1 for criteria
    that are no consensus criteria. ``tagged`` are the clusters that a tag names.
    """

    rater: Rater
    sheet: Sheet
    clusters: list[str]
    tagged: list[str]
    cluster_of: NDArray[np.int64]
    themes: list[str]
    names: list[str]
    kinds: list[str]
    digest: str


@dataclass(frozen=True)
class ConsensusTables:
    """Rows by column name; ``criteria`` with the highest error rate first."""

    candidates: list[Row]
    errors: list[Row]
    criteria: list[Row]


def clusters_of(benchmark: Benchmark) -> dict[int, tuple[str, bool]]:
    """The cluster of each consensus criterion (by id) of the published rubrics, and whether a tag names it: the first
    of its tags ``cluster:…`` by name, else the key of its item in the consensus bank.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ITEMS, {"benchmark": benchmark.pk})
        rows = cursor.fetchall()
    clusters = {}
    for criterion, tags, bank_item in rows:
        tag = min((tag for tag in tags if tag.startswith(CLUSTER)), default="")
        key = bank_item.removeprefix(CONSENSUS_BANK) if bank_item.startswith(CONSENSUS_BANK) else ""
        clusters[criterion] = (tag.removeprefix(CLUSTER) or key or NO_CLUSTER, bool(tag))
    return clusters


def has_consensus_criteria(benchmark: Benchmark) -> bool:
    """Whether some published rubric has one."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT EXISTS ({_ITEMS})", {"benchmark": benchmark.pk})
        return bool(cursor.fetchone()[0])


def read_consensus(benchmark: Benchmark, rater: Rater) -> ConsensusInputs:
    """Read what ``rater`` decided."""
    sheet = read_sheet(benchmark, rater)
    by_criterion = clusters_of(benchmark)
    own = [by_criterion.get(criterion) for criterion in sheet.criterion_ids.tolist()]
    names = sorted({cluster for cluster, _tagged in filter(None, own)})
    place = {name: number for number, name in enumerate(names)}
    candidates = Candidate.objects.in_bulk(sheet.candidate_ids.tolist())
    keys = dict(Case.objects.filter(pk__in=sheet.case_ids.tolist()).values_list("pk", "key"))
    labels = [candidates[pk].name for pk in sheet.candidate_ids.tolist()]
    themes = [theme_of(name, benchmark.maps.get(MAP, {})) for name in names]
    read = digest_of_sheet(sheet, rater.label, labels, [keys[pk] for pk in sheet.case_ids.tolist()])
    return ConsensusInputs(
        rater=rater,
        sheet=sheet,
        clusters=names,
        tagged=sorted({cluster for cluster, tagged in filter(None, own) if tagged}),
        cluster_of=np.array([-1 if cluster is None else place[cluster[0]] for cluster in own], dtype=np.int64),
        themes=themes,
        names=labels,
        kinds=[candidates[pk].kind for pk in sheet.candidate_ids.tolist()],
        digest=hashlib.sha256(json.dumps([read, own, themes]).encode()).hexdigest(),
    )


def consensus_tables(inputs: ConsensusInputs, *, rule: IntervalRule, seed: int = 0) -> ConsensusTables:
    """Every table. ``seed`` is that of HealthBench's `bootstrap_std`, whatever the rule."""
    pairs = _Pairs.of(inputs)
    order = sorted(range(len(inputs.names)), key=lambda place: inputs.names[place])
    by_cluster = [
        (place, pairs.chosen(pairs.cluster == place), _facts(inputs, place)) for place in range(len(inputs.clusters))
    ]
    criteria = []
    for place, own, facts in by_cluster:
        criteria.append({**facts, **_criteria_of(inputs, place, own), **own.rates(None, rule)[0]})
    criteria.sort(key=lambda row: (row["error_rate"] is None, -(row["error_rate"] or 0.0), row["cluster"]))
    errors: dict[str, list[Row]] = {}
    for _place, own, facts in by_cluster:
        rates = own.rates(len(inputs.names), rule)
        errors[facts["cluster"]] = [
            {**facts, "candidate": inputs.names[number], **rates[number]} for number in order if own.has(number)
        ]
    return ConsensusTables(
        candidates=_candidate_rows(inputs, pairs, order, rule, seed),
        errors=[row for each in criteria for row in errors[each["cluster"]]],
        criteria=criteria,
    )


def _facts(inputs: ConsensusInputs, place: int) -> Row:
    return {"cluster": inputs.clusters[place], "theme": inputs.themes[place]}


def _criteria_of(inputs: ConsensusInputs, place: int, own: _Pairs) -> Row:
    """How many criteria a cluster has among those of the sheet, and how often they are met."""
    met, not_met = (int((own.answer == code).sum()) for code in (Outcome.MET, Outcome.NOT_MET))
    return {
        "n_criteria": int((inputs.cluster_of == place).sum()),
        "n_negative": len(np.unique(own.criterion[own.points < 0])),
        "prevalence": met / (met + not_met) if met + not_met else None,
    }


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of a response and a consensus criterion; an entry for each in every array."""

    cluster: NDArray[Any]
    criterion: NDArray[Any]
    response: NDArray[Any]
    case: NDArray[Any]
    candidate: NDArray[Any]
    points: NDArray[Any]
    answer: NDArray[Any]
    is_open: NDArray[Any]

    @classmethod
    def of(cls, inputs: ConsensusInputs) -> _Pairs:
        sheet = inputs.sheet
        cluster = inputs.cluster_of[sheet.criterion]
        rows = np.flatnonzero(cluster >= 0)
        response = sheet.response[rows]
        return cls(
            cluster=cluster[rows],
            criterion=sheet.criterion[rows],
            response=response,
            case=sheet.response_case[response],
            candidate=sheet.response_candidate[response],
            points=sheet.points[rows],
            answer=sheet.answer[rows],
            is_open=sheet.open[rows],
        )

    def chosen(self, mask: NDArray[np.bool_]) -> _Pairs:
        return _Pairs(**{name: column[mask] for name, column in self.__dict__.items()})

    def has(self, candidate: int) -> bool:
        return bool((self.candidate == candidate).any())

    def rates(self, n_candidates: int | None, rule: IntervalRule) -> list[Row]:
        """The error rate with its counts: of each candidate, or in one row of all of them."""
        column = self.candidate if n_candidates is not None else np.zeros_like(self.candidate)
        size = 1 if n_candidates is None else n_candidates
        cases, case = np.unique(self.case, return_inverse=True)
        broken = (self.answer == Outcome.INVALID) | (self.answer == Outcome.MISSING)
        decided = (self.answer <= Outcome.MET) | broken
        wrong = np.where(self.points > 0, self.answer != Outcome.MET, self.answer != Outcome.NOT_MET) & decided
        above, below = (sums_by_case(values, case, len(cases), column, size) for values in (wrong, decided))
        figures: list[Figure] = ratio_figures(above, below, rule=rule, empty=Reason.NO_PAIRS(), trials=True)
        counts = {
            "n_invalid": self.answer == Outcome.INVALID,
            "n_missing": (self.answer == Outcome.MISSING) | self.is_open,
            "n_cannot": (self.answer == Outcome.CANNOT_ASSESS) & ~self.is_open,
            "n_undecided": self.answer == Outcome.UNDECIDED,
            "n_faulty": self.answer == Outcome.FAULTY,
        }
        totals = {name: np.bincount(column[mask], minlength=size) for name, mask in counts.items()}
        left_out = np.bincount(column[~decided], minlength=size)
        responses = np.unique(np.stack([column[decided], self.response[decided]]), axis=1)[0]
        n_responses = np.bincount(responses, minlength=size)
        return [
            {
                "n_pairs": figure.n,
                "n_responses": int(n_responses[place]),
                "n_cases": int((below[:, place] > 0).sum()),
                "error_rate": figure.value,
                "error_rate_low": figure.low,
                "error_rate_high": figure.high,
                "error_rate_effective": figure.effective,
                **{name: int(total[place]) for name, total in totals.items()},
                "note": joined(
                    labelled("error_rate", figure.note) if figure.note else "",
                    Reason.PAIRS_NOT_DECIDED.counted(int(left_out[place])),
                ),
            }
            for place, figure in enumerate(figures)
        ]


def _candidate_rows(
    inputs: ConsensusInputs, pairs: _Pairs, order: Sequence[int], rule: IntervalRule, seed: int
) -> list[Row]:
    """The score over all consensus criteria as HealthBench Consensus has it, and the pooled error rate."""
    sheet = inputs.sheet
    part = Slice(CONSENSUS_TAG, criteria=inputs.cluster_of >= 0)
    columns = Columns(sheet, grid_of(sheet, [part], DEFAULT_RULES), 1, inputs.rater.undecided_by, rule=rule, seed=seed)
    rates = pairs.rates(len(inputs.names), rule)
    rows = []
    for place in order:
        if not pairs.has(place):
            continue
        score = columns.figures_by_name["rubric_score"].figures[place]
        shares = labelled("rubric_score", MEAN_OF_REPLICATES) if sheet.share is not None else ""
        rows.append(
            {
                **rates[place],
                "candidate": inputs.names[place],
                "kind": inputs.kinds[place],
                "n": int(columns.n[place]),
                "n_cases": int(columns.cases_behind[place]),
                "rubric_score": score.value,
                "rubric_score_low": score.low,
                "rubric_score_high": score.high,
                "rubric_score_effective": score.effective,
                "rubric_score_se": columns.deviations[place],
                "note": joined(
                    labelled("rubric_score", score.note) if score.note else "",
                    rates[place]["note"],
                    Reason.UNSCORED_RESPONSES.counted(int(columns.unscored[place])),
                    shares,
                ),
            }
        )
    return rows
