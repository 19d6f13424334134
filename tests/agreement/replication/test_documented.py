"""docs/replication.md lists every table and figure that the manifests have."""

from __future__ import annotations

from pathlib import Path

from agreement.replication.overview import with_papers
from agreement.replication.papers import PAPERS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "replication.md"


def test_the_page_is_what_the_manifests_say() -> None:
    page = PAGE.read_text("utf-8")
    assert with_papers(page) == page, "run .venv/bin/python docs/write_replication.py"
    for paper in PAPERS.values():
        assert f"### {paper.name}" in page
        assert all(f"- `{artefact.key}` (" in page for artefact in paper.artefacts)
