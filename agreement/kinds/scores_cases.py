"""Violins of single cases: how many criteria the candidates' responses to a case meet, around the threshold k."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.utils.translation import gettext as _

from agreement.kinds.kind import Figure
from agreement.kinds.scores_rows import rows_of
from agreement.models import Report
from agreement.reports.links import pairs_url
from agreement.reports.tables import Row
from consilium.figures.charts import Line
from consilium.figures.style import Palette
from consilium.figures.violin import violin
from rubrics.models import Candidate

MAX_CASES = 12
FEW = 8  # a case with fewer responses is drawn as dots


def case_figures(report: Report) -> Iterator[Figure]:
    """The cases that the report was asked to show, the hardest and the most varied ones."""
    rows = rows_of(report, "case_hits")
    if not rows:
        return
    named = {key: place for place, key in enumerate(report.parameters.get("cases") or ())}
    chosen = sorted((row for row in rows if row["case"] in named), key=lambda row: named[row["case"]])
    sets = {
        "chosen": (_("Chosen cases"), chosen, _("The cases that the report was asked to show.")),
        "hardest": (
            _("The hardest cases"),
            _first(rows, "hardest"),
            _(
                "The %(n)s cases with the lowest mean share of positive criteria met, of those with at least k "
                "positive criteria and two or more responses that no physician wrote; the hardest on top."
            ),
        ),
        "varied": (
            _("The most varied cases"),
            _first(rows, "most_varied"),
            _(
                "The %(n)s cases with the largest standard deviation of the share of positive criteria met, of those "
                "with at least k positive criteria and two or more responses that no physician wrote; the most varied "
                "on top."
            ),
        ),
    }
    hits: _Hits | None = None
    for name, (option, own, rule) in sets.items():
        if not own:
            continue
        is_first = hits is None
        hits = hits or _read_hits(report)
        violins = _CaseViolins(report, own, hits)
        yield Figure(
            f"cases-{name}",
            _("Criteria met in single cases: %(which)s") % {"which": option},
            " ".join([rule % {"n": len(own)}, *violins.sentences]),
            "case_hits",
            violins,
            choice="cases",
            option=option,
            is_on_request=not is_first,
        )


_Hits = Mapping[tuple[str, bool], Sequence[float]]


def _first(rows: Sequence[Row], column: str) -> list[Row]:
    placed = sorted((row for row in rows if row[column] is not None), key=lambda row: row[column])
    return placed[:MAX_CASES]


def _read_hits(report: Report) -> _Hits:
    """The hits of the responses to a case: those of physicians (True), and the others (False)."""
    kinds = {row["candidate"]: row["kind"] for row in rows_of(report, "scoreboard")}
    hits: dict[tuple[str, bool], list[float]] = {}
    for row in rows_of(report, "responses"):
        if row["hits"] is not None:
            written = kinds.get(row["candidate"]) == Candidate.Kind.PHYSICIAN
            hits.setdefault((row["case"], written), []).append(float(row["hits"]))
    return hits


class _CaseViolins:
    """Violins waiting for their colours."""

    def __init__(self, report: Report, rows: Sequence[Row], hits: _Hits) -> None:
        self.report = report
        self.k = int(report.result["facts"]["k"])
        labels = {row["case"]: f"{row['case']} (n = {row['n']:,})" for row in rows}
        self.rows = [(labels[row["case"]], list(hits.get((row["case"], False), ()))) for row in rows]
        self.written = {labels[row["case"]]: list(hits.get((row["case"], True), ())) for row in rows}
        self.links = {labels[row["case"]]: pairs_url(report, f"case:{row['case']}") for row in rows}
        self.most = max(row["n_criteria"] for row in rows)

    @property
    def sentences(self) -> list[str]:
        """What the marks are."""
        sentences = [_("n is the number of responses.")]
        if self.k <= self.most:
            sentences.append(_("The dashed line is the threshold k."))
        if any(len(values) >= FEW for _label, values in self.rows):
            sentences.append(
                _(
                    "Each violin shows the responses of all candidates; the bar spans the middle half, and the dot is "
                    "the median."
                )
            )
        if any(0 < len(values) < FEW for _label, values in self.rows):
            sentences.append(_("Fewer than %(n)s responses are shown as dots.") % {"n": FEW})
        if any(self.written.values()):
            sentences.append(_("Diamonds are responses that physicians wrote; they are not part of a violin."))
        return sentences

    def __call__(self, palette: Palette) -> object:
        return violin(
            self.rows,
            palette,
            x_title=_("positive criteria met in a response"),
            description=_("How many positive criteria the responses to each case meet, and the threshold k."),
            line=Line(float(self.k), f"k = {self.k}") if self.k <= self.most else None,
            limits=(0.0, float(self.most)),
            hrefs=self.links,
            words="%(label)s: %(median).3g (%(q1).3g–%(q3).3g)",
            min_values=FEW,
            whole=True,
            marked=self.written,
            marked_words=_("%(label)s, written by a physician: %(value)g"),
        )
