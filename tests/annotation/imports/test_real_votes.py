"""A made-up panel of five physicians, against figures that other code computed of it."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db.models import F

from annotation.acuity.panel import AmbiguousRule
from annotation.acuity.votes import panel_of
from annotation.labels.selectors import level_results_of
from annotation.models import LabelQuestion, LabelTask
from rubrics.models import Case
from tests.factories import BenchmarkFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

DATA = Path(os.environ["CONSILIUM_REAL_DATA"]) / "acuity"


def test_the_panel_of_the_fixture() -> None:
    benchmark = BenchmarkFactory(slug="bench")
    expected = json.loads((DATA / "expected.json").read_text())
    Case.with_stubs.bulk_create(
        Case(benchmark=benchmark, key=key, conversation=[], is_stub=True) for key in expected["cases"]
    )
    call_command(
        "import_votes", str(DATA / "votes.csv"), "--benchmark", "bench", "--group", "north", stdout=io.StringIO()
    )
    question = LabelQuestion.objects.get()
    assert question.scale is not None
    results = level_results_of(question)
    values = [level["value"] for level in question.scale.levels]
    panels = {case.case: case for case in panel_of(benchmark, question.scale).values()}
    assert panels.keys() == expected["cases"].keys() == {case.key for case in results.cases}
    for key, known in expected["cases"].items():
        panel = panels[key]
        reference = [values[place] for place in dict.fromkeys((panel.reference_low, panel.reference_high))]
        assert panel.m == known["n"], key
        assert "|".join(reference) == known["reference"], key
        assert panel.dispersion == pytest.approx(known["dispersion"], abs=1e-9)
        assert panel.entropy == pytest.approx(known["entropy"], abs=1e-9)
        assert panel.q.tolist() == pytest.approx(known["distribution"], abs=1e-9)
        assert AmbiguousRule().holds(panel) == known["ambiguous"]
    figures = {name: figure.value for name, figure in results.agreement.items()}
    assert figures == {
        "alpha_ordinal_single": pytest.approx(0.7100872054488576, abs=1e-9),
        "alpha_set": pytest.approx(0.7297059201621258, abs=1e-9),
    }
    assert results.state_counts == {"clear": 29, "boundary": 1, "ambiguous": 10}
    assert LabelTask.objects.filter(submitted_at=F("batch__created_at")).count() == results.answers
