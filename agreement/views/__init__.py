"""Pages of agreement, scores and calibration."""

from agreement.reports.decision_views import decisions
from agreement.reports.download_views import archive, figure_file, methods, table_file, workbook
from agreement.reports.freshness_views import freshness
from agreement.reports.views import progress, recompute, report, section
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
