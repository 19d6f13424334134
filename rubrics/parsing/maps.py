"""A benchmark's maps as CSV: tags to larger groups, clusters to themes, and user roles to registers."""

from __future__ import annotations

from typing import BinaryIO

from consilium.core.limits import MAX_TAG_LENGTH
from consilium.core.phrases import Phrase
from rubrics.parsing.decisions import read_table
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields
from rubrics.parsing.reader import Limits

MAPS = ("specialty", "task", "cluster", "register")
REGISTERS = ("lay", "professional")
COLUMNS = ("map", "from", "to")
LIMITS = Limits(line_bytes=1 << 16, total_bytes=1 << 24)


def read_maps(file: BinaryIO, faults: Faults) -> dict[str, dict[str, str]]:
    """Rows ``map,from,to``: ``specialty`` (to a macro-category), ``task`` (to a capability family), ``cluster`` (to a
    theme), ``register`` (of a user role: lay or professional). A map that has no row in the file is empty.
    """
    maps: dict[str, dict[str, str]] = {name: {} for name in MAPS}
    for line, record in read_table(file, faults, limits=LIMITS, columns=COLUMNS, required=COLUMNS):
        fields = Fields(line, record, faults)
        name = fields.choice("map", MAPS)
        source = fields.text("from", longest=MAX_TAG_LENGTH).strip()
        target = fields.text("to", longest=MAX_TAG_LENGTH).strip()
        if name == "register" and target and target not in REGISTERS:
            fields.fault("to", Phrase("The register must be one of: %(names)s.", names=", ".join(REGISTERS)))
        for unknown in fields.rest():
            fields.fault(unknown, Phrase("The columns must be: %(names)s.", names=", ".join(COLUMNS)))
        if fields.sound and maps[name].setdefault(source, target) != target:
            fields.fault(
                "from", Phrase("“%(source)s” is already in this map with a different target.", source=source[:40])
            )
    return {name: rows for name, rows in maps.items() if rows}
