"""Example files beside every kind of import: each is read by its import as it is, without a fault."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts.models import User
from annotation.models import KeyedResponse
from documents.models import Collection
from rubrics import imports
from rubrics.imports.examples import examples_of
from rubrics.models import AuthoringRole, Benchmark, Case
from tests.factories import BenchmarkFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
# What each import needs beside its file; a release is exported, so it has no example.
OPTIONS: dict[str, dict[str, str]] = {
    "cases": {},
    "responses": {},
    "candidates": {},
    "rubrics": {},
    "decisions": {"group": "Experts"},
    "verdicts": {"judge": "judge"},
    "meta_eval": {"group": "Others"},
    "bank": {"bank": "mine"},
    "acuity": {"dataset": "example", "scheme": "direct"},
    "votes": {"group": "Readers"},
    "documents": {"collection": "Guidelines"},
    "rubric_set": {"name": "Set"},
    "pairs": {"group": "Experts"},
}


@pytest.fixture
def admin() -> User:
    return UserFactory(email="admin@example.org")


@pytest.fixture
def benchmark(admin: User) -> Benchmark:
    benchmark = BenchmarkFactory(slug="bench", researcher=admin)
    AuthoringRole.objects.create(benchmark=benchmark, user=admin, role=AuthoringRole.Role.AUTHOR)
    return benchmark


def send(benchmark: Benchmark, kind: str, content: bytes, name: str, by: User, **options: str) -> dict[str, Any]:
    file = io.BytesIO(content)
    return imports.find(kind).handler(
        benchmark=benchmark,
        file=file,
        options={**OPTIONS[kind], "file_name": name, **options},
        by=by,
        at=timezone.now(),
        progress=lambda _read: None,
    )


def test_every_kind_but_releases_has_an_example() -> None:
    assert {kind.kind for kind in imports.kinds() if kind.examples} == {*OPTIONS}
    assert {kind.kind for kind in imports.kinds()} - {*OPTIONS} == {"release"}


def test_every_example_is_imported_as_it_is(benchmark: Benchmark, admin: User) -> None:
    Collection.objects.create(benchmark=benchmark, name="Guidelines", created_at=timezone.now())
    for kind in OPTIONS:
        examples = examples_of(imports.find(kind))
        for example in [*examples[1:], examples[0]]:
            point = transaction.savepoint()
            counts = send(benchmark, kind, example.content(), example.name, admin, **wide(example.name))
            created = sum(count.get("created", 0) for name, count in counts.items() if name not in imports.LISTS)
            assert created, example.name
            if example is not examples[0]:  # another form of the same rows
                transaction.savepoint_rollback(point)
    # The answer keys of the qualification page have an example too, which fits the cases and responses.
    client = Client()
    runs_it = UserFactory()
    benchmark.roles.create(user=runs_it, role="admin")
    client.force_login(runs_it)
    page = " ".join(client.get("/b/bench/qualification/").content.decode().split())
    assert 'href="/b/bench/qualification/answer_keys.csv"' in page
    assert "MF1: The mean of two scores from 0 to 1: one for “met”, one for “not met”." in page
    keys = client.get("/b/bench/qualification/answer_keys.csv").content
    file = SimpleUploadedFile("answer_keys.csv", keys)
    client.post("/b/bench/qualification/import/", {"use": "qualification", "file": file})
    assert KeyedResponse.objects.get().decisions.count() == 3


def wide(name: str) -> dict[str, str]:
    """What somebody chooses in the preview of a table with a column for each candidate."""
    if not name.startswith("responses_by_model"):
        return {}
    return {"columns": '{"model A": "answers", "model B": "answers"}'}


def test_a_workbook_for_readers_of_chinese_has_their_headings_and_is_imported(
    benchmark: Benchmark, admin: User
) -> None:
    example = examples_of(imports.find("cases"))[0]
    assert example.name == "cases.xlsx"
    from openpyxl import load_workbook

    heading = [cell.value for cell in next(load_workbook(io.BytesIO(example.content("zh-hans"))).active.iter_rows())]
    assert heading[:5] == ["病例", "背景", "问题", "标准", "分值"]
    send(benchmark, "cases", example.content("zh-hans"), example.name, admin)
    assert Case.objects.get(key="example-1").difficulty == "high"


def test_the_example_of_cases_has_the_language_of_one_and_the_page_says_that_it_is_optional(
    benchmark: Benchmark, admin: User, client: Client
) -> None:
    by_suffix = {example.suffix: example for example in examples_of(imports.find("cases"))}
    for suffix in ("CSV", "XLSX"):
        point = transaction.savepoint()
        send(benchmark, "cases", by_suffix[suffix].content(), by_suffix[suffix].name, admin)
        languages = Case.objects.order_by("key").values_list("key", "language", "language_detected")
        assert list(languages) == [("example-1", "en", False), ("example-2", "en", True)], suffix
        transaction.savepoint_rollback(point)
    client.force_login(admin)
    page = " ".join(client.get("/b/bench/imports/").content.decode().split())
    assert "The language of a case is detected if “language” (a code such as en or zh) is missing or empty." in page


def test_an_example_is_downloaded_by_those_who_import(benchmark: Benchmark, admin: User, client: Client) -> None:
    client.force_login(admin)
    page = client.get("/b/bench/imports/").content.decode()
    for kind in imports.kinds():
        for example in examples_of(kind):
            address = f"/b/bench/imports/examples/{kind.kind}/{example.name}"
            assert kind.page or f'href="{address}"' in page
            answer = client.get(address)
            assert answer.content == example.content()
            assert answer["Content-Disposition"] == f'attachment; filename="{example.name}"'
    assert client.get("/b/bench/imports/examples/cases/responses.csv").status_code == 404
    assert client.get("/b/bench/imports/examples/nothing/cases.csv").status_code == 404
    for path in ("case-acuity/import/", "rubric-sets/new/?source=file", "pairs/import/"):
        assert "/b/bench/imports/examples/" in client.get(f"/b/bench/{path}").content.decode(), path
