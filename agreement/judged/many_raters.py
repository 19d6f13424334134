"""Many raters on an item, as HealthBench's meta-evaluation has it: the judge against every physician, each physician
against the others, and the physicians' ceiling (Arora et al. 2025), over the pairs that two physicians or more decided.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np
from numpy.typing import NDArray

from agreement.counting.frame import Frame
from agreement.judged.alternative import Bench
from agreement.label_files import label_tables
from agreement.label_files.reading import JudgeFile, LabelFile
from agreement.reports.tables import Row, Table
from consilium.statistics.intervals import IntervalRule

CATEGORY = "cluster:"  # the kind of tag that separates the published labels
NO_CATEGORY = "no category"


def tables_of(bench: Bench, *, rule: IntervalRule) -> dict[str, Table]:
    """Three tables with the columns of ``agreement_file`` and the effective cases behind MF1: overall, and by category
    where criteria have one.
    """
    labels, judge = _files(bench)
    tables = label_tables.label_tables(labels, judge, rule=rule)
    named = labels.categories != [NO_CATEGORY]
    return {
        "meta_judge": _table(label_tables.AGREEMENT_COLUMNS, tables.agreement or [], named),
        "meta_physicians": _table(label_tables.PHYSICIANS_COLUMNS, tables.physicians, named),
        "meta_ceiling": _table(label_tables.CEILING_COLUMNS, tables.ceiling, named),
    }


def categories_of(frame: Frame, criterion: NDArray[np.int64]) -> tuple[list[str], NDArray[np.int64]]:
    """The categories of criteria, given as places in the frame, by name, and the place of each criterion's own: the
    first of its tags of the kind.
    """
    categories = np.full(len(frame.criterion_ids), "", dtype=object)
    for tag, members in sorted(frame.criterion_tags.items(), reverse=True):
        if tag.startswith(CATEGORY):
            categories[members] = tag
    names, places = np.unique([tag or NO_CATEGORY for tag in categories[criterion]], return_inverse=True)
    return names.tolist(), places.astype(np.int64)


def digest_of(bench: Bench) -> str:
    """SHA-256 of what a report reads: judge, physicians, and the categories of the criteria."""
    names, places = _categories(bench)
    return hashlib.sha256(json.dumps([bench.digest, names, places.tolist()]).encode()).hexdigest()


def _categories(bench: Bench) -> tuple[list[str], NDArray[np.int64]]:
    return categories_of(bench.frame, bench.frame.criterion_places(bench.verdicts.criterion))


def _files(bench: Bench) -> tuple[LabelFile, JudgeFile]:
    labelled, items = bench.labelled, bench.verdicts
    names, category = _categories(bench)
    labels = LabelFile(
        item=labelled.item,
        physician=labelled.annotator,
        met=labelled.met,
        keys=[()] * len(items.response),  # only their number matters here
        physicians=labelled.names,
        categories=names,
        category=category,
        case=labelled.case,
        response=items.response,
        n_cases=labelled.n_cases,
    )
    return labels, JudgeFile(verdict=labelled.judge, n_elsewhere=0)


def _table(columns: tuple[str, ...], rows: list[Row], named: bool) -> Table:
    kept = rows if named else [row for row in rows if row["slice"] == label_tables.ALL]
    return Table.of(
        (*columns, label_tables.EFFECTIVE), kept, [name for name in label_tables.TEXT_COLUMNS if name in columns]
    )
