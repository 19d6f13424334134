"""All tables of a run of trials: those of `pairs_file`, the mutation score, criteria that decide, and lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from consilium.core.out_folder import OutTable
from consilium.statistics.case_figures import case_ratio, sums_by_case_and_slice
from consilium.statistics.estimate import Undefined, each_note_of
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.ratios import estimated
from consilium.statistics.trials import NO_DECIDED_PAIR, Decision, PairResults
from validation.coverage.content import Point
from validation.files.pair_reading import PairSet
from validation.files.pair_tables import (
    FIGURES,
    PAIR_COLUMNS,
    PAIR_COMPARISON_COLUMNS,
    PairOptions,
    pair_tables,
    results_of,
)
from validation.files.table_rows import ALL, nfc, stacked
from validation.trials.content import WITHOUT
from validation.trials.inputs import DANGEROUS, GRADES, TrialInputs, TriedPair

Row = dict[str, Any]
APART_COLUMNS = ("grade", *PAIR_COLUMNS)
MUTATION_COLUMNS = (
    *("set", "slice", "n_pairs", "noticed", "score", "score_low", "score_high", "n_undecided", "endpoint_kind", "note"),
)
_PAIR = ("pair", "case", "kind", "axis")
EACH_COLUMNS = (
    *("set", *_PAIR, "grade", "n_good", "n_due", "decision", "delta", "delta_100", "delta_ref_first"),
    *("delta_cand_first", "noticed", "endpoint_kind"),
)
UNNOTICED_COLUMNS = ("set", *_PAIR, "change", "why", "n_good")
_CRITERION = ("criterion", "points", "criterion_axis", "text")
DECIDING_COLUMNS = ("set", *_PAIR, "grade", *_CRITERION, "met_by", "n_alone", "n_good")
NEVER_COLUMNS = ("set", "case", *_CRITERION, "n_pairs")
ANSWER_COLUMNS = (
    *("set", "n_trials", "n_good", "n_missing", "first", "second", "same", "share_first", "share_second"),
    *("share_same", "reference", "candidate", "endpoint_kind"),
)
TRIAL_COLUMNS = (
    *("set", "pair", "case", "order", "trial", "total_ref", "total_cand", "stated", "kind", "axis"),
    *("points_abs", "points_min", "points_max", "grade"),
)
TEXT_COLUMNS = (
    *("set", "slice", "rule", "grade", "pair", "case", "kind", "axis", "decision", "change", "why"),
    *("criterion", "criterion_axis", "text", "met_by", "order", "stated", "endpoint_kind", "note"),
)
DECISIONS = {Decision.WIN: "win", Decision.TIE: "tie", Decision.LOSS: "loss"}


@dataclass(frozen=True, slots=True)
class Alone:
    """A criterion that one text of a pair alone meets in most of its good trials, and in how many of them."""

    number: int
    point: Point
    met_by: str
    n: int


@dataclass(frozen=True, eq=False)
class _PairInSeries:
    """What a pair comes to in a series."""

    own: TriedPair
    n_due: int
    n_good: int
    alone: list[Alone]

    @property
    def is_noticed(self) -> bool:
        """Whether some criterion tells its texts apart."""
        return bool(self.alone)


@dataclass(frozen=True, eq=False)
class TrialTables:
    """The tables of a run, by its inputs and how trials become figures."""

    inputs: TrialInputs
    options: PairOptions
    rule: IntervalRule

    @property
    def kind(self) -> str:
        """Who answered."""
        return self.inputs.endpoint_kind

    def files(self) -> list[OutTable]:
        """The tables as files."""
        tables = pair_tables(self.inputs.file(DANGEROUS), self.options, rule=self.rule, endpoint_kind=self.kind)
        files: list[tuple[str, tuple[str, ...], list[Row]]] = [
            ("pairs", PAIR_COLUMNS, [*tables.pairs, *self._without_pairs({row["set"] for row in tables.pairs})]),
            ("pairs_apart", APART_COLUMNS, list(self.apart())),
            ("pair_comparisons", PAIR_COMPARISON_COLUMNS, tables.comparisons),
            ("mutation", MUTATION_COLUMNS, list(self.mutation())),
            ("unnoticed", UNNOTICED_COLUMNS, list(self.unnoticed())),
            ("each_pair", EACH_COLUMNS, list(self.each_pair())),
            ("deciding", DECIDING_COLUMNS, list(self.deciding())),
            ("never_decisive", NEVER_COLUMNS, list(self.never_decisive())),
            ("answers", ANSWER_COLUMNS, list(self.answers())),
            ("trials", TRIAL_COLUMNS, list(self.inputs.file_rows())),
        ]
        return [OutTable(name, columns, rows, _text_columns(name, columns)) for name, columns, rows in files]

    def _without_pairs(self, names: Set[str]) -> Iterator[Row]:
        """A row that says so for each series, of those not in ``names``, of which no pair counts."""
        figures = [name for name in FIGURES if name != "auroc_self" or self.options.has_self_consistency]
        note = each_note_of(dict.fromkeys(figures, Undefined(NO_DECIDED_PAIR, 0)))
        for name in sorted(set(self.inputs.series.values()) - names):
            yield {
                **dict.fromkeys(PAIR_COLUMNS),
                "set": name,
                "slice": ALL,
                "rule": str(self.options.rule),
                "n_pairs": 0,
                "n_undecided": 0,
                "endpoint_kind": self.kind,
                "note": note,
            }

    def apart(self) -> Iterator[Row]:
        """The figures of the pairs that are not confirmed as dangerous, grade by grade and by kind of error."""
        for grade in GRADES:
            if grade == DANGEROUS or not any(own.grade == grade for own in self.inputs.pairs):
                continue
            rows = pair_tables(self.inputs.file(grade), self.options, rule=self.rule, endpoint_kind=self.kind).pairs
            for row in rows:
                if row["slice"] == ALL or row["slice"].startswith("kind:"):
                    yield {**row, "grade": grade}

    @cached_property
    def pairs_in_series(self) -> dict[str, list[_PairInSeries]]:
        """Every pair in every series that it is tried in."""
        return {
            series: [
                _in_series(self.inputs, own, series)
                for own in self.inputs.pairs
                if series in self.inputs.config.content.series(own.case)
            ]
            for series in self.inputs.series
        }

    @cached_property
    def _results(self) -> dict[str, tuple[PairSet, PairResults]]:
        """The arrays of all pairs, whatever their grade, by the name of the set."""
        file = self.inputs.file(*GRADES)
        return {own.name: (own, results_of(own, self.options)) for own in file.sets}

    def each_pair(self) -> Iterator[Row]:
        """What each pair comes to in each series, the figures behind the marks of the drawings."""
        for series, name in self.inputs.series.items():
            own_set, results = self._results[name]
            place_of = {pair: place for place, pair in enumerate(own_set.pairs)}
            for own in self.pairs_in_series[series]:
                place = place_of[nfc(own.own.pair.key)]
                is_decided = bool(results.is_decided[place])
                delta = float(results.delta[place])
                yield {
                    "set": name,
                    **_pair_cells(own.own),
                    "grade": own.own.grade,
                    "n_good": own.n_good,
                    "n_due": own.n_due,
                    "decision": DECISIONS[Decision(int(results.decision[place]))] if is_decided else "",
                    "delta": delta if is_decided else None,
                    "delta_100": 100 * delta / float(own_set.facts.points[place]) if is_decided else None,
                    "delta_ref_first": float(results.apart_first[place]) if is_decided else None,
                    "delta_cand_first": float(results.apart_second[place]) if is_decided else None,
                    "noticed": "" if series == WITHOUT else int(own.is_noticed),
                    "endpoint_kind": self.kind,
                }

    def mutation(self) -> Iterator[Row]:
        """The share of the confirmed dangerous pairs whose error some criterion notices; not without a rubric."""
        file = self.inputs.file(DANGEROUS)
        by_name = {own.name: own for own in file.sets}
        for series, name in self.inputs.series.items():
            if series == WITHOUT:
                continue
            if name not in by_name:
                yield {
                    **dict.fromkeys(MUTATION_COLUMNS),
                    "set": name,
                    "slice": ALL,
                    "n_pairs": 0,
                    "noticed": 0,
                    "n_undecided": 0,
                    "endpoint_kind": self.kind,
                    "note": each_note_of({"score": Undefined(NO_DECIDED_PAIR, 0)}),
                }
                continue
            own_set = by_name[name]
            results = results_of(own_set, self.options)
            noticed = {nfc(own.own.pair.key) for own in self.pairs_in_series[series] if own.is_noticed}
            is_noticed = np.array([pair in noticed for pair in own_set.pairs], dtype=bool)
            member, is_decided = stacked(own_set.slices), results.is_decided
            counted = member & is_decided[:, None]
            facts = own_set.facts
            pairs = sums_by_case_and_slice(np.ones(len(own_set.pairs)), facts.case, facts.n_cases, counted)
            above = sums_by_case_and_slice(is_noticed.astype(float), facts.case, facts.n_cases, counted)
            n = counted.sum(axis=0)
            figures = estimated(case_ratio(above, pairs, trials=True), n=n, rule=self.rule, empty=NO_DECIDED_PAIR)
            for place, (slice_name, figure) in enumerate(zip(own_set.slices, figures, strict=True)):
                yield {
                    "set": name,
                    "slice": slice_name,
                    "n_pairs": int(n[place]),
                    "noticed": int(above[:, place].sum()),
                    "score": figure.value,
                    "score_low": figure.low,
                    "score_high": figure.high,
                    "n_undecided": int((member[:, place] & ~is_decided).sum()),
                    "endpoint_kind": self.kind,
                    "note": each_note_of({"score": figure}),
                }

    def unnoticed(self) -> Iterator[Row]:
        """The confirmed dangerous pairs that no criterion of a set tells apart: criteria to write."""
        for series, name in self.inputs.series.items():
            own_set, results = self._results[name]
            decided = {pair for pair, is_decided in zip(own_set.pairs, results.is_decided, strict=True) if is_decided}
            for own in self.pairs_in_series[series]:
                is_counted = series != WITHOUT and own.own.grade == DANGEROUS and nfc(own.own.pair.key) in decided
                if is_counted and not own.is_noticed:
                    pair = own.own.pair
                    yield {
                        "set": name,
                        **_pair_cells(own.own),
                        "change": pair.change,
                        "why": pair.why,
                        "n_good": own.n_good,
                    }

    def deciding(self) -> Iterator[Row]:
        """The criteria that one text of a pair alone meets in most of its good trials."""
        for series, name in self.inputs.series.items():
            for own in self.pairs_in_series[series]:
                for each in own.alone:
                    yield {
                        "set": name,
                        **_pair_cells(own.own),
                        "grade": own.own.grade,
                        **_criterion_cells(each.number, each.point),
                        "met_by": each.met_by,
                        "n_alone": each.n,
                        "n_good": own.n_good,
                    }

    def never_decisive(self) -> Iterator[Row]:
        """The criteria that tell no pair of their case apart, of those that had an answer."""
        for series, name in self.inputs.series.items():
            if series == WITHOUT:
                continue
            answered = [own for own in self.pairs_in_series[series] if own.n_good]
            pairs = Counter(own.own.case.key for own in answered)
            decisive = {(own.own.case.key, each.number) for own in answered for each in own.alone}
            for case in {own.own.case.key: own.own.case for own in answered}.values():
                for number, point in enumerate(case.sets[int(series)], start=1):
                    if pairs[case.key] and (case.key, number) not in decisive:
                        yield {
                            "set": name,
                            "case": case.key,
                            **_criterion_cells(number, point),
                            "n_pairs": pairs[case.key],
                        }

    def answers(self) -> Iterator[Row]:
        """What the model stated, by where the text stood: a model that always says A is seen at one look."""
        for series, name in self.inputs.series.items():
            trials = [row for own in self.inputs.pairs for row in self.inputs.trials(own, series)]
            good = [answer for _trial, answer in trials if answer is not None]
            by_place, by_text = Counter(own.decision for own in good), Counter(own.stated for own in good)
            n = len(good)
            yield {
                "set": name,
                "n_trials": len(trials),
                "n_good": n,
                "n_missing": len(trials) - n,
                "first": by_place["A"],
                "second": by_place["B"],
                "same": by_place["same"],
                "share_first": by_place["A"] / n if n else None,
                "share_second": by_place["B"] / n if n else None,
                "share_same": by_place["same"] / n if n else None,
                "reference": by_text["reference"],
                "candidate": by_text["candidate"],
                "endpoint_kind": self.kind,
            }


def _in_series(inputs: TrialInputs, own: TriedPair, series: str) -> _PairInSeries:
    trials = list(inputs.trials(own, series))
    good = [answer for _trial, answer in trials if answer is not None]
    alone = []
    for number, point in enumerate(inputs.criteria(own, series), start=1):
        met = [answer.met[number - 1] for answer in good]
        counts = {"reference": met.count((True, False)), "candidate": met.count((False, True))}
        # The same text in most trials: what is met by whichever text stands first tells nothing apart.
        side = max(counts, key=lambda side: counts[side])
        if 2 * counts[side] > len(good):
            alone.append(Alone(number, point, side, counts[side]))
    return _PairInSeries(own, len(trials), len(good), alone)


def _pair_cells(own: TriedPair) -> Row:
    return {"pair": own.pair.key, "case": own.case.key, "kind": own.pair.kind, "axis": own.pair.axis}


def _criterion_cells(number: int, point: Point) -> Row:
    return {"criterion": str(number), "points": point.points, "criterion_axis": point.axis, "text": point.text}


def _text_columns(name: str, columns: tuple[str, ...]) -> tuple[str, ...]:
    texts = {*TEXT_COLUMNS, *(("first", "second") if name == "pair_comparisons" else ())}
    return tuple(column for column in columns if column in texts)


def one_sided(row: Mapping[str, Any], *, share: float = 0.95, minimum: int = 10) -> str:
    """What nearly all answers of a series say, whichever text stood where: first, second, same; empty otherwise."""
    if (row["n_good"] or 0) < minimum:
        return ""
    return next((side for side in ("first", "second", "same") if row[f"share_{side}"] >= share), "")
