"""The attributes of the candidates that a release names, as a table that `import_candidates` reads."""

from __future__ import annotations

from releases.content.folder import Folder
from releases.content.optional_content import released_candidates
from releases.content.options import ReleaseOptions
from rubrics.models import Benchmark
from rubrics.selectors.attributes import attributes_of
from rubrics.services.attribute_values import NOTHING_KNOWN
from rubrics.tables.attribute_table import COLUMNS, TEXT_COLUMNS, cells_of

FILE = "candidates.csv"


def names_candidates(options: ReleaseOptions) -> bool:
    """Whether some file of the release names candidates."""
    return options.responses or options.decisions or options.verdicts or options.acuity


def write_attributes(benchmark: Benchmark, options: ReleaseOptions, folder: Folder) -> int:
    """Write those of the candidates of the release of which something is known, and their number; no file for none."""
    candidates = released_candidates(benchmark, options).select_related("attributes").order_by("name")
    known = [(each.name, values) for each in candidates if (values := attributes_of(each)) != NOTHING_KNOWN]
    if not known:
        return 0
    rows = (dict(zip(COLUMNS, cells_of(name, values), strict=True)) for name, values in known)
    return folder.csv(FILE, COLUMNS, rows, text_columns=TEXT_COLUMNS)
