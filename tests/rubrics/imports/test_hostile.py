"""Hostile files at every endpoint: refused whole with line and field, or imported as nothing but text."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, BinaryIO

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import User
from bench.hostile_files import HOSTILE, IMPORTED, REFUSED
from bench.hostile_importers import IMPORTERS, Importer, base, base_responses, plain
from consilium.core.errors import DomainError, ImportRefused
from rubrics import imports
from rubrics.models import Benchmark, BenchmarkRole
from tests.factories import BenchmarkFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SILENT = {"contenttypes", "sessions", "django_celery_beat"}


@pytest.fixture
def benchmark() -> Benchmark:
    benchmark = BenchmarkFactory(slug="bench")
    send(benchmark, "cases", io.BytesIO(base()), {})
    send(benchmark, "responses", io.BytesIO(base_responses()), {})
    return benchmark


def send(benchmark: Benchmark, kind: str, file: BinaryIO, options: Mapping[str, str]) -> dict[str, Any]:
    """What the page, the API and the commands all come down to."""
    by = User.objects.filter(email="staff@example.org").first() or UserFactory(email="staff@example.org")
    with transaction.atomic():
        return imports.find(kind).handler(
            benchmark=benchmark, file=file, options=options, by=by, at=timezone.now(), progress=lambda _read: None
        )


def rows() -> tuple[int, ...]:
    """How many rows each table has, in one statement."""
    tables = sorted(
        {
            model._meta.db_table
            for model in apps.get_models()
            if model._meta.managed and not model._meta.proxy and model._meta.app_label not in SILENT
        }
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT " + ", ".join(f'(SELECT count(*) FROM "{table}")' for table in tables))
        return tuple(cursor.fetchone())


def privileges() -> list[Any]:
    return [list(User.objects.filter(is_staff=True).values("pk")), list(BenchmarkRole.objects.values())]


@pytest.mark.parametrize("importer", IMPORTERS, ids=[importer.name for importer in IMPORTERS])
def test_every_hostile_file_is_refused_whole_or_inert(benchmark: Benchmark, importer: Importer) -> None:
    wrong = []
    before, rights = rows(), privileges()
    for name, make in HOSTILE.items():
        sent = make(importer, False)
        if sent is None:
            continue
        refused: ImportRefused | None = None
        point = transaction.savepoint()
        try:
            send(benchmark, importer.kind, sent.file, importer.options)
        except ImportRefused as error:
            refused = error
        except DomainError as error:
            wrong.append(f"{name}: {error} names no line")
        outcome = REFUSED if refused else IMPORTED
        if sent.outcome in (REFUSED, IMPORTED) and outcome != sent.outcome:
            wrong.append(f"{name}: {outcome}: {refused}")
        if refused:
            first = refused.errors[0]
            if sent.line is not None and first.line != sent.line:
                wrong.append(f"{name}: line {first.line}: {first.message}")
            if sent.field and not first.field:
                wrong.append(f"{name}: no field: {first}")
            str(first).encode()
            assert "\x00" not in str(first)
        if privileges() != rights:
            wrong.append(f"{name}: somebody has other rights now")
        if refused:
            transaction.savepoint_commit(point)  # what a refused file left behind is found below
        else:
            transaction.savepoint_rollback(point)
    assert rows() == before, "a refused file left something behind"
    assert not wrong, "\n" + "\n".join(wrong)


# These kinds are read whole before anything is kept, also where a file is small.
READ_WHOLE = ("bank", "rubrics", "rubric_set")


@pytest.mark.parametrize("importer", [importer for importer in IMPORTERS if importer.kind not in READ_WHOLE])
def test_a_large_file_is_looked_through_before_anything_of_it_is_kept(
    benchmark: Benchmark, importer: Importer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rubrics.imports.prescan.LARGE_BYTES", 10)
    monkeypatch.setattr("rubrics.imports.prescan.LARGE_BYTES_WRITTEN", 10)
    sent = HOSTILE["a million lines, the last bad"](importer, False)
    assert sent
    looked_up: list[str] = []
    watched = connection.execute_wrapper(lambda run, sql, *rest: looked_up.append(sql) or run(sql, *rest))
    with watched, pytest.raises(ImportRefused) as refused:
        send(benchmark, importer.kind, sent.file, importer.options)
    assert [fault.line for fault in refused.value.errors] == [600 + bool(importer.columns)]
    assert not any("rubrics_rubricitem" in sql or "nextval" in sql for sql in looked_up)
    sound = io.BytesIO(plain(importer, importer.row(0), importer.row(1)))
    assert send(benchmark, importer.kind, sound, importer.options)
