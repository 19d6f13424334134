"""`replicate` on the demo, which has data for every kind of report that the manifests name."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from agreement.kinds import KINDS
from agreement.models import Replication
from agreement.replication.files import made_of
from agreement.replication.manifest import FIGURE, TABLE
from agreement.replication.papers import PAPERS
from agreement.replication.published import row_name
from tests.agreement.replication.test_replicate import assert_same_as_reports, by_artefact

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_the_demo_gives_what_its_data_allow_for_every_paper(tmp_path: Path) -> None:
    call_command("load_demo", "--rule-endpoint", "http://127.0.0.1:9/v1", verbosity=0)
    by_paper = {}
    for paper in PAPERS:
        out = tmp_path / paper
        call_command("replicate", "--benchmark", "demo", "--paper", paper, "--out", str(out), stdout=StringIO())
        assert_same_as_reports(out, paper)
        by_paper[paper] = by_artefact(out)
        for status in made_of(Replication.objects.get(paper=paper)):
            names = [row_name(status.artefact, row) for row in status.table.dicts()] if status.table else []
            assert len(set(names)) == len(names), status.artefact.key
    for paper, artefacts in {
        "healthbench": ("overall", "axes", "worst-at-k", "meta-graders", "meta-physicians", "length"),
        "clinconsensus": (
            "calibration",
            "overall",
            "tasks",
            "fidelity",
            "groups",
            "registers",
            "distribution",
            "failures",
            "failures-agreement",
            "failures-coverage",
        ),
        "acuity": ("errors", "confusion", "formats", "uncertainty", "spread", "judge", "judge-ceiling"),
        "rubrics": ("cia", "cia-axes", "discrimination", "deltas"),
    }.items():
        for artefact in artefacts:
            assert by_paper[paper][artefact]["state"] in ("made", "in part"), artefact
    # The demo’s models answer by rules, and every table of theirs says so.
    table = (tmp_path / "acuity" / "errors" / "errors.csv").read_text("utf-8")
    assert all(line.endswith(",rules") for line in table.splitlines()[1:])
    assert "rules in place of a language model" in (tmp_path / "acuity" / "errors" / "errors.tex").read_text("utf-8")
    # Nothing has scored the refined responses.
    assert by_paper["rubrics"]["refinement"]["state"] == "lacks data"
    assert "No case has a score both before and after" in by_paper["rubrics"]["refinement"]["missing"]


@pytest.mark.parametrize("paper", list(PAPERS))
def test_the_manifest_is_sound(paper: str) -> None:
    artefacts = PAPERS[paper].artefacts
    assert len({artefact.key for artefact in artefacts}) == len(artefacts)
    for artefact in artefacts:
        assert artefact.form in (TABLE, FIGURE)
        if not artefact.is_made_here:
            assert str(artefact.lacks.what)
            continue
        assert artefact.kind in KINDS
        assert artefact.choose is not None
        assert set(artefact.row) <= {*artefact.columns, artefact.by}
        assert artefact.columns and artefact.table
        assert not artefact.by or artefact.by in KINDS[artefact.kind].parameters
