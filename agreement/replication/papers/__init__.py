"""The papers whose tables and figures can be made, one module each."""

from __future__ import annotations

from agreement.replication.manifest import Paper
from agreement.replication.papers import acuity, clinconsensus, healthbench, rubrics

PAPERS: dict[str, Paper] = {
    paper.key: paper for paper in (healthbench.PAPER, clinconsensus.PAPER, acuity.PAPER, rubrics.PAPER)
}
