"""The figures of a report, from its stored tables: what is drawn, what it says, and the table behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.core.cache import cache
from django.urls import reverse
from django.utils import translation
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from agreement.models import Report
from agreement.offers import display_name
from agreement.tables import Row, Table
from consilium.figures import charts
from consilium.figures.render import Drawing, inline_svg
from consilium.figures.style import Palette
from consilium.lib.version import VERSION
from rubrics.models import JobStatus

CACHED_SECONDS = 7 * 24 * 3600


@dataclass(frozen=True)
class Figure:
    """A figure of a report. ``table`` names the stored table that holds its numbers."""

    name: str
    title: str
    caption: str
    table: str
    drawing: Drawing


def figures_of(report: Report) -> list[Figure]:
    """The figures of a finished report, in the order of its page; those without a value to show are left out."""
    return list(_BY_KIND[report.kind](report)) if report.result else []


def inline(report: Report, figure: Figure) -> SafeString:
    """The figure as markup for the page; kept, since a finished report does not change and Altair is slow to load."""
    key = f"figure:{report.public_id}:{figure.name}:{translation.get_language()}:{VERSION}"
    made = cache.get(key)
    if made is None:
        made = str(inline_svg(figure.drawing, title=figure.title))
        cache.set(key, made, CACHED_SECONDS)
    return SafeString(made)


def draw_ahead(report_id: int) -> None:
    """Draw the figures of a finished report in the language of its author, so that the first look need not wait."""
    report = Report.objects.select_related("benchmark", "created_by").get(pk=report_id)
    if report.status != JobStatus.DONE:
        return
    language = report.created_by.language if report.created_by else ""
    with translation.override(language or settings.LANGUAGE_CODE):
        for figure in figures_of(report):
            inline(report, figure)


def table_of(report: Report, name: str) -> Table:
    """A stored table; KeyError where there is none of that name."""
    return Table.from_json(report.result["tables"][name])


def pairs_url(report: Report, slice_name: str) -> str:
    """The page of the decisions behind a slice of a report."""
    address = reverse("agreement:decisions", args=[report.benchmark.slug, report.section, report.public_id])
    return f"{address}?{urlencode({'slice': slice_name})}"


def _candidate(slice_name: str) -> str:
    return slice_name.removeprefix("candidate:")


def _agreement(report: Report) -> Iterator[Figure]:
    rows = table_of(report, "candidates").dicts()
    overall, own = rows[0], rows[1:]
    facts = report.result["facts"]
    if any(row["mf1"] is not None for row in own):
        points = [
            charts.Point(
                _candidate(row["slice"]),
                row["mf1"],
                row["mf1_low"],
                row["mf1_high"],
                href=pairs_url(report, row["slice"]),
            )
            for row in own
        ]
        raters = {"a": display_name(facts["rater_a"]), "b": display_name(facts["rater_b"])}

        def by_candidate(palette: Palette) -> object:
            return charts.points_and_whiskers(
                points,
                palette,
                x_title=_("Macro-F1"),
                description=_("Macro-F1 of %(a)s and %(b)s for each candidate, with 95%% intervals.") % raters,
                line=charts.Line(overall["mf1"], _("all %(mf1).3f") % overall),
            )

        yield Figure(
            "candidates",
            _("Agreement on each candidate"),
            _("Macro-F1 with 95% bootstrap intervals over cases; the dashed line is the figure over all candidates.")
            if any(row["mf1_low"] is not None for row in own)
            else _("Macro-F1; the dashed line is the figure over all candidates. Fewer than 10 cases: no intervals."),
            "candidates",
            by_candidate,
        )
    if facts["n_responses"]:
        bins = [tuple(row) for row in table_of(report, "distribution").rows]

        def distribution(palette: Palette) -> object:
            return charts.histogram(
                bins,
                palette,
                x_title=_("Macro-F1 of a response"),
                y_title=_("responses"),
                description=_("How the Macro-F1 of single responses is spread; those below 0.6 stand out."),
                line=charts.Line(facts["below"], "0.6"),
                marked_below=facts["below"],
            )

        yield Figure(
            "distribution",
            _("Agreement on single responses"),
            _("%(below)s of %(n)s responses (%(share).1f%%) have a Macro-F1 below 0.6; the median is %(median).3f.")
            % {
                "below": facts["n_below"],
                "n": facts["n_responses"],
                "share": 100 * facts["share_below"],
                "median": facts["median"],
            },
            "distribution",
            distribution,
        )


def _fidelity(report: Report) -> Iterator[Figure]:
    rows = table_of(report, "fidelity").dicts()
    facts = report.result["facts"]
    names = {key: display_name(facts[key]) for key in ("judge", "a", "b")}
    series = {
        "ceiling": _("%(a)s and %(b)s: the human ceiling") % names,
        "judge_a": _("%(judge)s and %(a)s") % names,
        "judge_b": _("%(judge)s and %(b)s") % names,
    }
    points = [
        charts.Point(
            _("All") if row["slice"] == "all" else _candidate(row["slice"]),
            row[f"mf1_{key}"],
            row[f"mf1_{key}_low"],
            row[f"mf1_{key}_high"],
            series=label,
        )
        for row in rows
        for key, label in series.items()
    ]

    def drawing(palette: Palette) -> object:
        # The ceiling is what the judge is held against: it takes the neutral ink, the judge the accent.
        return charts.points_and_whiskers(
            points,
            palette,
            x_title=_("Macro-F1"),
            description=_("Macro-F1 of the judge with each group, beside that of the groups, for each candidate."),
            colours=(palette.series[4], palette.series[0], palette.series[1]),
        )

    yield Figure(
        "fidelity",
        _("The judge beside the human ceiling"),
        _("Macro-F1 on the same pairs, with 95% bootstrap intervals over cases.")
        if rows[0]["mf1_mean_low"] is not None
        else _("Macro-F1 on the same pairs. Fewer than 10 cases: no intervals."),
        "fidelity",
        drawing,
    )


def _calibration(report: Report) -> Iterator[Figure]:
    facts = report.result["facts"]
    counts = facts["histogram"]
    band = None if facts["k_low"] is None else (facts["k_low"] - 0.5, facts["k_high"] + 0.5)

    def hits(palette: Palette) -> object:
        return charts.histogram(
            [(s - 0.5, s + 0.5, n) for s, n in enumerate(counts)],
            palette,
            x_title=_("positive criteria met"),
            y_title=_("responses"),
            description=_("How many positive criteria the responses of physicians meet, with the threshold k."),
            line=charts.Line(float(facts["k"]), f"k = {facts['k']}"),
            band=band,
            whole=True,
        )

    yield Figure(
        "hits",
        _("Criteria met by responses that physicians wrote"),
        _("The dashed line is k, the mean rounded half up; the shaded band its 95% bootstrap interval.")
        if band
        else _("The dashed line is k, the mean rounded half up."),
        "histogram",
        hits,
    )
    rows = [row for row in table_of(report, "sensitivity").dicts() if row["k"] is not None]
    names = {"cacs_at_k": "CACS@k", "pass_at_k": "Pass@k"}
    drawn = [(names[row["setting"]], row["k"], row["spearman"]) for row in rows]
    if any(value is not None for _name, _k, value in drawn):

        def sensitivity(palette: Palette) -> object:
            return charts.lines(
                drawn,
                palette,
                x_title="k",
                y_title=_("Spearman with CACS@%(k)s") % facts,
                description=_("How far the order of the candidates under other thresholds is that under k."),
                line=charts.Line(float(facts["k"]), f"k = {facts['k']}"),
            )

        yield Figure(
            "sensitivity",
            _("Ranks of the candidates under other thresholds"),
            _("Spearman’s rank correlation with CACS@%(k)s, by the decisions of the same group.") % facts,
            "sensitivity",
            sensitivity,
        )


def _scores(report: Report) -> Iterator[Figure]:
    rows: list[Row] = [row for row in table_of(report, "scoreboard").dicts() if row["rubric_accuracy"] is not None]
    k = report.result["facts"]["k"]
    if any(row["cacs_at_k"] is not None for row in rows):

        def drawing(palette: Palette) -> object:
            return charts.scatter(
                [(row["candidate"], row["rubric_accuracy"], row["cacs_at_k"], "") for row in rows],
                palette,
                x_title=_("Rubric Accuracy"),
                y_title=f"CACS@{k}",
                description=_("CACS against Rubric Accuracy, a dot for each candidate."),
            )

        yield Figure(
            "coverage",
            _("Coverage against partial credit"),
            _("Of candidates that lie one above another, the threshold tells apart what partial credit does not."),
            "scoreboard",
            drawing,
        )


_BY_KIND: dict[str, Callable[[Report], Iterator[Figure]]] = {
    Report.Kind.AGREEMENT: _agreement,
    Report.Kind.FIDELITY: _fidelity,
    Report.Kind.CALIBRATION: _calibration,
    Report.Kind.SCORES: _scores,
}
