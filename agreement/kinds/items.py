"""Item analysis: the criteria, physicians and responses on which two raters differ, and what tells where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agreement.forms import TwoRatersForm
from agreement.items import analyse, read_items
from agreement.items.labels import in_order, value_label
from agreement.judged.coverage import coverage_remarks
from agreement.judged.training_overlap import learned_candidates, learners, remark
from agreement.kinds.kind import Context, Figure, Invitation, Kind, Parameters, Read
from agreement.kinds.shared import headline, judged_by, raters_table
from agreement.models import Report
from agreement.reports.interval_facts import interval_facts
from agreement.reports.links import pairs_url
from agreement.reports.numbers import PValue, Tile, number
from agreement.reports.parameters import named_raters
from agreement.reports.sentences import counted, listed, rater_in_words
from agreement.reports.stored import table_of
from agreement.reports.tables import Result, Row, Table
from agreement.selectors.rater_choices import display_name, shown_name
from consilium.core.i18n import translate_remark
from consilium.core.jobs import Progress, no_progress
from consilium.figures import charts
from consilium.figures.style import Palette
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.mutual_information import PERMUTATIONS
from rubrics.models import Benchmark
from scoring.selectors.raters import require_verdicts

SHOWN = 20  # rows of a long table on the page; all of them are in its file
DRAWN = 3  # attributes whose values are drawn
MAX_VALUES_DRAWN = 24  # values in one figure
SIGNIFICANT = 0.05  # of an attribute that the headline names
# What attributes are called; a kind of tag by its own name.
NAMES = {
    "points": gettext_lazy("points"),
    "criterion_length": gettext_lazy("length of the criterion"),
    "response_length": gettext_lazy("length of the response"),
    "language": gettext_lazy("language"),
    "register": gettext_lazy("register"),
    "difficulty": gettext_lazy("difficulty"),
    "candidate": gettext_lazy("candidate"),
}
UNITS = {
    "case": gettext_lazy("case"),
    "response": gettext_lazy("response"),
    "criterion": gettext_lazy("criterion"),
}


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return named_raters(benchmark, parameters, "rater_a", "rater_b")


def compute(
    benchmark: Benchmark,
    *,
    rater_a: str,
    rater_b: str,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Criteria, physicians, attributes and responses; ``rater_a`` is the reference."""
    items = read_items(benchmark, rater_a, rater_b)
    raters = (items.joined.rater_a, items.joined.rater_b)
    require_verdicts(*raters)
    progress(0.4)
    analysis = analyse(items, rule=rule, seed=seed, progress=lambda share: progress(0.4 + 0.5 * share))
    runs = [run.public_id for rater in raters for run in rater.runs]
    behind = raters_table(*raters)
    learned, learned_by = learned_candidates(benchmark, runs), learners(benchmark, *raters)
    tables = {**analysis.tables, "raters": behind}
    for name in ("overall", "where", "tail") if learned else ():
        rows = tables[name].dicts()
        remark(rows, learned, learned_by)
        tables[name] = Table.of(tables[name].columns, rows, tables[name].text)
    overall = tables["overall"].dicts()[0]
    return Result(
        tables=tables,
        facts={
            **analysis.facts,
            "raters": behind.dicts(),
            "learned": learned,
            "learned_by": learned_by,
            "judged_by": judged_by(*raters),
            "rater_a": raters[0].label,
            "rater_b": raters[1].label,
            "runs": runs,
            **interval_facts(rule, analysis.effective),
            "permutations": PERMUTATIONS,
            "headline": headline(overall, "rate"),
        },
        notes=coverage_remarks(*raters),
        digest=items.digest,
    )


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("Where %(a)s and %(b)s differ") % {
        "a": display_name(given["rater_a"], runs),
        "b": display_name(given["rater_b"], runs),
    }


def attribute_name(name: str) -> str:
    """An attribute as a page calls it."""
    return str(NAMES.get(name, name))


def pair_url(report: Report, response: str) -> str:
    """The page of one response, side by side with one on which the raters agree more."""
    return reverse("agreement:pair", args=[report.benchmark.slug, report.public_id, response])


def body(report: Report, sort: str) -> Context:
    facts = report.result["facts"]
    overall = table_of(report, "overall").dicts()[0]
    criteria, tail = table_of(report, "criteria"), table_of(report, "tail")
    where = table_of(report, "where").dicts()
    attribute_rows = table_of(report, "attributes").dicts()
    return {
        "names": {key: shown_name(report.benchmark, facts[f"rater_{key}"]) for key in "ab"},
        "overall": overall,
        "tiles": _tiles(facts, overall, attribute_rows),
        "attributes": [_attribute(report, row, where) for row in attribute_rows],
        "criteria": [_criterion(report, row) for row in _first(criteria)],
        "n_criteria": len(criteria.rows),
        "physicians": [_physician(row) for row in table_of(report, "physicians").dicts()],
        "tail": [_response(report, row) for row in _first(tail)],
        "n_tail": len(tail.rows),
        "shown": SHOWN,
    }


