"""All tables of acuity that need no votes, with their columns, as files and reports have them."""

from __future__ import annotations

from collections.abc import Iterable

from agreement.acuity import acuity_tables as acuity
from agreement.acuity import confidence_tables as confidence
from agreement.acuity import crossing_tables as crossing
from agreement.acuity import format_tables as formats
from agreement.acuity import position_table as position
from agreement.acuity import ranking_tables as ranking
from agreement.acuity.measures import Price
from agreement.acuity.readings import AcuityData
from agreement.acuity.unusable_table import TEXT_COLUMNS, UNUSABLE_COLUMNS, UnusableReading, unusable_rows
from consilium.core.out_folder import OutTable
from consilium.statistics.intervals import IntervalRule

# Only where both formats are there.
OF_BOTH_FORMATS = ("formats", "joint", "tests")


def report_tables(
    data: AcuityData, unusable: Iterable[UnusableReading], *, price: Price, rule: IntervalRule
) -> list[OutTable]:
    """The tables in their order; those of two formats only where ``data`` has both."""
    tables = acuity.acuity_tables(data, price=price, rule=rule)
    summaries, bins = confidence.confidence_rows(data)
    files = [
        OutTable("acuity", acuity.ACUITY_COLUMNS, tables.acuity, acuity.TEXT_COLUMNS),
        OutTable(
            "ranking", ranking.RANKING_COLUMNS, ranking.ranking_rows(data, price=price, rule=rule), ranking.TEXT_COLUMNS
        ),
        OutTable("levels", acuity.LEVEL_COLUMNS, tables.levels, acuity.TEXT_COLUMNS),
        OutTable("confusion", acuity.CONFUSION_COLUMNS, tables.confusion, acuity.TEXT_COLUMNS),
        OutTable("boundary", acuity.BOUNDARY_COLUMNS, tables.boundary, acuity.TEXT_COLUMNS),
        OutTable("missed", acuity.MISSED_COLUMNS, tables.missed, acuity.TEXT_COLUMNS),
        OutTable("cost_curve", acuity.CURVE_COLUMNS, tables.cost_curve, acuity.TEXT_COLUMNS),
        OutTable("pairs", acuity.PAIR_COLUMNS, tables.pairs, acuity.TEXT_COLUMNS),
        OutTable("confidence", confidence.CONFIDENCE_COLUMNS, summaries, confidence.TEXT_COLUMNS),
        OutTable("reliability", confidence.RELIABILITY_COLUMNS, bins, confidence.TEXT_COLUMNS),
        OutTable("unusable", UNUSABLE_COLUMNS, unusable_rows(unusable), TEXT_COLUMNS),
    ]
    if data.readings.descending is not None:
        rows = list(position.position_rows(data, rule=rule))
        files.append(OutTable("position", position.POSITION_COLUMNS, rows, position.TEXT_COLUMNS))
    if {"qa", "chat"} <= {format_ for _candidate, format_ in data.series_names}:
        compared, joint, tests = formats.format_rows(data, price=price, rule=rule)
        files += [
            OutTable("formats", formats.FORMAT_COLUMNS, compared, formats.TEXT_COLUMNS),
            OutTable("joint", formats.JOINT_COLUMNS, joint, formats.JOINT_TEXT),
            OutTable("tests", formats.TEST_COLUMNS, tests, formats.TEXT_COLUMNS),
        ]
    return files


def cost_tables(data: AcuityData, *, price: Price, seed: int) -> list[OutTable]:
    """Where the cost curves of two candidates cross, and which candidate is the cheapest from which ratio on."""
    return [
        OutTable(
            "crossings",
            crossing.CROSSING_COLUMNS,
            crossing.crossing_rows(data, price=price, seed=seed),
            crossing.TEXT_COLUMNS,
        ),
        OutTable(
            "cheapest", crossing.CHEAPEST_COLUMNS, crossing.cheapest_rows(data, price=price), crossing.TEXT_COLUMNS
        ),
    ]
