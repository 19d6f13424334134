"""A compiled query returns what the query returns, whatever values it ran with before."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.models import Count, F, QuerySet
from django.db.models.functions import Upper
from django.test import Client

from consilium.core.compiled_queries import CompiledQuery
from rubrics.models import Benchmark, Case
from tests.factories import BenchmarkFactory, BenchmarkRoleFactory, CaseFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def two() -> tuple[Benchmark, Benchmark]:
    first = BenchmarkFactory(slug="one", maps={"task": {"a": "b"}})
    other = BenchmarkFactory(slug="other")
    for key in ("b", "a"):
        CaseFactory(benchmark=first, key=key, tags=["x", "y"])
    CaseFactory(benchmark=other, key="c")
    return first, other


def test_rows_objects_and_numbers_are_those_of_the_query(two, django_assert_num_queries) -> None:
    first, other = two
    cases = CompiledQuery(
        lambda benchmark: Case.objects.filter(benchmark=benchmark).order_by("key").annotate(loud=Upper("key")),
    )
    for benchmark, keys in ((first, ["a", "b"]), (other, ["c"]), (Benchmark(pk=0), [])):
        with django_assert_num_queries(1):
            fetched_cases = cases.objects(benchmark=benchmark.pk)
        assert [case.key for case in fetched_cases] == keys
        assert [case.loud for case in fetched_cases] == [key.upper() for key in keys]
        assert fetched_cases == list(Case.objects.filter(benchmark=benchmark.pk).order_by("key"))
        assert cases.count(benchmark=benchmark.pk) == len(keys)
        assert cases.exists(benchmark=benchmark.pk) is bool(keys)
        assert cases.first(benchmark=benchmark.pk) == next(iter(fetched_cases), None)
    assert cases.objects(benchmark=first.pk)[0].tags == ["x", "y"]


def test_columns_of_other_kinds_come_as_from_the_query(two) -> None:
    by_name = CompiledQuery(lambda slug: Benchmark.objects.filter(slug=slug))
    benchmark = by_name.first(slug="one")
    assert benchmark is not None
    assert benchmark.maps == {"task": {"a": "b"}}
    benchmark.title = "changed"
    benchmark.save()
    assert by_name.first(slug="one").title == "changed"
    mapped = CompiledQuery(lambda slug: Benchmark.objects.filter(slug=slug).values_list("maps", "slug"))
    assert mapped.rows(slug="one") == [({"task": {"a": "b"}}, "one")]
    assert mapped.rows(slug="'; DROP TABLE rubrics_case; --") == []
    assert by_name.first(slug=None) is None


def test_what_was_left_out_is_read_when_it_is_asked_for(two, django_assert_num_queries) -> None:
    small = CompiledQuery(lambda key: Case.objects.filter(key=key).only("key"))
    case = small.first(key="a")
    assert case is not None
    with django_assert_num_queries(1):
        assert case.conversation


def test_groups_and_two_values(two) -> None:
    def numbers(benchmark: int, key: str) -> QuerySet[Case, object]:
        rows = Case.objects.filter(benchmark=benchmark).exclude(key=key).order_by()
        return rows.values_list("benchmark__slug").annotate(number=Count("pk"), same=F("benchmark__slug"))

    prepared_query = CompiledQuery(numbers)
    assert prepared_query.rows(benchmark=two[0].pk, key="a") == [("one", 1, "one")]
    assert prepared_query.rows(benchmark=two[0].pk, key="z") == [("one", 2, "one")]


def test_a_value_may_be_part_of_a_pattern_and_of_an_access_rule(two) -> None:
    containing = CompiledQuery(lambda key: Case.objects.filter(key__contains=key))
    assert [containing.count(key=key) for key in ("a", "%", "")] == [1, 0, 3]
    role = BenchmarkRoleFactory(benchmark=two[0], role="admin")
    run = CompiledQuery(lambda user, slug: Benchmark.objects.run_by(user).filter(slug=slug))
    assert run.objects(user=role.user_id, slug="one") == [two[0]]
    assert run.objects(user=role.user_id, slug="other") == []
    assert run.objects(user=0, slug="one") == []


def test_what_it_cannot_do_it_refuses() -> None:
    with pytest.raises(TypeError, match=r"\['slug'\], compiled for \['key'\]"):
        CompiledQuery(lambda key: Case.objects.filter(key=key)).count(slug="a")
    with pytest.raises(ValueError, match="select_related"):
        CompiledQuery(lambda key: Case.objects.filter(key=key).select_related("benchmark")).first(key="a")


@pytest.fixture
def keeps_plans() -> Iterator[None]:
    """A connection that keeps plans from the first time on, as those of web processes do from the second."""
    connection.ensure_connection()
    before, connection.connection.prepare_threshold = connection.connection.prepare_threshold, 0
    yield
    connection.connection.prepare_threshold = before


def test_the_connection_keeps_the_plan_and_finds_what_is_there_now(two, keeps_plans) -> None:
    runs = CompiledQuery(
        lambda key, title: (
            Benchmark.objects.filter(slug=key)
            .order_by()
            .values_list("slug")
            .union(Benchmark.objects.filter(title=title).order_by().values_list("slug"))
        )
    )
    cases = CompiledQuery(lambda benchmark: Case.objects.filter(benchmark=benchmark))
    for title in ("nothing", two[1].title):
        assert set(runs.column(key="one", title=title)) == {
            "one",
            *Benchmark.objects.filter(title=title).values_list("slug", flat=True),
        }
    for number in (2, 3, 4):
        assert len(cases.objects(benchmark=two[0].pk)) == number
        CaseFactory(benchmark=two[0])
    assert cases.objects(benchmark=2**40) == []  # a larger number is another kind to the database
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement, generic_plans + custom_plans FROM pg_prepared_statements")
        threshold = cursor.fetchall()
    assert [times for sql, times in threshold if "UNION" in sql] == [2]
    assert sorted(times for sql, times in threshold if '"rubrics_case"."benchmark_id" = ($1)' in sql) == [1, 3]


@pytest.mark.slow
def test_the_pages_of_cases_are_made_with_kept_plans(keeps_plans) -> None:
    benchmark = BenchmarkFactory(slug="one")
    admin = BenchmarkRoleFactory(benchmark=benchmark, role="admin").user
    case = CaseFactory(benchmark=benchmark)
    client = Client()
    client.force_login(admin)
    for path in ("cases/", "cases/?sort=-criteria&q=a", f"cases/{case.public_id}/", "write/", "write/?mine=on&q=a"):
        for _ in range(2):
            assert client.get(f"/b/one/{path}").status_code == 200
    for place in ("", "rubric/"):
        assert client.get(f"/b/one/write/{case.public_id}/{place}").status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(generic_plans + custom_plans), count(*) FROM pg_prepared_statements")
        executions, threshold = cursor.fetchone()
    assert executions > 2 * threshold > 20


@pytest.mark.slow
@pytest.mark.parametrize(("extra_environment", "threshold"), [({}, "1"), ({"DATABASE_PREPARE": "0"}, "None")])
def test_web_processes_keep_plans_unless_configured_otherwise(
    extra_environment: dict[str, str], threshold: str, tmp_path
) -> None:
    program = (
        "from django.conf import settings; print(settings.DATABASES['default']['OPTIONS'].get('prepare_threshold'))"
    )
    environment = {"PATH": os.environ["PATH"], "SECRET_KEY": "only-for-tests-" * 4, "CONSILIUM_HOME": str(tmp_path)}
    environment |= extra_environment
    environment |= {"DJANGO_SETTINGS_MODULE": "config.settings", "CONSILIUM_WEB": "1"}
    process = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == threshold
