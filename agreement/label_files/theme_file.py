"""The map from clusters to themes in a file: CSV with the columns ``cluster`` and ``theme``. No database."""

from __future__ import annotations

from pathlib import Path

from consilium.core.limits import MAX_TAG_LENGTH
from consilium.core.phrases import Phrase
from rubrics.bank.themes import CLUSTER
from rubrics.parsing.decisions import read_table
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields
from rubrics.parsing.maps import LIMITS

COLUMNS = ("cluster", "theme")


def read_themes(path: Path) -> dict[str, str]:
    """Cluster, without ``cluster:``, to theme; `ImportRefused` with every fault."""
    faults = Faults()
    themes: dict[str, str] = {}
    with path.open("rb") as file:
        for line, record in read_table(file, faults, limits=LIMITS, columns=COLUMNS, required=COLUMNS):
            fields = Fields(line, record, faults)
            cluster = fields.text("cluster", longest=MAX_TAG_LENGTH).strip().removeprefix(CLUSTER)
            theme = fields.text("theme", longest=MAX_TAG_LENGTH).strip()
            for unknown in fields.rest():
                fields.fault(unknown, Phrase("The columns must be: %(names)s.", names=", ".join(COLUMNS)))
            if fields.sound and themes.setdefault(cluster, theme) != theme:
                fields.fault(
                    "cluster",
                    Phrase("“%(source)s” is already in this map with a different target.", source=cluster[:40]),
                )
    faults.refuse_if_any()
    return themes
