"""The tables of a report as data frames, for notebooks: ``make shell``, or a script that sets Django up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agreement.models import Report
from agreement.reports.stored import table_names, table_of
from agreement.writers.data_frame import table_frame

if TYPE_CHECKING:
    import pandas as pd


def report_frames(report: Report) -> dict[str, pd.DataFrame]:
    """Every table of a finished report by its name, in the order of the report; none of a report that is not finished.

    Types and missing values are those of `table_frame`.
    """
    return {name: table_frame(table_of(report, name)) for name in table_names(report)}
