"""Pages of agreement, scores and calibration."""

from agreement.views.decisions import decisions
from agreement.views.downloads import archive, figure_file, methods, table_file, workbook
from agreement.views.freshness import freshness
from agreement.views.reports import progress, recompute, report, section
from agreement.views.side_by_side import pair
from agreement.views.subsets import slice_csv, slice_retire, slices, slices_preview
from agreement.views.thresholds import sign_threshold, thresholds_csv

__all__ = [
    "archive",
    "decisions",
    "figure_file",
    "freshness",
    "methods",
    "pair",
    "progress",
    "recompute",
    "report",
    "section",
    "sign_threshold",
    "slice_csv",
    "slice_retire",
    "slices",
    "slices_preview",
    "table_file",
    "thresholds_csv",
    "workbook",
]
