"""The candidates of a report on acuity by rank, with the figure they are ranked by."""

from __future__ import annotations

from django.db.models import QuerySet

from agreement.kinds.acuity_page import FORMATS, RANKED, acuity_rows, has_other_rank, ranks_by
from agreement.models import Report
from agreement.reports.tables import Row, Table
from consilium.core.jobs import JobStatus
from rubrics.models import Benchmark
from rubrics.parsing.acuity_files import ALL

COLUMNS = (
    *("candidate", "format", "measure", "value", "value_low", "value_high", "rank", "rank_low", "rank_high"),
    *("rank_usable", "differs", "leads", "n_cases", "note"),
)
TEXT_COLUMNS = ("candidate", "format", "measure", "note")


def reports_to_rank(benchmark: Benchmark) -> QuerySet[Report]:
    """The finished reports of the kind acuity, the newest first."""
    return Report.objects.current().filter(benchmark=benchmark, kind=Report.Kind.ACUITY, status=JobStatus.DONE)


def newest_report(benchmark: Benchmark) -> Report | None:
    """The newest of `reports_to_rank` with at least two candidates; the newest of all where there is none."""
    reports = reports_to_rank(benchmark)
    parameters = reports.values_list("pk", "parameters__candidates")
    several = next((pk for pk, candidates in parameters if len(candidates or ()) > 1), None)
    chosen = reports if several is None else reports.filter(pk=several)
    return chosen.select_related("benchmark", "created_by").first()


def formats_of(report: Report) -> list[str]:
    """The formats in which candidates are ranked, the forced choice first."""
    known = {row["format"] for row in ranks_by(report, RANKED[0], ALL)}
    return [format_ for format_ in FORMATS if format_ in known]


def board_rows(report: Report, measure: str) -> list[Row]:
    """A row for each candidate and format, by format and rank, those without a figure last.

    ``differs``: over usable readings alone it has another rank. ``leads``: its range of ranks is the first place alone.
    """
    figures = {(row["candidate"], row["format"]): row for row in acuity_rows(report) if row["aggregate"] == "expected"}
    ranks = ranks_by(report, measure, ALL)
    n_ranked = {format_: sum(row["format"] == format_ for row in ranks) for format_ in FORMATS}
    rows = []
    for row in ranks:
        own = figures[row["candidate"], row["format"]]
        rows.append(
            {
                **row,
                "value_low": own[f"{measure}_low"],
                "value_high": own[f"{measure}_high"],
                "differs": has_other_rank(row),
                "leads": n_ranked[row["format"]] > 1 and row["rank_high"] == 1,
            }
        )
    return rows


def board_table(report: Report | None, measure: str) -> Table:
    """The same as a table for a file; without rows where there is no report."""
    return Table.of(COLUMNS, board_rows(report, measure) if report else [], TEXT_COLUMNS)
