"""HTML doors of agreement, scores and calibration."""

from agreement.views.decisions import decisions
from agreement.views.downloads import figure_png, figure_svg, table_csv
from agreement.views.reports import progress, recompute, report, section

__all__ = ["decisions", "figure_png", "figure_svg", "progress", "recompute", "report", "section", "table_csv"]