def _first(table: Table) -> Iterator[Row]:
    """The rows that the page shows, read no further than that."""
    return (dict(zip(table.columns, row, strict=True)) for row in islice(table.rows, SHOWN))


def _tiles(facts: Row, overall: Row, attribute_rows: list[Row]) -> list[Tile]:
    notable_rows = [row for row in attribute_rows if row["p"] is not None and row["p"] <= SIGNIFICANT]
    first = notable_rows[0] if notable_rows else None
    negative = [facts["n_negative_a"], facts["n_negative_b"]]
    return [
        Tile(_("Disagreement"), number(overall, "rate", scale=100, digits=1, unit="%")),
        Tile(
            _("Criteria with disagreement on half or more of the pairs"),
            text=f"{facts['n_criteria_apart']:,}",
            detail=_("of %(n)s") % {"n": f"{facts['n_criteria']:,}"},
        ),
        Tile(
            _("Responses below 0.6"),
            text=f"{facts['n_low']:,}",
            detail=_("Macro-F1 of one response; of %(n)s") % {"n": f"{facts['n_responses']:,}"},
        ),
        Tile(
            _("Each criterion against the others"),
            text=" · ".join(f"{side['negative']:,}" for side in negative),
            detail=_("discrimination below 0 by A · by B; of %(a)s · %(b)s")
            % {"a": f"{negative[0]['n']:,}", "b": f"{negative[1]['n']:,}"},
        ),
        Tile(
            _("Most informative attributes"),
            text=attribute_name(first["attribute"]) if first else "–",
            detail=_("%(share)s of the uncertainty, p %(p)s")
            % {"share": f"{100 * first['share']:.1f}%", "p": PValue.of(first, "p").shown}
            if first
            else _("no attribute is more informative than chance at the 5% level"),
        ),
    ]


def _attribute(report: Report, row: Row, where: list[Row]) -> Context:
    values = in_order(
        row["attribute"], (value_row for value_row in where if value_row["attribute"] == row["attribute"])
    )
    return {
        **row,
        "label": attribute_name(row["attribute"]),
        "unit_label": UNITS[row["unit"]],
        "bits": number(row, "bits", digits=4),
        "by_chance": number(row, "by_chance", digits=4),
        "share": number(row, "share", scale=100, digits=1, unit="%"),
        "p": PValue.of(row, "p"),
        "values": [
            {
                **value_row,
                "label": value_label(value_row["attribute"], value_row["value"]),
                "url": pairs_url(report, value_row["slice"]),
                "rate": number(value_row, "rate", scale=100, digits=1, unit="%"),
            }
            for value_row in values
        ],
    }


def _criterion(report: Report, row: Row) -> Context:
    return {
        **row,
        "url": pairs_url(report, row["slice"]) if row["slice"] else "",
        "raw": number(row, "raw", scale=100, digits=0, unit="%"),
        "mf1": number(row, "mf1", digits=2),
        "met_a": number(row, "met_a", scale=100, digits=0, unit="%"),
        "met_b": number(row, "met_b", scale=100, digits=0, unit="%"),
        "discrimination_a": number(row, "discrimination_a", digits=2),
        "discrimination_b": number(row, "discrimination_b", digits=2),
    }


def _physician(row: Row) -> Context:
    shares = ("met", "cannot", "noted", "borderline", "raw_other", "raw_peers")
    return {
        **row,
        **{name: number(row, name, scale=100, digits=1, unit="%") for name in shares},
        "mf1_other": number(row, "mf1_other"),
        "mf1_peers": number(row, "mf1_peers"),
        "rater_rest": number(row, "rater_rest", digits=2),
    }


def _response(report: Report, row: Row) -> Context:
    return {
        **row,
        "url": pair_url(report, row["response"]),
        "pairs_url": pairs_url(report, row["slice"]),
        "mf1": number(row, "mf1"),
        "raw": number(row, "raw", scale=100, digits=0, unit="%"),
        "beside_mf1": number(row, "beside_mf1"),
        "remark": translate_remark(row["note"]),
    }


