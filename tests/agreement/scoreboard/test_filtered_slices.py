"""Named slices by a filter: from the list of cases, by page, API and command; frozen, and used by reports."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.models import NamedSlice, Report
from agreement.reports.stored import table_of
from rubrics.models import Benchmark, Case
from tests.agreement.composition.reports import composition_of, counts_of
from tests.agreement.study import Study, coin, make_study
from tests.factories import CandidateFactory, CaseFactory, ResponseFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
JSON = "application/json"


@pytest.fixture
def study() -> Study:
    """Twelve cases of `make_study`, the first with two more turns, and an excluded one."""
    study = make_study(cases=12, points=(1, 1))
    first = CaseFactory(
        benchmark=study.benchmark,
        key="long",
        tags=["theme:even", "specialty:cardiology"],
        language="zh-Hans",
        register="professional",
        conversation=[
            {"role": "user", "content": "头痛三天" * 10},
            {"role": "assistant", "content": "how bad?"},
            {"role": "user", "content": "bad"},
        ],
        difficulty="",
    )
    for candidate in study.candidates:
        ResponseFactory(case=first, candidate=candidate)
    gone = CaseFactory(benchmark=study.benchmark, key="gone", tags=["theme:even"])
    Case.objects.filter(pk=gone.pk).update(excluded_at=timezone.now(), exclusion_reason="twice")
    return study


@pytest.fixture
def client(study: Study) -> Client:
    client = Client()
    client.force_login(study.admin)
    return client


def matching(client: Client, benchmark: Benchmark, **filter: Any) -> list[str]:
    """The keys of the cases that the API would take."""
    answered = client.post(
        f"/api/v1/benchmarks/{benchmark.slug}/slices/preview/", {"rule": "filter", "filter": filter}, content_type=JSON
    )
    assert answered.status_code == 200, answered.content
    return answered.json()["cases"]


EVEN, ODD = [f"case-{n:02d}" for n in range(0, 12, 2)], [f"case-{n:02d}" for n in range(1, 12, 2)]


@pytest.mark.parametrize(
    ("filter", "keys"),
    [
        ({"tags": ["theme:even"]}, [*EVEN, "long"]),
        ({"tags": ["theme:even", "theme:odd"], "languages": ["en"]}, sorted([*EVEN, *ODD])),
        ({"all_tags": ["theme:even", "specialty:cardiology"]}, ["long"]),
        ({"difficulties": ["high"]}, ODD),
        ({"difficulties": ["none"]}, ["long"]),
        ({"registers": ["professional"]}, ["long"]),
        ({"languages": ["zh-Hans"]}, ["long"]),
        ({"text": "头痛"}, ["long"]),
        ({"text": "CASE-0", "difficulties": ["low"]}, EVEN[:5]),
        ({"min_user_turns": 2}, ["long"]),
        ({"max_user_turns": 1, "tags": ["theme:even"]}, EVEN),
        # The long one has 40 + 8 + 3 characters.
        ({"min_characters": 51, "max_characters": 51, "languages": ["zh-Hans"]}, ["long"]),
        ({"candidates": ["alpha", "beta"], "tags": ["theme:even"]}, [*EVEN, "long"]),
        ({"state": "published", "difficulties": ["high"]}, ODD),
    ],
)
def test_each_filter_takes_the_cases_that_meet_it(
    study: Study, client: Client, filter: dict[str, Any], keys: list[str]
) -> None:
    assert matching(client, study.benchmark, **filter) == keys


def test_responses_of_each_candidate_are_needed(study: Study, client: Client) -> None:
    newcomer = CandidateFactory(benchmark=study.benchmark, name="newcomer")
    for key in ("case-02", "case-05"):
        ResponseFactory(case=Case.objects.get(key=key), candidate=newcomer)
    assert matching(client, study.benchmark, candidates=["newcomer", "alpha"]) == ["case-02", "case-05"]
    assert matching(client, study.benchmark, candidates=["newcomer"], tags=["theme:odd"]) == ["case-05"]


LABELS = """case,reference,level,candidate
case-00,self-care,self-care,M
case-01,primary-care|urgent-care,,M
case-04,emergency,invalid,M
case-06,emergency,invalid,M
"""


def test_levels_of_a_reference_set(study: Study, client: Client, tmp_path: Path) -> None:
    benchmark = study.benchmark
    (tmp_path / "labels.csv").write_text(LABELS, encoding="utf-8")
    options = ("--benchmark", benchmark.slug)
    call_command("import_acuity", str(tmp_path / "labels.csv"), *options, "--dataset", "clinic", stdout=io.StringIO())
    call_command("reference_set", *options, stdout=io.StringIO())
    assert matching(client, benchmark, levels=["emergency"]) == ["case-04", "case-06"]
    assert matching(client, benchmark, levels=["self-care", "primary-care|urgent-care"]) == ["case-00", "case-01"]
    address = f"/api/v1/benchmarks/{benchmark.slug}/slices/"
    payload = {"rule": "filter", "filter": {"levels": ["nowhere"]}}
    assert client.post(f"{address}preview/", payload, content_type=JSON).status_code == 422
    form = {"rule": "filter", "title": "Urgent", "levels": ["emergency"]}
    assert client.post(f"/b/{benchmark.slug}/scores/slices/", form).status_code == 302
    # The set is kept with the slice, whichever is the newest later.
    assert NamedSlice.objects.get().parameters["filter"] == {"levels": ["emergency"], "reference_set": 1}
    report = composition_of(benchmark, subset="urgent", row="reference", column="theme")
    assert counts_of(report, "reference") == {"emergency": 2, "primary-care|urgent-care": 0, "self-care": 0}
    assert report.parameters["reference_set"] == 1
    whole = counts_of(composition_of(benchmark), "reference")
    assert list(whole.items()) == [("self-care", 1), ("primary-care|urgent-care", 1), ("emergency", 2), ("", 9)]


@pytest.mark.parametrize(
    ("filter", "status"),
    [
        ({}, 422),
        ({"tags": ["theme:nothing"]}, 422),
        ({"all_tags": ["theme:nothing"]}, 422),
        ({"candidates": ["nobody"]}, 422),
        ({"languages": ["xx"]}, 422),
        ({"difficulties": ["hard"]}, 422),
        ({"state": "excluded"}, 422),
        ({"min_user_turns": 3, "max_user_turns": 2}, 422),
        ({"min_user_turns": -1}, 400),
        ({"all_tags": ["theme:odd", "theme:even"]}, 422),  # no case has both
        ({"colour": "red"}, 400),
    ],
)
def test_what_selects_nothing_or_is_not_there_is_refused(
    study: Study, client: Client, filter: dict[str, Any], status: int
) -> None:
    address = f"/api/v1/benchmarks/{study.benchmark.slug}/slices/"
    payload = {"rule": "filter", "filter": filter, "title": "Nothing"}
    assert client.post(address, payload, content_type=JSON).status_code == status
    assert not NamedSlice.objects.exists()


def test_each_rule_has_its_own_fields(study: Study, client: Client) -> None:
    address = f"/api/v1/benchmarks/{study.benchmark.slug}/slices/"
    for payload, field in (
        ({"rule": "filter", "title": "A"}, "filter"),
        ({"rule": "filter", "title": "A", "filter": {"text": "a"}, "rater": "group:A"}, "rater"),
        ({"rule": "hard", "title": "A", "n": 3, "candidates": ["alpha"]}, "rater"),
        ({"rule": "hard", "title": "A", "rater": "group:A", "candidates": ["alpha"], "filter": {}}, "filter"),
    ):
        answered = client.post(address, payload, content_type=JSON)
        assert answered.status_code == 400
        assert field in answered.json()


def test_from_the_list_of_cases_to_a_report(study: Study, client: Client) -> None:
    study.group("A", coin(1, "met", "not_met"))
    slug = study.benchmark.slug
    listed = client.get(f"/b/{slug}/cases/", {"tag": "theme:even", "difficulty": "low"}).content.decode()
    address = re.search(r'href="([^"]*scores/slices/[^"]*)"', listed)
    assert address
    html = client.get(address[1].replace("&amp;", "&")).content.decode()
    assert 'value="theme:even" selected' in html and re.search(r'value="low"[^>]*checked', html)
    form = {"rule": "filter", "tags": ["theme:even"], "difficulties": ["low"]}
    preview = client.get(f"/b/{slug}/scores/slices/preview", form).content.decode()
    assert re.search(r"<dd>\s*6\s*<span", preview) and "of 13 cases" in preview
    assert not NamedSlice.objects.exists()
    assert client.post(f"/b/{slug}/scores/slices/", {**form, "title": ""}).status_code == 422
    assert client.post(f"/b/{slug}/scores/slices/", {"rule": "filter", "title": "All"}).status_code == 422
    assert client.post(f"/b/{slug}/scores/slices/", {**form, "title": "Even and easy"}).status_code == 302
    kept = NamedSlice.objects.get()
    assert (kept.slug, kept.rule, kept.n_cases) == ("even-and-easy", "filter", 6)
    assert kept.parameters == {
        "filter": {"tags": ["theme:even"], "difficulties": ["low"]}, "n_cases": 13, "n_excluded": 1,
    }  # fmt: skip
    page = client.get(f"/b/{slug}/scores/slices/").content.decode()
    assert "Even and easy" in page and "With any of these tags: theme:even" in page
    file = b"".join(client.get(f"/b/{slug}/scores/slices/even-and-easy.csv").streaming_content).decode()
    assert [line.partition(",")[0] for line in file.splitlines()[1:]] == EVEN

    # Labels may change; the slice keeps its cases.
    Case.objects.filter(key="case-00").update(tags=["theme:odd"])
    with pytest.raises(DatabaseError), transaction.atomic():
        NamedSlice.objects.filter(pk=kept.pk).update(case_ids=[])
    with pytest.raises(DatabaseError), transaction.atomic():
        kept.delete()
    report = services.create_report(
        benchmark=study.benchmark, kind="scores", parameters={"rater": "group:A", "k": 1}, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report = Report.objects.get()
    assert report.status == "done", report.error
    assert report.parameters["subsets"] == ["even-and-easy"]
    rows = [row for row in table_of(report, "scoreboard_slices").dicts() if row["slice"] == "subset:even-and-easy"]
    assert {(row["candidate"], row["n_cases"]) for row in rows} == {("alpha", 6), ("beta", 6)}
    shown = client.get(f"/b/{slug}/scores/{report.public_id}/", {"slice": "subset:even-and-easy"}).content.decode()
    assert "Scoreboard: Even and easy" in shown


def test_an_excluded_case_that_matches_is_counted_and_left_out(study: Study, client: Client) -> None:
    form = {"rule": "filter", "text": "sore throat", "tags": ["theme:even"]}
    preview = client.get(f"/b/{study.benchmark.slug}/scores/slices/preview", form).content.decode()
    assert re.search(r"1\s*<span class=\"detail\">match, but are excluded", preview)
    call_command(
        "named_slice",
        *("--benchmark", study.benchmark.slug, "--title", "Sore", "--filter", "text=sore throat"),
        stdout=io.StringIO(),
    )
    assert not Case.objects.filter(pk__in=NamedSlice.objects.get().case_ids, key="gone").exists()


def test_by_the_command(study: Study) -> None:
    def run(*options: str) -> str:
        out = io.StringIO()
        call_command("named_slice", "--benchmark", study.benchmark.slug, *options, stdout=out)
        return out.getvalue()

    tags = f"tags={json.dumps(['theme:odd'])}"
    assert run("--filter", tags, "--preview").split() == ODD
    assert not NamedSlice.objects.exists()
    assert run("--filter", tags, "--filter", "max_user_turns=1", "--title", "Odd ones") == (
        "subset:odd-ones: 6 of 13 cases\n"
    )
    assert NamedSlice.objects.get().parameters["filter"] == {"tags": ["theme:odd"], "max_user_turns": 1}
    for wrong in (["--filter", "tags=theme:odd", "--title", "A"], ["--filter", "nothing=1"], ["--filter", "x"], []):
        with pytest.raises(CommandError):
            run(*wrong)
