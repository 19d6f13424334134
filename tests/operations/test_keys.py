"""The operator's page and command of the keys of endpoints, and the checks that name what must be bound."""

from __future__ import annotations

from importlib import import_module
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import SecurityEvent, User
from drafting.models import DraftingRecipe
from rubrics.models import Benchmark
from scoring.models import Judge, JudgeRun, KeyGrant, PipelineRun
from tests.factories import BenchmarkFactory, UserFactory
from tests.scoring.judges.test_keys import tables_that_hold

pytestmark = pytest.mark.django_db

PAGE = "/server/keys/"
VALUE = "canary-5e0d-of-the-page"


@pytest.fixture
def operator() -> User:
    return UserFactory(is_superuser=True)


@pytest.fixture
def client(operator: User) -> Client:
    client = Client()
    client.force_login(operator)
    return client


@pytest.fixture
def keyed(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    """A key that is set, and one that is only bound."""
    settings.ENDPOINT_KEYS = ["SET_API_KEY@api.example.com", "SET_API_KEY@gpu:8080", "JUDGE_KEY_B@b.example.com"]
    monkeypatch.setenv("SET_API_KEY", VALUE)
    return BenchmarkFactory(slug="keyed", title="Keyed cases")


def test_names_are_shown_and_never_values(client: Client, keyed: Benchmark) -> None:
    page = client.get(PAGE).content.decode()
    for text in ("SET_API_KEY", "api.example.com", "gpu:8080", "JUDGE_KEY_B", "b.example.com", "no benchmark"):
        assert text in page
    assert page.count("not set in the environment of web") == 1
    csv = b"".join(client.get("/server/keys.csv")).decode()
    assert csv.splitlines()[0] == "key,hosts,is_set,benchmark,granted_at,granted_by,last_used_at"
    assert [line.split(",")[:4] for line in csv.splitlines()[1:]] == [
        ["JUDGE_KEY_B", "b.example.com", "false", ""],
        ["SET_API_KEY", "api.example.com gpu:8080", "true", ""],
    ]
    assert VALUE not in page + csv
    assert tables_that_hold(VALUE) == []


def test_a_page_without_keys_says_what_to_set(client: Client) -> None:
    assert "There are no keys" in client.get(PAGE).content.decode()


def test_a_grant_and_its_end_are_in_the_security_log(client: Client, operator: User, keyed: Benchmark) -> None:
    for slug in ("keyed", "*"):
        granted = client.post(f"{PAGE}grant/", {"name": "SET_API_KEY", "benchmark": slug})
        assert granted["Location"] == PAGE
        client.post(f"{PAGE}grant/", {"name": "SET_API_KEY", "benchmark": slug})  # nothing new
    assert set(KeyGrant.objects.values_list("name", "benchmark__slug", "granted_by")) == {
        ("SET_API_KEY", "keyed", operator.pk),
        ("SET_API_KEY", None, operator.pk),
    }
    page = client.get(PAGE).content.decode()
    assert "Keyed cases" in page and "All benchmarks" in page
    client.post(f"{PAGE}withdraw/", {"name": "SET_API_KEY", "benchmark": "keyed"})
    assert [grant.benchmark for grant in KeyGrant.objects.all()] == [None]
    events = SecurityEvent.objects.filter(kind__startswith="key_").order_by("pk")
    assert [(event.kind, event.scope, event.by, event.values["key"]) for event in events] == [
        ("key_granted", "keyed", operator, "SET_API_KEY"),
        ("key_granted", "", operator, "SET_API_KEY"),
        ("key_withdrawn", "keyed", operator, "SET_API_KEY"),
    ]
    assert [event.values["all_benchmarks"] for event in events] == [False, True, False]


@pytest.mark.parametrize("name", ["SECRET_KEY", "sk-a-key-itself", "DATABASE_URL", ""])
def test_what_is_no_name_of_a_key_is_refused(client: Client, keyed: Benchmark, name: str) -> None:
    refused = client.post(f"{PAGE}grant/", {"name": name, "benchmark": "keyed"})
    assert refused.status_code == 422
    assert refused.context["form"].errors["name"]
    with pytest.raises(CommandError, match="_API_KEY"):
        call_command("grant_key", name, benchmark="keyed")
    assert client.post(f"{PAGE}grant/", {"name": "SET_API_KEY", "benchmark": ""}).status_code == 422
    assert not KeyGrant.objects.exists() and not SecurityEvent.objects.filter(kind="key_granted").exists()


def granted(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("grant_key", *arguments, stdout=out, stderr=err)
    return out.getvalue().strip(), err.getvalue().strip()


def test_the_command_grants_and_withdraws(keyed: Benchmark) -> None:
    assert granted("SET_API_KEY", "--benchmark", "keyed") == ("SET_API_KEY is granted to keyed.", "")
    assert granted("SET_API_KEY", "--benchmark", "keyed") == ("SET_API_KEY was granted to keyed already.", "")
    out, err = granted("FREE_API_KEY", "--all-benchmarks")
    assert out == "FREE_API_KEY is granted to all benchmarks."
    assert "add FREE_API_KEY@HOST to ENDPOINT_KEYS" in err
    assert granted("SET_API_KEY", "--benchmark", "keyed", "--withdraw")[0] == "SET_API_KEY is withdrawn from keyed."
    with pytest.raises(CommandError, match="no such grant"):
        granted("SET_API_KEY", "--benchmark", "keyed", "--withdraw")
    with pytest.raises(CommandError, match="no benchmark “none”"):
        granted("SET_API_KEY", "--benchmark", "none")
    assert [(grant.name, grant.benchmark) for grant in KeyGrant.objects.all()] == [("FREE_API_KEY", None)]
    kinds = SecurityEvent.objects.filter(kind__startswith="key_").order_by("pk").values_list("kind", "by")
    assert list(kinds) == [("key_granted", None), ("key_granted", None), ("key_withdrawn", None)]


def settings_that_name_keys(benchmark: Benchmark) -> None:
    """A judge, a run, a run of a recipe, a recipe, and a run that was made elsewhere; each names another key."""
    at = timezone.now()
    keyed = {"endpoint": "https://api.example.com/v1", "model": "m"}
    Judge.objects.create(benchmark=benchmark, name="a", kind="chat", config={**keyed, "key_env": "A_API_KEY"})
    Judge.objects.create(benchmark=benchmark, name="b", kind="chat", config={**keyed, "key_env": ""})
    Judge.objects.create(benchmark=benchmark, name="c", kind="chat", config={**keyed, "key_env": "PATH"})
    own = {"benchmark": benchmark, "judge": Judge.objects.get(name="b"), "prompt_hash": "", "created_at": at}
    JudgeRun.objects.create(**own, snapshot={"config": {**keyed, "key_env": "E_API_KEY"}})
    JudgeRun.objects.create(**own, snapshot={"config": {**keyed, "key_env": "ELSEWHERE_API_KEY"}}, imported=True)
    run = {"kind": "generate", "benchmark": benchmark, "created_at": at, "status": "finished", "finished_at": at}
    PipelineRun.objects.create(**run, config={**keyed, "key_env": "B_API_KEY"}, heartbeat_at=at)
    PipelineRun.objects.create(**run, config={"models": {"fast": {**keyed, "key_env": "C_API_KEY"}}})
    PipelineRun.objects.create(**run, config={**keyed, "key_env": "ELSEWHERE_API_KEY"}, imported=True)
    content = {"models": {"strong": {**keyed, "key_env": "D_API_KEY"}}}
    DraftingRecipe.objects.create(benchmark=benchmark, name="r", version=1, created_at=at, content=content)


def test_the_migration_grants_what_is_in_use(keyed: Benchmark) -> None:
    settings_that_name_keys(keyed)
    migration = import_module("scoring.migrations.0012_key_grants")
    with connection.cursor() as cursor:
        cursor.execute(migration.GRANT_KEYS_IN_USE)
    expected = {(f"{letter}_API_KEY", "keyed") for letter in "ABCDE"}
    assert set(KeyGrant.objects.values_list("name", "benchmark__slug")) == expected


def test_the_last_use_is_shown(client: Client, keyed: Benchmark) -> None:
    settings_that_name_keys(keyed)
    KeyGrant.objects.create(name="B_API_KEY", benchmark=keyed, granted_at=timezone.now())
    rows = {row.name: row for row in client.get(PAGE).context["keys"]}
    assert rows["B_API_KEY"].last_used_at == PipelineRun.objects.get(heartbeat_at__isnull=False).heartbeat_at
    assert rows["SET_API_KEY"].last_used_at is None


def test_check_names_keys_in_use_that_are_not_bound(keyed: Benchmark, settings: Any) -> None:
    settings_that_name_keys(keyed)
    settings.ENDPOINT_KEYS = ["A_API_KEY@api.example.com", "B_API_KEY@gpu:8080"]
    err = StringIO()
    call_command("check", database=["default"], stderr=err)
    warned = [line for line in err.getvalue().splitlines() if "operations.W001" in line]
    assert [line.partition("The key ")[2].partition(" (now")[0] for line in warned] == [
        f"{name} is not bound to api.example.com" for name in ("B_API_KEY", "C_API_KEY", "D_API_KEY")
    ]
    assert "now: gpu:8080" in warned[0]


def test_a_key_instead_of_its_name_is_refused_and_not_repeated(settings: Any) -> None:
    settings.ENDPOINT_KEYS = ["A_API_KEY@api.example.com", f"{VALUE}@api.example.com", "B_API_KEY"]
    with pytest.raises(CommandError) as refused:
        call_command("check")
    assert "Entry 2 of ENDPOINT_KEYS" in str(refused.value) and "Entry 3" in str(refused.value)
    assert VALUE not in str(refused.value)
