"""Heat maps of scores: candidates by theme, task, specialty or axis, with values and n."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.utils.translation import gettext as _

from agreement.kinds.kind import Figure
from agreement.kinds.scores_rows import DIGITS, evidence_url, labels_of, measure_words, rows_of
from agreement.kinds.slice_menu import titles_of_named
from agreement.models import Report
from agreement.reports.tables import Row
from agreement.scoreboard.scoreboard import VALUE_KINDS
from consilium.figures.style import Palette
from consilium.figures.value_map import ValueCell, value_map
from rubrics.slice_words import KINDS


def value_figures(report: Report) -> Iterator[Figure]:
    """A map for each kind of slices of which there are two, and each figure; the first is drawn ahead."""
    rows = rows_of(report, "values")
    is_first = True
    for kind in VALUE_KINDS:
        of_kind = [row for row in rows if row["kind"] == kind]
        slices = list(dict.fromkeys(row["slice"] for row in of_kind))
        if kind == "difficulty" or len(slices) < 2:
            continue
        heading = str(KINDS[kind])
        for measure, label in measure_words(report).items():
            own = [row for row in of_kind if row["measure"] == measure]
            if all(row["value"] is None for row in own):
                continue
            values = _Values(report, kind, measure, label, slices, own)
            yield Figure(
                f"values-{kind}-{measure}",
                _("%(measure)s by %(kind)s") % {"measure": label, "kind": heading.lower()},
                values.caption,
                "values",
                values,
                choice="values",
                option=f"{heading}: {label}",
                is_on_request=not is_first,
            )
            is_first = False


class _Values:
    """A map waiting for its colours. The longer side runs downwards, so that the figure stays within a page."""

    def __init__(
        self, report: Report, kind: str, measure: str, label: str, slices: Sequence[str], rows: Sequence[Row]
    ) -> None:
        self.report, self.measure, self.label = report, measure, label
        self.names = labels_of(kind, slices)
        if kind == "subset_axis":
            titles = titles_of_named(report.benchmark, slices)
            names = {part: titles.get(part, self.names[part]) for part in slices}
            if len(set(names.values())) == len(names):  # two named slices may have the same title
                self.names = names
        self.slices = list(slices)
        self.candidates = list(dict.fromkeys(row["candidate"] for row in rows))
        self.rows: Mapping[tuple[str, str], Row] = {(row["slice"], row["candidate"]): row for row in rows}

    @property
    def caption(self) -> str:
        """What the cells say."""
        sentences = [_("Each cell has the value and n, the number of responses; a stronger ground is a higher value.")]
        if any(row["value"] is None for row in self.rows.values()):
            sentences.append(_("Hatched: undefined; the table says why."))
        sentences.append(_("The table has the 95% intervals over cases."))
        return " ".join(sentences)

    def __call__(self, palette: Palette) -> object:
        upright = len(self.slices) > len(self.candidates)
        places = (
            [(part, name) for part in self.slices for name in self.candidates]
            if upright
            else [(part, name) for name in self.candidates for part in self.slices]
        )
        cells = []
        for part, name in places:
            row = self.rows[part, name]
            row_name, column = (self.names[part], name) if upright else (name, self.names[part])
            href = evidence_url(self.report, name, part) if row["n"] else ""
            cells.append(ValueCell(row_name, column, row["value"], row["n"], href))
        return value_map(
            cells,
            palette,
            description=_("The score of each candidate in each part of the benchmark, with the number of responses."),
            digits=DIGITS[self.measure],
            key_title=self.label,
        )
