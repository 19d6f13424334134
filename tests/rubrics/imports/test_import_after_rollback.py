"""An import after one that was rolled back: PostgreSQL has counted the rows meanwhile, and takes tables for empty."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from rubrics.models import Rubric
from tests.factories import SuggestionFactory
from tests.rubrics.imports.files import healthbench, write

N_CASES = 1_500


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("drafting", [False, True])
def test_its_time_grows_with_its_rows_not_with_their_square(tmp_path: Path, *, drafting: bool) -> None:
    path = write(tmp_path / "f.jsonl", [healthbench(number) for number in range(N_CASES)])
    with transaction.atomic():
        call_command("import_cases", str(path), "--benchmark", "bench")
        transaction.set_rollback(True)
    if drafting:
        SuggestionFactory()  # in another benchmark
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # as autovacuum does a minute later: pages, but no rows
        # Each statement takes less than a second. One that compared each rubric with all criteria took minutes.
        cursor.execute("SET statement_timeout = '20s'")
        try:
            call_command("import_cases", str(path), "--benchmark", "bench")
        finally:
            cursor.execute("RESET statement_timeout")
    rubrics = Rubric.objects.filter(case__benchmark__slug="bench")
    assert rubrics.filter(status="published").count() == N_CASES
