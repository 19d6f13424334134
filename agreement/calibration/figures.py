"""The figures of a calibration, from its stored tables."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agreement.kinds.kind import Figure
from agreement.models import Report
from agreement.reports.links import pairs_url
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from consilium.figures import charts, thresholds
from consilium.figures.style import Palette
from consilium.figures.violin import MIN_VALUES, violin


def rows_of(report: Report, name: str) -> list[Row]:
    """The rows of a table; none if the report was computed before the table was introduced."""
    try:
        return table_of(report, name).dicts()
    except KeyError:
        return []


def figures(report: Report) -> Iterator[Figure]:
    """The figures in the order of the page; those without a value to show are left out."""
    yield _hits(report)
    yield from _violins(report)
    yield from _values(report)
    yield from _ranks(report)
    yield from _errors(report)


def _k_line(report: Report) -> charts.Line:
    k = report.result["facts"]["k"]
    return charts.Line(float(k), f"k = {k}")


def _links(report: Report, names: list[str]) -> dict[str, str]:
    return {name: pairs_url(report, f"candidate:{name}") for name in names}


def _hits(report: Report) -> Figure:
    facts = report.result["facts"]
    band = None if facts["k_low"] is None else (facts["k_low"] - 0.5, facts["k_high"] + 0.5)

    def drawing(palette: Palette) -> object:
        return thresholds.hits(
            facts["histogram"],
            palette,
            x_title=_("positive criteria met"),
            y_title=_("responses"),
            description=_("Number of positive criteria that the physicians’ responses meet, and the threshold k."),
            line=_k_line(report),
            band=band,
            quartiles=(facts["q1"], facts["median"], facts["q3"]),
            quartiles_label=_("quartiles %(q1)g, %(median)g, %(q3)g") % facts,
            href=pairs_url(report, f"candidate:{facts['candidate']}"),
        )

    shaded = _(
        "The dashed line is k, the mean rounded half up; the shaded band is its 95% interval. The bar "
        "above spans the first to the third quartile, with a tick at the median."
    )
    plain = _(
        "The dashed line is k, the mean rounded half up. The bar above spans the first to the third "
        "quartile, with a tick at the median."
    )
    name = _("Criteria met by responses that physicians wrote")
    return Figure("hits", name, shaded if band else plain, "histogram", drawing)


def _violins(report: Report) -> Iterator[Figure]:
    rows = rows_of(report, "case_accuracy")
    if not rows:
        return
    k = report.result["facts"]["k"]
    shares: dict[str, list[float]] = {}
    for row in rows:
        shares.setdefault(row["candidate"], []).extend([row["hits"] / row["n_criteria"]] * row["n_responses"])
    order = sorted(shares, key=lambda name: (-sum(shares[name]) / len(shares[name]), name))
    sizes = {row["n_criteria"] for row in rows}
    # Where rubrics differ in length, k is a different share of each, so a single line would be wrong.
    size = sizes.pop() if len(sizes) == 1 else 0
    line = charts.Line(k / size, _("k = %(k)s of %(n)s") % {"k": k, "n": size}) if k <= size else None

    def drawing(palette: Palette) -> object:
        return violin(
            [(name, shares[name]) for name in order],
            palette,
            x_title=_("share of positive criteria met in a response"),
            description=_("Distribution of the share of positive criteria met over the responses of each candidate."),
            line=line,
            hrefs=_links(report, order),
        )

    sentences = [
        _("Each violin shows the responses of one candidate; the bar spans the middle half, and the dot is the median.")
    ]
    if any(len(own) < MIN_VALUES for own in shares.values()):
        sentences.append(_("Fewer than five responses are shown as dots."))
    if line:
        sentences.append(_("The dashed line is the threshold k."))
    yield Figure("accuracy", _("Accuracy on single responses"), " ".join(sentences), "case_accuracy", drawing)


def _values(report: Report) -> Iterator[Figure]:
    rows = [row for row in rows_of(report, "candidates") if row["setting"] == "cacs_at_k"]
    drawn = [(row["candidate"], row["k"], row["value"]) for row in rows]
    values = [value for _name, _k, value in drawn if value is not None]
    if not values or len({k for _name, k, _value in drawn}) < 2:
        return
    names = list(dict.fromkeys(name for name, _k, _value in drawn))

    def drawing(palette: Palette) -> object:
        return thresholds.named_lines(
            drawn,
            palette,
            x_title="k",
            y_title=_("CACS@k"),
            description=_("CACS of each candidate at every threshold k."),
            line=_k_line(report),
            limits=(0.0, max(10.0, 10.0 * ceil(max(values) / 10))),
            hrefs=_links(report, names),
        )

    yield Figure(
        "cacs_by_k",
        _("CACS at every threshold"),
        _("One line per candidate, based on the decisions of the same group; where lines cross, the order changes."),
        "candidates",
        drawing,
    )


def _ranks(report: Report) -> Iterator[Figure]:
    table = "sensitivity_all" if rows_of(report, "sensitivity_all") else "sensitivity"
    rows = [row for row in rows_of(report, table) if row["k"] is not None]
    correlations = {
        _("Spearman, CACS@k"): ("cacs_at_k", "spearman"),
        _("Kendall, CACS@k"): ("cacs_at_k", "kendall"),
        _("Spearman, Pass@k"): ("pass_at_k", "spearman"),
    }
    overlaps = {_("top 3, CACS@k"): ("cacs_at_k", "top3"), _("top 5, CACS@k"): ("cacs_at_k", "top5")}
    facts = report.result["facts"]
    for name, title, y_title, caption, series in (
        (
            "sensitivity",
            _("Ranks of the candidates at other thresholds"),
            _("correlation with CACS@%(k)s") % facts,
            _("Spearman’s and Kendall’s rank correlation with CACS@%(k)s, based on the decisions of the same group.")
            % facts,
            correlations,
        ),
        (
            "overlap",
            _("Leading candidates at other thresholds"),
            _("overlap with CACS@%(k)s") % facts,
            _(
                "Share of the top three and top five candidates by CACS@%(k)s that remain in the top three "
                "and five at other thresholds."
            )
            % facts,
            overlaps,
        ),
    ):
        drawn = [
            (label, row["k"], row.get(column))
            for label, (setting, column) in series.items()
            for row in rows
            if row["setting"] == setting
        ]
        shown = {label for label, _k, value in drawn if value is not None}
        drawn = [point for point in drawn if point[0] in shown]
        if drawn:
            yield Figure(name, title, caption, table, _lines(report, drawn, y_title))


def _lines(report: Report, drawn: list[tuple[str, int, float | None]], y_title: str) -> Any:
    def drawing(palette: Palette) -> object:
        return thresholds.compared_lines(
            drawn,
            palette,
            x_title="k",
            y_title=y_title,
            description=_("How closely the order of the candidates at other thresholds matches their order at k."),
            line=_k_line(report),
        )

    return drawing


def _errors(report: Report) -> Iterator[Figure]:
    rows = [row for row in rows_of(report, "judge_error") if row["measure"] == "cacs_at_k"]
    rows = [row for row in rows if row["by_judge"] is not None]
    if not rows:
        return
    k = report.result["facts"]["k"]
    truth = {row["candidate"]: row["by_physicians"] for row in rows}
    order = sorted(truth, key=lambda name: (-truth[name], name))
    n_responses = responses_of_roles(report)
    series = {row["role"]: judge_in_role(row["judge"], row["role"], n_responses.get(row["role"])) for row in rows}
    judged = {(row["candidate"], row["role"]): row for row in rows}
    points = []
    for name in order:
        link = pairs_url(report, f"candidate:{name}")
        points.append(charts.Point(name, truth[name], series=_("by physicians"), href=link))
        for role, label in series.items():
            row = judged[name, role]
            points.append(
                charts.Point(name, row["by_judge"], row["by_judge_low"], row["by_judge_high"], series=label, href=link)
            )
    # Without a range (for example, where all draws agree) the dot itself is the end.
    highest = max(row["by_judge"] if row["by_judge_high"] is None else row["by_judge_high"] for row in rows)

    def drawing(palette: Palette) -> object:
        return charts.points_and_whiskers(
            points,
            palette,
            x_title=f"CACS@{k}",
            description=_("CACS of each candidate according to physicians, and with the judges’ errors applied."),
            domain=(0.0, min(100.0, max([*truth.values(), highest]) * 1.05 + 1)),
            # The reference, which is taken as the truth, has the neutral colour.
            colours=(palette.series[4], palette.series[2], palette.series[1]),
        )

    yield Figure(
        "judge_error",
        _("Effect of a judge’s errors on CACS"),
        _("Next to each: the mean and 95% range after the judge’s errors are applied to the physicians’ decisions."),
        "judge_error",
        drawing,
    )


def role_words() -> dict[str, str]:
    """The names of the roles of judges."""
    return {"worst": _("worst judge"), "best": _("best judge"), "only": _("only judge")}


def judge_in_role(judge: str, role: str, n_responses: int | None = None) -> str:
    """A judge, the role in which its errors are propagated, and the number of responses that measure it, if known."""
    words = role_words()[role]
    if n_responses is None:
        return _("%(judge)s (%(role)s)") % {"judge": judge, "role": words}
    return ngettext("%(judge)s (%(role)s, %(n)s response)", "%(judge)s (%(role)s, %(n)s responses)", n_responses) % {
        "judge": judge,
        "role": words,
        "n": f"{n_responses:,}",
    }


def responses_of_roles(report: Report) -> dict[str, int]:
    """Role → the number of responses on which its judge was measured; empty in reports from before it was stored."""
    rows = rows_of(report, "judges")
    return {row["role"]: row["n_responses"] for row in rows if row["role"] and "n_responses" in row}