def figures(report: Report) -> Iterator[Figure]:
    attribute_rows = [row for row in table_of(report, "attributes").dicts() if row["share"] is not None]
    if not attribute_rows:
        return
    overall = table_of(report, "overall").dicts()[0]
    where = table_of(report, "where").dicts()

    def ranked(palette: Palette) -> object:
        return charts.points_and_whiskers(
            [charts.Point(attribute_name(row["attribute"]), 100 * row["share"]) for row in attribute_rows],
            palette,
            x_title=_("share of the uncertainty about disagreement, %"),
            description=_(
                "How much each attribute explains disagreement between the raters, the most informative first."
            ),
            line=charts.Line(0.0, _("nothing")),
            domain=_room([100 * row["share"] for row in attribute_rows]),
        )

    yield Figure(
        "attributes",
        _("Attributes that explain disagreement"),
        _(
            "Mutual information with disagreement, beyond what chance and the case alone explain, as a "
            "share of the entropy of disagreement."
        ),
        "attributes",
        ranked,
    )
    first = [row["attribute"] for row in attribute_rows[:DRAWN]]
    points = [
        charts.Point(
            _("%(attribute)s: %(value)s")
            % {"attribute": attribute_name(name), "value": value_label(name, row["value"])},
            100 * row["rate"],
            None if row["rate_low"] is None else 100 * row["rate_low"],
            None if row["rate_high"] is None else 100 * row["rate_high"],
            href=pairs_url(report, row["slice"]),
        )
        for name in first
        for row in in_order(name, (value_row for value_row in where if value_row["attribute"] == name))
        if row["rate"] is not None
    ][:MAX_VALUES_DRAWN]
    if not points:
        return

    def rates(palette: Palette) -> object:
        ends = [end for point in points for end in (point.value, point.low, point.high) if end is not None]
        return charts.points_and_whiskers(
            points,
            palette,
            x_title=_("pairs with disagreement, %"),
            description=_("How often the raters differ, by the values of the most informative attributes."),
            line=charts.Line(100 * overall["rate"], _("all %(rate).1f%%") % {"rate": 100 * overall["rate"]}),
            domain=_room([*ends, 100 * overall["rate"]]),
        )

    yield Figure(
        "where",
        ngettext(
            "Disagreement by the most informative attribute",
            "Disagreement by the %(n)s most informative attributes",
            len(first),
        )
        % {"n": len(first)},
        _("Valid pairs, with 95% intervals over cases; the dashed line is the rate over all pairs.")
        if any(point.low is not None for point in points)
        else _(
            "Valid pairs; the dashed line is the rate over all pairs. There are no intervals; the table "
            "notes explain why."
        ),
        "where",
        rates,
    )


def _room(values: list[float]) -> tuple[float, float]:
    """Ends of an axis of per cents: the values and 0, with a little room."""
    low, high = min(0.0, *values), max(0.0, *values)
    room = max(0.05, 0.06 * (high - low))
    return (low - room if low < 0 else low), high + room


def pairs(report: Report, side: str) -> Read:
    items = read_items(report.benchmark, report.parameters["rater_a"], report.parameters["rater_b"])
    joined = items.joined
    return (joined.rater_a.label, joined.rater_b.label), joined.pairs, joined.frame, items.digest


def digest(benchmark: Benchmark, parameters: Parameters) -> str:
    return read_items(benchmark, parameters["rater_a"], parameters["rater_b"]).digest


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    overall = table_of(report, "overall").dicts()[0]
    a, b = rater_in_words(facts["rater_a"]), rater_in_words(facts["rater_b"])
    lines = [
        f"Item analysis compared {b} with {a} on {counted(overall['n_pairs'], 'valid pair')} of a response and a "
        f"criterion on {counted(overall['n_cases'], 'case')}; pairs that either could not assess or left undecided, "
        "and criteria found faulty, were excluded.",
        "The discrimination of a criterion is the Pearson correlation, over the responses to its case, of its own "
        "score with the rubric score of the response without it; it is undefined below three responses or where "
        "either is constant.",
        "How much an attribute tells of disagreement is their mutual information in bits less its mean over "
        f"{facts['permutations']} permutations, with seed {report.seed}, of the attribute among the cases, responses "
        "or criteria that bear it, within cases for the latter two, with the p-value of those (Phipson and Smyth "
        "2010); p-values are not corrected for the number of attributes.",
    ]
    if facts["groups"]:
        lines.append(
            f"Physicians of {listed('group ' + name for name in facts['groups'])} are described by their own first "
            "decisions, before any secondary check."
        )
    return lines


KIND = Kind(
    value=Report.Kind.ITEMS,
    parameters=frozenset({"rater_a", "rater_b"}),
    complete=complete,
    compute=compute,
    title=title,
    form=TwoRatersForm,
    invitation=Invitation(
        gettext_lazy("Analyse items"),
        gettext_lazy(
            "On which criteria, responses and attributes two raters differ, and how each physician "
            "decides: what to discuss and what to reword."
        ),
        gettext_lazy("This report requires two raters with decisions."),
    ),
    template="agreement/kinds/items.html",
    body=body,
    figures=figures,
    headline=(gettext_lazy("Share of pairs with disagreement"), 1),
    headline_unit="%",
    pairs=pairs,
    methods=methods,
    digest=digest,
)
