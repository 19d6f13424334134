"""The real rubrics out as a table and in again: nothing has changed, to the last sign."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from rubrics.models import Benchmark, RubricDraft
from tests import factories
from tests.rubrics.imports.test_real_import import SAMPLE

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_a_table_of_the_real_rubrics_changes_nothing(client: Any, tmp_path: Path) -> None:
    call_command("import_cases", SAMPLE, benchmark="real", stdout=io.StringIO(), stderr=io.StringIO())
    benchmark = Benchmark.objects.get(slug="real")
    by = factories.UserFactory()
    factories.BenchmarkRoleFactory(benchmark=benchmark, user=by)
    client.force_login(by)
    for kind in ("csv", "xlsx"):
        answer = client.get(f"/b/real/rubrics.{kind}")
        path = tmp_path / f"rubrics.{kind}"
        path.write_bytes(b"".join(answer.streaming_content) if answer.streaming else answer.content)
        out = io.StringIO()
        call_command("import_rubrics", path, benchmark="real", author=by.email, stdout=out, stderr=io.StringIO())
        assert "drafts: 0 created, 120 unchanged" in out.getvalue()
        assert "criteria: 0 created, 1413 unchanged" in out.getvalue()
    assert not RubricDraft.objects.exists()
