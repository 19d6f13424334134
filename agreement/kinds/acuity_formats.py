"""The same cases asked twice: in a forced choice, and as to a patient. Whether what is known is also advised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.acuity.format_tables import (
    FORMAT_COLUMNS,
    JOINT_COLUMNS,
    JOINT_TEXT,
    SHIFT,
    TEST_COLUMNS,
    TEXT_COLUMNS,
    format_rows,
    pairs_of_formats,
)
from agreement.acuity.inputs import AcuityInputs, read_inputs
from agreement.acuity.level_judges import judge_methods
from agreement.acuity.measures import Price
from agreement.acuity.parameters import (
    chosen_gamma,
    chosen_ratio,
    chosen_series,
    exponent_in_words,
    reference_set_of,
    title_names,
    with_exponent,
)
from agreement.acuity.plan_facts import plan_facts, plan_methods
from agreement.acuity.released_runs import release_methods
from agreement.kinds.acuity import AcuityForm
from agreement.kinds.acuity_page import level_names
from agreement.kinds.kind import Context, Figure, Invitation, Kind, Parameters
from agreement.kinds.shared import cost_in_words, tables_of
from agreement.models import Report
from agreement.reports.interval_facts import interval_facts
from agreement.reports.numbers import Number, PValue, number
from agreement.reports.sentences import counted, difference, listed
from agreement.reports.stored import table_of
from agreement.reports.tables import Result, Row
from consilium.core.jobs import Progress, no_progress
from consilium.core.out_folder import OutTable
from consilium.figures.charts import Line, Point, points_and_whiskers
from consilium.figures.level_slopes import LevelSlope, level_slopes
from consilium.figures.style import Palette
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.triage_cost import EXPONENT
from rubrics.models import Benchmark
from rubrics.parsing.acuity_files import ALL

MAX_CANDIDATES_DRAWN = 6
SHARES = ("accuracy", "under", "over")
REFERENCE = "reference:"


class FormatsForm(AcuityForm):
    """A reference set, candidates, and what errors cost."""

    field_order = ["reference_set", "ratio", "gamma", "candidates", "judge", "interval", "seed"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("boundary", "slices"):
            del self.fields[name]


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    reference_set = reference_set_of(benchmark, parameters.get("reference_set"))
    return {
        **chosen_series(reference_set, parameters),
        "ratio": chosen_ratio(parameters),
        "gamma": chosen_gamma(parameters),
    }


def read(benchmark: Benchmark, given: Parameters) -> AcuityInputs:
    """The inputs of a report with these parameters."""
    reference_set = reference_set_of(benchmark, given["reference_set"])
    return read_inputs(reference_set, given["candidates"], judge=given.get("judge", ""))


def formats_files(inputs: AcuityInputs, *, price: Price, rule: IntervalRule) -> list[OutTable]:
    """The tables of the command ``acuity_formats``; without rows where no candidate has both formats."""
    compared, joint, tests = format_rows(inputs.data, price=price, rule=rule)
    return [
        OutTable("formats", FORMAT_COLUMNS, compared, TEXT_COLUMNS),
        OutTable("joint", JOINT_COLUMNS, joint, JOINT_TEXT),
        OutTable("tests", TEST_COLUMNS, tests, TEXT_COLUMNS),
    ]


def compute(
    benchmark: Benchmark,
    *,
    reference_set: int,
    candidates: Sequence[str],
    ratio: float,
    gamma: float = EXPONENT,
    judge: str = "",
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """The tables of the command ``acuity_formats``."""
    chosen = reference_set_of(benchmark, reference_set)
    inputs = read_inputs(chosen, candidates, judge=judge)
    progress(0.2)
    tables = tables_of(formats_files(inputs, price=Price(ratio, gamma), rule=rule))
    data = inputs.data
    paired = {data.candidate_of(qa) for qa, _chat in pairs_of_formats(data).values()}
    alone = {data.candidate_of(i): format_ for i, (_name, format_) in enumerate(data.series_names)}
    worst = _widest_gap(tables["formats"].dicts())
    facts = {
        "reference_set": chosen.number,
        "set_digest": chosen.digest,
        "signed_at": f"{chosen.signed_at:%Y-%m-%d}",
        "scale": str(chosen.scale),
        "levels": [{name: level[name] for name in ("value", "label_en", "label_zh")} for level in chosen.scale.levels],
        **inputs.run_facts,
        **plan_facts(chosen, {"candidates": candidates, "judge": judge, "ratio": ratio, "gamma": gamma}),
        "ratio": ratio,
        "gamma": gamma,
        "n_cases": len(data.cases),
        "one_format": {name: format_ for name, format_ in sorted(alone.items()) if name not in paired},
        **({"headline": _gap_of(worst)} if worst else {}),
        **interval_facts(rule, float(worst["n_cases"]) if worst else None),
    }
    return Result(tables=tables, facts=facts, digest=inputs.digest)


def _gap_of(row: Row) -> dict[str, Any]:
    names = {"value": "difference", "low": "difference_low", "high": "difference_high"}
    return {**{name: row[column] for name, column in names.items()}, "reason": row["note"], "of": row["candidate"]}


def _widest_gap(rows: Sequence[Row]) -> Row | None:
    """The row of the candidate whose advice is too low more often than its forced choice by the most."""
    own = [row for row in _of(rows, ALL) if row["measure"] == "under" and row["difference"] is not None]
    return max(own, key=lambda row: row["difference"], default=None)


def _of(rows: Sequence[Row], part: str) -> list[Row]:
    return [row for row in rows if row["slice"] == part]


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    named = _("Forced choice and advice to a patient: %(names)s, reference set %(number)s") % {
        "names": title_names(given["candidates"]),
        "number": given["reference_set"],
    }
    return with_exponent(named, given)


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """Of what `compute` would read now."""
    return read(benchmark, given).digest


def body(report: Report, sort: str) -> Context:
    rows = table_of(report, "formats").dicts()
    names = list(dict.fromkeys(row["candidate"] for row in rows))
    measures = {(row["candidate"], row["measure"]): row for row in _of(rows, ALL)}
    tests = {(row["candidate"], row["test"]): row for row in table_of(report, "tests").dicts()}
    return {
        "finding": finding(measures, names),
        "exponent": exponent_in_words(report.result["facts"]),
        # Those whose formats differ in levels too low come first.
        "board": sorted(
            (_board_row(name, measures, tests) for name in names),
            key=lambda row: not (row["advises_too_low"] or row["chooses_too_low"]),
        ),
        "by_level": [_level_row(report, row) for row in rows if row["slice"].startswith(REFERENCE)],
        "measures": [
            {
                **row,
                "qa_number": Number(row["qa"]),
                "chat_number": Number(row["chat"]),
                "difference_number": number(row, "difference"),
            }
            for row in _of(rows, ALL)
        ],
        "joint": _joint(report, names),
        "alone": [
            {"candidate": name, "lacks": "chat" if format_ == "qa" else "qa"}
            for name, format_ in report.result["facts"]["one_format"].items()
        ],
    }


def _board_row(name: str, measures: Mapping[tuple[str, str], Row], tests: Mapping[tuple[str, str], Row]) -> Context:
    under = measures[name, "under"]
    return {
        "candidate": name,
        "n_cases": under["n_cases"],
        "pairs": [
            {
                "qa": Number(measures[name, key]["qa"], scale=100, digits=1, unit="%"),
                "chat": Number(measures[name, key]["chat"], scale=100, digits=1, unit="%"),
                "difference": number(measures[name, key], "difference", scale=100, digits=1),
            }
            for key in SHARES
        ],
        "advises_too_low": _advises_too_low(under),
        "chooses_too_low": _chooses_too_low(under),
        "shift": number(measures[name, SHIFT], "difference"),
        "p": [PValue(tests[name, test]["p"]) for test in ("mcnemar", "bowker", "stuart_maxwell")],
        "df": tests[name, "stuart_maxwell"]["df"],
    }


def _advises_too_low(under: Row) -> bool:
    """Whether its advice is too low more often than its forced choice, beyond what the cases leave open."""
    return under["difference_low"] is not None and under["difference_low"] > 0


def _chooses_too_low(under: Row) -> bool:
    """Whether its forced choice is too low more often than its advice, beyond what the cases leave open."""
    return under["difference_high"] is not None and under["difference_high"] < 0


def _level_row(report: Report, row: Row) -> Context:
    return {
        **row,
        "level": level_names(report).get(row["slice"].removeprefix(REFERENCE), row["slice"]),
        "qa_number": Number(row["qa"]),
        "chat_number": Number(row["chat"]),
        "difference_number": number(row, "difference"),
    }


def _joint(report: Report, names: Sequence[str]) -> list[Context]:
    """For each candidate the modes of both formats, a row for each level of the forced choice."""
    levels = level_names(report)
    counts = {(row["candidate"], row["qa"], row["chat"]): row["n"] for row in table_of(report, "joint").dicts()}
    return [
        {
            "candidate": name,
            "levels": list(levels.values()),
            "rows": [
                {
                    "level": label,
                    "cells": [
                        {"n": counts[name, qa, chat], "same": qa == chat, "lower": j < i}
                        for j, chat in enumerate(levels)
                    ],
                }
                for i, (qa, label) in enumerate(levels.items())
            ],
        }
        for name in names
    ]


def finding(measures: Mapping[tuple[str, str], Row], names: Sequence[str]) -> str:
    """The conclusion: whose advice is too low although its forced choice is not, and the reverse."""
    rows = [measures[name, "under"] for name in names if measures[name, "under"]["difference"] is not None]
    if not rows:
        return _("No candidate has usable readings of the same case in both formats, so there is nothing to compare.")
    worst = max(rows, key=lambda row: row["difference"])
    reverse = min(rows, key=lambda row: row["difference"])
    sentences = []
    if _advises_too_low(worst):
        advises = _(
            "On %(n)s cases, %(name)s is too low in %(chat)s of its advice to patients and in %(qa)s of "
            "its forced choices: its advice falls short of its knowledge."
        )
        sentences.append(advises % _shown(worst))
    if _chooses_too_low(reverse):
        chooses = _(
            "On %(n)s cases, %(name)s is too low in %(qa)s of its forced choices and in %(chat)s of its "
            "advice to patients: its advice is better than its choices."
        )
        sentences.append(chooses % _shown(reverse))
    if sentences:
        return " ".join(sentences)
    alike = _(
        "No candidate’s advice is too low more often than its forced choice beyond chance, nor the "
        "reverse. The widest gap is that of %(name)s on %(n)s cases: %(chat)s in advice to a patient, "
        "%(qa)s in the forced choice."
    )
    return alike % _shown(max(rows, key=lambda row: abs(row["difference"])))


def _shown(under: Row) -> dict[str, Any]:
    return {
        "name": under["candidate"],
        "qa": f"{under['qa']:.1%}",
        "chat": f"{under['chat']:.1%}",
        "n": under["n_cases"],
    }


def figures(report: Report) -> Iterator[Figure]:
    rows = table_of(report, "formats").dicts()
    if not rows:
        return
    yield from _gaps(rows)
    yield from _slopes(report, rows)


def _gaps(rows: Sequence[Row]) -> Iterator[Figure]:
    labels = {"accuracy": _("Right"), "under": _("Too low"), "over": _("Too high")}
    points = [
        Point(
            row["candidate"], row["difference"], row["difference_low"], row["difference_high"], labels[row["measure"]]
        )
        for row in _of(rows, ALL)
        if row["measure"] in SHARES and row["difference"] is not None
    ]
    if not points:
        return
    most = max(abs(end) for point in points for end in (point.value, point.low, point.high) if end is not None)
    reach = min(1.0, 1.1 * most + 0.02)

    def drawing(palette: Palette) -> object:
        return points_and_whiskers(
            points,
            palette,
            x_title=_("Advice to a patient minus forced choice, share of cases"),
            description=_("How much more often each candidate is right, too low and too high when it gives advice."),
            line=Line(0.0, _("no difference")),
            domain=(-reach, reach),
        )

    yield Figure(
        "gaps",
        _("Effect of giving advice on errors"),
        _("Differences on cases with a usable reading in both formats, with 95% intervals over cases."),
        "formats",
        drawing,
    )


def _slopes(report: Report, rows: Sequence[Row]) -> Iterator[Figure]:
    names = level_names(report)
    drawn = list(dict.fromkeys(row["candidate"] for row in rows))[:MAX_CANDIDATES_DRAWN]
    slopes = [
        LevelSlope(row["candidate"], names[row["slice"].removeprefix(REFERENCE)], row["qa"], row["chat"])
        for row in rows
        if row["slice"].startswith(REFERENCE) and row["qa"] is not None and row["candidate"] in drawn
    ]
    if not slopes:
        return
    levels = list(names.values())

    def drawing(palette: Palette) -> object:
        return level_slopes(
            slopes,
            levels,
            palette,
            left=_("Forced choice"),
            right=_("Advice to a patient"),
            description=_("The mean level in both formats, with one line per reference level."),
        )

    yield Figure(
        "slopes",
        _("From forced choice to advice"),
        _("The mean level of the cases of each reference level; a falling line means less urgent advice."),
        "formats",
        drawing,
    )


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    rows = table_of(report, "formats").dicts()
    names = sorted({row["candidate"] for row in rows})
    shared = [row["n_cases"] for row in _of(rows, ALL) if row["measure"] == SHIFT]
    least, most = (min(shared), max(shared)) if shared else (0, 0)
    within = counted(most, "case") if least == most else f"{least:,} to {most:,} cases"
    ratio, gamma = facts["ratio"], facts["gamma"]
    return [
        f"What {counted(len(names), 'candidate')} ({listed(names)}) of the benchmark {report.benchmark.title} chose in "
        f"a forced choice was compared with what the same candidates advised as to a patient, on the same cases, "
        f"against reference set {facts['reference_set']}, signed on {facts['signed_at']}, on the scale "
        f"{facts['scale']}.",
        *judge_methods(facts),
        *release_methods(facts),
        *plan_methods(facts),
        f"{within} of a candidate had a usable reading in both formats. Measures are differences, advice less "
        "forced choice, on those with one clear reference level, each case counting 1 as the mean over its usable "
        "readings; the mean shift in levels is of the most frequent levels on all shared cases.",
        f"{cost_in_words(ratio, gamma)}.",
        "Who is right was compared by McNemar’s exact test (McNemar 1947), the use of the levels by Bowker’s test of "
        "symmetry (Bowker 1948) and by the Stuart–Maxwell test of margins (Stuart 1955; Maxwell 1970) with the "
        "pseudo-inverse of the covariance, whose rank is its degrees of freedom; Holm’s correction over candidates "
        "(Holm 1979).",
        *([difference(report, "a difference")] if rows else []),
    ]


KIND = Kind(
    value=Report.Kind.ACUITY_FORMATS,
    parameters=frozenset({"reference_set", "candidates", "judge", "ratio", "gamma"}),
    complete=complete,
    compute=compute,
    title=title,
    form=FormatsForm,
    invitation=Invitation(
        gettext_lazy("Compare forced choice and advice"),
        gettext_lazy("A candidate may know the right level and still advise a lower one."),
        gettext_lazy("This report requires a signed reference set and readings of a candidate in both formats."),
    ),
    template="agreement/kinds/acuity_formats.html",
    body=body,
    figures=figures,
    headline=(gettext_lazy("Too low, advice minus forced choice"), 3),
    methods=methods,
    digest=digest,
)
