"""Where physicians disagree: the spread of candidates' readings beside that of the votes of a reference set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.core.paginator import Paginator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.acuity.case_slices import datasets_in_database, slices_digest
from agreement.acuity.inputs import AcuityInputs, read_inputs
from agreement.acuity.level_judges import judge_methods
from agreement.acuity.panel_inputs import panel_digest, with_panel
from agreement.acuity.parameters import (
    chosen_ratio,
    chosen_series,
    level_label,
    reference_set_of,
    title_names,
)
from agreement.acuity.plan_facts import formats_of, plan_facts, plan_methods
from agreement.acuity.readings import AcuityData
from agreement.acuity.reference_facts import reference_facts, reference_methods
from agreement.acuity.released_runs import release_methods
from agreement.acuity.routing_table import ROUTING_COLUMNS, routing_rows
from agreement.acuity.routing_table import TEXT_COLUMNS as ROUTING_TEXT
from agreement.acuity.tables import LOGPROBS, SAMPLES
from agreement.acuity.uncertainty_tables import (
    CASE_COLUMNS,
    DATASET_COLUMNS,
    PANEL_COLUMNS,
    SPREAD_COLUMNS,
    TEXT_COLUMNS,
    UNCERTAINTY_COLUMNS,
    panel_case_columns,
    spread_rows,
    uncertainty_tables,
)
from agreement.kinds.acuity import AcuityForm
from agreement.kinds.kind import Context, Figure, Invitation, Kind, Parameters
from agreement.kinds.page_table import PageTable
from agreement.kinds.scores_rows import rows_of
from agreement.kinds.shared import headline, tables_of
from agreement.models import Report
from agreement.reports.numbers import Number, Tile, number
from agreement.reports.parameters import WrongParameters
from agreement.reports.sentences import counted, listed
from agreement.reports.stored import table_names, table_of
from agreement.reports.tables import Result, Row
from annotation.models import ReferenceSet
from consilium.core.jobs import Progress, no_progress
from consilium.core.out_folder import OutTable
from consilium.figures.routing import RoutingPoint, routing_curves
from consilium.figures.spread import ScoreParts, Spread, spread_dots, stacked_scores
from consilium.figures.style import Palette
from consilium.statistics.case_numbers import CASES_FOR_A_CLAIM
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from rubrics.models import Benchmark
from rubrics.selectors.case_links import case_urls
from scoring.models import AcuityReading

MAX_CURVES = 6
AMBIGUOUS, PANEL = "ambiguous", "panel"  # the cases that a row of the summary is over
MAX_SERIES_DRAWN = 2
MAX_CASES_DRAWN = 60  # in a figure, and on a page of the table beside it
_FORMATS = dict(AcuityReading.Format.choices)


class UncertaintyForm(AcuityForm):
    """A reference set with votes, candidates, and the price of a level too low."""

    field_order = ["reference_set", "ratio", "candidates", "judge", "seed"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("gamma", "boundary", "slices", "interval"):
            del self.fields[name]

    def offer(self, benchmark: Benchmark) -> None:
        super().offer(benchmark)
        with_votes = sets_with_votes(benchmark)
        field = self.fields["reference_set"]
        field.choices = [choice for choice in field.choices if choice[0] in with_votes]  # type: ignore[attr-defined]
        self.ready = self.ready and bool(with_votes)


def sets_with_votes(benchmark: Benchmark) -> set[int]:
    """The numbers of the reference sets that hold votes of physicians."""
    sets = ReferenceSet.objects.filter(benchmark=benchmark, items__votes__len__gt=0)
    return set(sets.order_by().values_list("number", flat=True).distinct())


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    reference_set = reference_set_of(benchmark, parameters.get("reference_set"))
    if reference_set.number not in sets_with_votes(benchmark):
        raise WrongParameters(
            _("Reference set %(number)s contains no physicians’ votes.") % {"number": reference_set.number},
            field="parameters.reference_set",
        )
    return {
        **chosen_series(reference_set, parameters),
        "ratio": chosen_ratio(parameters),
    }


def inputs_of(reference_set: ReferenceSet, candidates: Sequence[str], judge: str) -> AcuityInputs:
    """Readings with the frozen votes and the datasets of the cases, and the digest of all of them."""
    inputs = read_inputs(reference_set, candidates, judge=judge)
    data = datasets_in_database(with_panel(inputs.data, reference_set), reference_set)
    # Without datasets the digest is that of reports from before there was a table of them.
    own = f"{inputs.digest} {slices_digest(data)}" if data.slices else inputs.digest
    return replace(inputs, data=data, digest=panel_digest(data, reference_set, own))


def uncertainty_files(data: AcuityData, reference_set: ReferenceSet, *, ratio: float, seed: int) -> list[OutTable]:
    """The tables of the command ``acuity_uncertainty``, and the distributions behind them."""
    tables = uncertainty_tables(
        data, reference_set.ambiguous, ratio=ratio, seed=seed, minimum=reference_set.minimum_votes
    )
    return [
        OutTable("uncertainty", UNCERTAINTY_COLUMNS, tables.uncertainty, TEXT_COLUMNS),
        OutTable("uncertainty_cases", CASE_COLUMNS, tables.cases, TEXT_COLUMNS),
        OutTable("panel", PANEL_COLUMNS, tables.panel, TEXT_COLUMNS),
        OutTable("panel_datasets", DATASET_COLUMNS, tables.panel_datasets, TEXT_COLUMNS),
        OutTable("panel_cases", panel_case_columns(data), tables.panel_cases, TEXT_COLUMNS),
        OutTable("spread", SPREAD_COLUMNS, list(spread_rows(data, tables.cases)), TEXT_COLUMNS),
        OutTable("routing", ROUTING_COLUMNS, list(routing_rows(data, tables.cases, ratio=ratio)), ROUTING_TEXT),
    ]


def compute(
    benchmark: Benchmark,
    *,
    reference_set: int,
    candidates: Sequence[str],
    ratio: float,
    judge: str = "",
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """The tables of the command ``acuity_uncertainty``. The seed is that of the pairs of halves that are drawn."""
    chosen = reference_set_of(benchmark, reference_set)
    inputs = inputs_of(chosen, candidates, judge)
    progress(0.2)
    tables = tables_of(uncertainty_files(inputs.data, chosen, ratio=ratio, seed=seed))
    best = _closest(tables["uncertainty"].dicts())
    facts = {
        "reference_set": chosen.number,
        "set_digest": chosen.digest,
        "signed_at": f"{chosen.signed_at:%Y-%m-%d}",
        "scale": str(chosen.scale),
        **reference_facts(chosen),
        **inputs.run_facts,
        **plan_facts(
            chosen, {"candidates": candidates, "judge": judge, "ratio": ratio}, formats=formats_of(inputs.data)
        ),
        "levels": [{name: level[name] for name in ("value", "label_en", "label_zh")} for level in chosen.scale.levels],
        "ambiguous": chosen.ambiguous.in_words,
        "minimum_votes": chosen.minimum_votes,
        "ratio": ratio,
        **({"headline": headline({**best, "rps_low": None, "rps_high": None}, "rps")} if best else {}),
    }
    return Result(tables=tables, facts=facts, digest=inputs.digest)


def _comparable(rows: Sequence[Row]) -> list[Row]:
    """The rows of the ambiguous cases whose scores are compared: those on the largest number of cases that any has by
    its samples, rows by log probabilities on as many cases among them. Fewer cases may be the easier ones.
    """
    own = [row for row in rows if row["set"] == AMBIGUOUS and row["rps"] is not None]
    of_samples = [row["n_cases"] for row in own if _key(row)[2] == SAMPLES]
    n_cases = max(of_samples or [row["n_cases"] for row in own], default=0)
    return [row for row in own if row["n_cases"] == n_cases]


def _closest(rows: Sequence[Row]) -> Row | None:
    """Of the rows whose scores are compared that with the lowest; of as low ones, one by samples."""
    return min(_comparable(rows), key=lambda row: (row["rps"], _key(row)[2] != SAMPLES), default=None)


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("Where physicians disagree: %(names)s, reference set %(number)s") % {
        "names": title_names(given["candidates"]),
        "number": given["reference_set"],
    }


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """Of what `compute` would read now."""
    reference_set = reference_set_of(benchmark, given["reference_set"])
    return inputs_of(reference_set, given["candidates"], given.get("judge", "")).digest


def body(report: Report, sort: str) -> Context:
    """The first page; see `body_of_page`."""
    return body_of_page(report, sort, "")


def _datasets(rows: list[Row]) -> PageTable | None:
    """All panel cases, and those of each dataset and of none; None where there is no dataset, or all are of one."""
    whole, parts = rows[:1], rows[1:]
    if not parts or (len(parts) == 1 and parts[0]["n_cases"] == whole[0]["n_cases"]):
        return None
    labels = [_("All panel cases"), *(row["dataset"] or _("No dataset") for row in parts)]
    return PageTable(
        "panel_datasets",
        _("Panel cases by dataset"),
        [
            (_("Dataset"), False),
            (_("Cases"), True),
            (_("Clear"), True),
            (_("Between two levels"), True),
            (_("Ambiguous"), True),
            (_("Ordinal alpha, single levels"), True),
        ],
        {
            "": [
                [
                    label,
                    *(f"{row[name]:,}" for name in ("n_cases", "n_clear", "n_boundary", "n_ambiguous")),
                    number(row, "alpha_ordinal_single").cell,
                ]
                for label, row in zip(labels, rows, strict=True)
            ]
        },
        remark=_("A case that is in several datasets is counted in each of them."),
    )


def body_of_page(report: Report, sort: str, page: str) -> Context:
    """The page with the ambiguous cases of one page of them, figure and table alike."""
    rows = table_of(report, "uncertainty").dicts()
    (panel,) = table_of(report, "panel").dicts()
    cases = table_of(report, "uncertainty_cases").dicts()
    ambiguous = [row for row in rows if row["set"] == AMBIGUOUS]
    best = _closest(ambiguous)
    pages = Paginator(_ambiguous_cases(report), MAX_CASES_DRAWN)
    page_obj = pages.get_page(page)
    rows_by_case: dict[str, list[Row]] = {}
    for row in cases:
        rows_by_case.setdefault(row["case"], []).append(row)
    urls = case_urls(report.benchmark, page_obj.object_list)
    return {
        "finding": finding(ambiguous),
        "few_for_claim": best is not None and best["n_cases"] < CASES_FOR_A_CLAIM,
        "tiles": [
            Tile(_("Panel cases"), text=f"{panel['n_cases']:,}", detail=_votes_in_words(panel)),
            Tile(
                _("Ambiguous"),
                text=f"{panel['n_ambiguous']:,}",
                detail=_("%(clear)s clear, %(boundary)s between two levels")
                % {"clear": f"{panel['n_clear']:,}", "boundary": f"{panel['n_boundary']:,}"},
            ),
            Tile(_("Ordinal alpha, single levels"), number(panel, "alpha_ordinal_single")),
            Tile(_("Alpha with votes for two levels"), number(panel, "alpha_set")),
        ],
        "routing": _least_costs(report),
        "parts": [
            _part(AMBIGUOUS, _("Ambiguous cases"), ambiguous),
            _part(PANEL, _("All panel cases"), [row for row in rows if row["set"] == PANEL]),
        ],
        "datasets": _datasets(rows_of(report, "panel_datasets")),
        "n_ambiguous": panel["n_ambiguous"],
        "page_obj": page_obj,
        "spread": _figure_name(page_obj.number),
        "cases": [
            {**_shown(row), "url": urls.get(case, ""), "first": place == 0, "span": len(rows_by_case[case])}
            for case in page_obj.object_list
            for place, row in enumerate(sorted(rows_by_case[case], key=lambda row: -row["w1"]))
        ],
    }


def _figure_name(page: int) -> str:
    return "spread" if page == 1 else f"spread-{page}"


def _ambiguous_cases(report: Report) -> list[str]:
    """The ambiguous cases of which a candidate has a distribution: by the distance W1 of the closest candidate, the
    largest first, then those that only other candidates have.
    """
    first = _series(report)[:1]
    distances: dict[str, tuple[bool, float]] = {}
    for row in table_of(report, "uncertainty_cases").dicts():
        if row["panel_status"] == AMBIGUOUS:
            own = (_key(row) in first, row["w1"])
            distances[row["case"]] = max(own, distances.get(row["case"], own))
    return sorted(distances, key=lambda case: (*(-float(part) for part in distances[case]), case))


SeriesKey = tuple[str, str, str]


def _key(row: Row) -> SeriesKey:
    """Candidate, format, and the source of the distribution; a report from before there were others has samples."""
    return row["candidate"], row["format"], row.get("source", SAMPLES)


def _format_label(key: SeriesKey) -> str:
    """The format as pages show it, with the source of the distribution where it is not the samples."""
    label = str(_FORMATS[key[1]])
    return f"{label}, {_('log probabilities')}" if key[2] == LOGPROBS else label


def _series(report: Report) -> list[SeriesKey]:
    """The distributions of candidates on ambiguous cases: the closest to the panel, then those of the table."""
    best = _closest(table_of(report, "uncertainty").dicts())
    if best is None:
        return []
    first = _key(best)
    rows = table_of(report, "uncertainty_cases").dicts()
    names = dict.fromkeys(_key(row) for row in rows if row["panel_status"] == AMBIGUOUS)
    return [first, *(name for name in names if name != first)]


def _least_costs(report: Report) -> list[Context]:
    """For each candidate and source of confidence: nothing handed over, the least cost, everything handed over."""
    if "routing" not in table_names(report):
        return []
    curves: dict[tuple[str, str, str], list[Row]] = {}
    for row in table_of(report, "routing").dicts():
        curves.setdefault((row["candidate"], row["format"], row["confidence_source"]), []).append(row)
    return [
        {
            "candidate": candidate,
            "format_label": _FORMATS[format_],
            "source": source,
            "n_cases": rows[0]["n_cases"],
            "alone": Number(rows[0]["cost"]),
            "least": Number(least["cost"]),
            "handed": Number(least["handed"], scale=100, digits=1, unit="%"),
            "threshold": Number(least["threshold"]),
            "person": Number(rows[-1]["cost"]),
        }
        for (candidate, format_, source), rows in curves.items()
        for least in rows
        if least["is_least"]
    ]


def _part(name: str, label: str, rows: Sequence[Row]) -> Context:
    compared = any(row["n_cases"] for row in rows)
    return {"name": name, "label": label, "rows": [_shown(row) for row in rows], "is_compared": compared}


def _votes_in_words(panel: Row) -> str:
    return _("%(votes)s votes, of which %(two)s are for two levels; %(none)s cannot tell") % {
        "votes": f"{panel['n_votes']:,}",
        "two": f"{panel['n_boundary_votes']:,}",
        "none": f"{panel['n_cannot_tell']:,}",
    }


def _shown(row: Row) -> Context:
    figures = {name: number(row, name) for name, value in row.items() if value is None or isinstance(value, float)}
    return {**row, "format_label": _format_label(_key(row)), "figures": figures}


def finding(rows: Sequence[Row]) -> str:
    """The conclusion from the ambiguous cases, in a sentence."""
    best = _closest(rows)
    if best is None:
        return _("No ambiguous case has three votes and two usable readings, so there is nothing to compare.")
    shown = {
        "name": best["candidate"],
        "format": _format_label(_key(best)),
        "score": f"{best['rps']:.3f}",
        "ceiling": f"{best['ceiling_rps']:.3f}",
        "n": best["n_cases"],
    }
    if best["rps"] > best["ceiling_rps"]:
        closest = _(
            "On %(n)s ambiguous cases, %(name)s (%(format)s) comes closest to the physicians’ votes: its "
            "score is %(score)s, compared with %(ceiling)s for one physician against the others. Lower "
            "is closer."
        )
    else:
        closest = _(
            "On %(n)s ambiguous cases, %(name)s (%(format)s) is as close to the physicians’ votes "
            "(%(score)s) as one physician is to the others (%(ceiling)s)."
        )
    sentences = [closest % shown]
    alike = [
        f"{row['candidate']} ({_format_label(_key(row))})"
        for row in _comparable(rows)
        if row is not best and f"{row['rps']:.3f}" == shown["score"]
    ]
    if alike:
        sentences.append(_("Equally close: %(names)s.") % {"names": ", ".join(alike)})
    return " ".join(sentences)


def figures(report: Report) -> Iterator[Figure]:
    yield from _scores(report)
    yield from _routing(report)
    yield from _spreads(report)


def _scores(report: Report) -> Iterator[Figure]:
    rows = [row for row in table_of(report, "uncertainty").dicts() if row["set"] == AMBIGUOUS]
    rows = [row for row in rows if row["rps"] is not None]
    if not rows:
        return

    def drawing(palette: Palette) -> object:
        parts = [
            ScoreParts(_series_label(row), row["cdf2"], row["rps"] - row["cdf2"], row["ceiling_rps"]) for row in rows
        ]
        return stacked_scores(
            parts,
            palette,
            x_title=_("Ranked probability score on ambiguous cases"),
            description=_("Ranked probability score in two parts, one bar per candidate; lower is closer."),
        )

    yield Figure(
        "scores",
        _("Error compared with the panel’s own spread"),
        _("The line across a bar is the score of one physician against the votes of the others."),
        "uncertainty",
        drawing,
    )


def _routing(report: Report) -> Iterator[Figure]:
    """Curves of the candidates by the share of the mode among their samples."""
    if "routing" not in table_names(report):  # a report from before there was this table
        return
    rows = [row for row in table_of(report, "routing").dicts() if row["confidence_source"] == SAMPLES]
    labels = list(dict.fromkeys(_series_label(row) for row in rows))[:MAX_CURVES]
    points = [
        RoutingPoint(_series_label(row), row["handed"], row["cost"], bool(row["is_least"]))
        for row in rows
        if _series_label(row) in labels
    ]
    if not points:
        return

    def drawing(palette: Palette) -> object:
        return routing_curves(
            points,
            palette,
            x_title=_("Share of cases passed to a physician"),
            y_title=_("Mean cost per case"),
            description=_(
                "Cost by the share of cases in which the candidate is unsure and a physician answers instead."
            ),
        )

    yield Figure(
        "routing",
        _("Passing on uncertain cases"),
        _(
            "The least certain cases are passed on first, ranked by the share of the most frequent level "
            "among the samples. Dots mark the lowest cost."
        ),
        "routing",
        drawing,
    )


def _series_label(row: Row) -> str:
    return f"{row['candidate']}, {_format_label(_key(row))}"


def _spreads(report: Report) -> Iterator[Figure]:
    """A figure for each page of ambiguous cases."""
    series = _series(report)
    if not series:
        return
    drawn = series[:MAX_SERIES_DRAWN]
    caption = _(
        "Each case has a row for the panel’s votes and one for each candidate’s readings. The area of a dot is the "
        "share of that level. Cases in which a candidate is furthest from the panel come first."
    )
    if len(series) > len(drawn):
        names = ", ".join(f"{key[0]}, {_format_label(key)}" for key in drawn)
        caption += " " + _("Shown: the candidate closest to the panel and the next one: %(names)s.") % {"names": names}
    pages = Paginator(_ambiguous_cases(report), MAX_CASES_DRAWN)
    title = _("Votes and readings case by case")
    for page in pages:
        named = title
        if pages.num_pages > 1:
            named = _("%(title)s, %(page)s of %(pages)s") % {
                "title": title,
                "page": page.number,
                "pages": pages.num_pages,
            }
        yield Figure(
            _figure_name(page.number),
            named,
            caption,
            "spread",
            _SpreadDrawing(report, list(page.object_list), drawn),
        )


class _SpreadDrawing:
    """Distributions of some cases waiting for their colours."""

    def __init__(self, report: Report, cases: list[str], drawn: Sequence[SeriesKey]) -> None:
        self.report, self.cases, self.drawn = report, cases, drawn

    def __call__(self, palette: Palette) -> object:
        levels = [level_label(level) for level in self.report.result["facts"]["levels"]]
        return spread_dots(
            list(self._rows()),
            levels,
            palette,
            x_title=_("Level"),
            description=_("Shares of the levels in ambiguous cases: votes of the panel, then readings of candidates."),
        )

    def _rows(self) -> Iterator[Spread]:
        inside = set(self.cases)
        shares: dict[str, dict[SeriesKey, list[Row]]] = {}
        for row in table_of(self.report, "spread").dicts():
            if row["case"] in inside:
                own = shares.setdefault(row["case"], {})
                own.setdefault(_key(row), []).append(row)
        urls = case_urls(self.report.benchmark, self.cases)
        for case in self.cases:
            url, of_case = urls.get(case, ""), shares[case]
            yield Spread(case, _("Panel"), [row["q"] for row in next(iter(of_case.values()))], url)
            for key in self.drawn:
                if key in of_case:
                    label = f"{key[0]}, {_format_label(key)}"
                    yield Spread(case, label, [row["f"] for row in of_case[key]], url)


_LOGPROBS_METHODS = (
    "Readings that came with log probabilities of the levels have a second distribution, the mean over the readings of "
    "a case, for which one reading is enough. It has no number of readings, so that neither the corrected error nor "
    "distances at matched sizes are defined for it.",
)


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    (panel,) = table_of(report, "panel").dicts()
    rows = table_of(report, "uncertainty").dicts()
    names = sorted({row["candidate"] for row in rows})
    return [
        f"The spread of the readings of {counted(len(names), 'candidate')} ({listed(names)}) of the benchmark "
        f"{report.benchmark.title} was compared with the votes of physicians in reference set "
        f"{facts['reference_set']}, signed on {facts['signed_at']}, on the scale {facts['scale']}.",
        f"{counted(panel['n_cases'], 'case')} had {panel['n_votes']:,} votes of independent physicians, "
        f"{panel['n_boundary_votes']:,} of them for two adjacent levels, which count half for each; in "
        f"{panel['n_cannot_tell']:,} further ones the physician could not tell. A panel took {facts['minimum_votes']} "
        f"votes; {panel['n_ambiguous']:,} cases were ambiguous by the rule {facts['ambiguous']}.",
        *reference_methods(facts),
        *judge_methods(facts),
        *release_methods(facts),
        *plan_methods(facts),
        "Distances are the total variation, the earth mover’s distance in levels, the Jensen–Shannon divergence "
        "(natural logarithm) and the ranked probability score (Epstein 1969), means over cases with three votes and "
        "two usable readings; the corrected error is unbiased for finite panels and samples (Ferro 2014).",
        *(_LOGPROBS_METHODS if any(_key(row)[2] == LOGPROBS for row in rows) else ()),
        "The ceiling of the ranked probability score is that of each vote by the others of its case; the other "
        "distances are compared at matched sizes, two halves of a panel beside half of the readings and half of the "
        f"votes (seed {report.seed}).",
        f"Costs take a level too low for {facts['ratio']:g} times as dear as a level too high; regret is the cost "
        "above that of the best single answer.",
    ]


KIND = Kind(
    value=Report.Kind.ACUITY_UNCERTAINTY,
    parameters=frozenset({"reference_set", "candidates", "judge", "ratio"}),
    complete=complete,
    compute=compute,
    title=title,
    form=UncertaintyForm,
    invitation=Invitation(
        gettext_lazy("Where physicians disagree"),
        gettext_lazy("The spread of a candidate’s readings compared with that of physicians’ votes."),
        gettext_lazy(
            "This report requires a reference set with physicians’ votes and several samples from one candidate."
        ),
    ),
    template="agreement/kinds/acuity_uncertainty.html",
    body=body,
    body_of_page=body_of_page,
    figures=figures,
    headline=(gettext_lazy("Ranked probability score"), 3),
    methods=methods,
    digest=digest,
)
