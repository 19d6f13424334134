"""The report on composition over five cases, whose counts are written out here by hand."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from scipy.stats.contingency import relative_risk

from accounts.models import User
from agreement import services
from agreement.models import Report
from agreement.reports.freshness import freshness_of
from agreement.reports.methods import methods_of
from agreement.reports.stored import table_of
from rubrics.models import Benchmark, Case
from tests import factories
from tests.agreement.composition.reports import composition_of, counts_of, frame_of, slice_of
from tests.regions import region_names

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
EXACT: dict[str, Any] = {"rel": 0, "abs": 1e-9}
USER, ASSISTANT = "user", "assistant"


def turns(*texts: str) -> list[dict[str, str]]:
    """A conversation whose turns are by turns of the user and of the assistant."""
    return [{"role": (USER, ASSISTANT)[i % 2], "content": text} for i, text in enumerate(texts)]


@pytest.fixture
def admin() -> User:
    return factories.UserFactory()


@pytest.fixture
def benchmark(admin: User) -> Benchmark:
    """Five cases that count, an excluded one and a stub.

    Their specialties: a+b, b+a, a, c (in no group), none. a and b are of the group Inner, c is not mapped.
    """
    own = factories.BenchmarkFactory(admin=admin, maps={"specialty": {"a": "Inner", "b": "Inner", "d": "Outer"}})
    rows: list[tuple[str, list[str], str, list[dict[str, str]], list[int]]] = [
        ("one", ["specialty:a", "specialty:b", "theme:x"], "low", turns("abc"), [5, -2]),
        ("two", ["specialty:b", "specialty:a", "theme:x"], "low", turns("abcd", "12", "é" * 7), [1]),
        ("three", ["specialty:a", "theme:y"], "high", turns("ab"), [3, 3, -1]),
        ("four", ["specialty:c"], "high", turns("abcde"), []),
        ("five", ["loose"], "", turns("a", "b", "c", "d", "e"), [2]),
    ]
    for key, tags, difficulty, conversation, points in rows:
        factories.CaseFactory(
            benchmark=own, key=key, tags=tags, difficulty=difficulty, conversation=conversation, rubric=points or 0
        )
    Case.objects.filter(key="three").update(label_tags=["theme:x", "specialty:d"])
    gone = factories.CaseFactory(benchmark=own, key="gone", tags=["specialty:a"])
    Case.objects.filter(pk=gone.pk).update(excluded_at="2026-01-01T00:00:00Z", exclusion_reason="no question")
    Case.with_stubs.create(benchmark=own, key="stub", conversation=[], is_stub=True, tags=["specialty:a"])
    candidate = factories.CandidateFactory(benchmark=own, name="alpha")
    for key, text in (("one", "x" * 10), ("two", "x" * 20), ("gone", "x" * 900)):
        factories.ResponseFactory(case=Case.objects.get(key=key), candidate=candidate, text=text)
    return own


def test_a_case_counts_for_each_label_and_once_by_its_first(benchmark: Benchmark) -> None:
    report = composition_of(benchmark)
    assert counts_of(report, "specialty") == {"a": 3, "b": 2, "c": 1, "d": 1, "": 1}
    assert counts_of(report, "specialty", "n_first") == {"a": 2, "b": 1, "c": 1, "d": 0, "": 1}
    first = counts_of(report, "specialty", "percent_first")
    assert first == pytest.approx({"a": 40, "b": 20, "c": 20, "d": 0, "": 20}, **EXACT)
    assert sum(first.values()) == pytest.approx(100)
    # One and two have two specialties of one group, which count once; three is of both groups.
    assert counts_of(report, "specialty_group") == {"Inner": 3, "Outer": 1, "": 2}
    assert counts_of(report, "specialty_group", "n_first") == {"Inner": 3, "Outer": 0, "": 2}
    # The agreed tag of case three comes after its own.
    assert counts_of(report, "theme") == {"x": 3, "y": 1, "": 2}
    assert counts_of(report, "theme", "n_first") == {"x": 2, "y": 1, "": 2}
    assert counts_of(report, "difficulty") == {"low": 2, "high": 2, "": 1}
    assert counts_of(report, "tag") == {"loose": 1, "": 4}
    assert counts_of(report, "turns") == {"single": 3, "several": 2}
    assert counts_of(report, "origin") == {"imported": 5}
    row = next(row for row in table_of(report, "dimensions").dicts() if row["dimension"] == "specialty")
    assert row == {
        "dimension": "specialty", "n_values": 4, "n_cases": 5, "n_labelled": 4, "n_unlabelled": 1, "n_several": 3,
        "mean_labels": pytest.approx(7 / 4),
    }  # fmt: skip
    assert report.result["facts"]["n_cases_excluded"] == 1


def test_lengths_criteria_and_responses(benchmark: Benchmark) -> None:
    report = composition_of(benchmark)
    conversations = {row["measure"]: row for row in table_of(report, "conversations").dicts()}
    # Messages 1, 3, 1, 1, 5; turns of the user 1, 2, 1, 1, 3; characters 3, 13, 2, 5, 5; of the last 3, 7, 2, 5, 1.
    assert (conversations["messages"]["mean"], conversations["messages"]["maximum"]) == (11 / 5, 5)
    assert conversations["user_turns"]["mean"] == pytest.approx(8 / 5)
    assert conversations["characters"]["mean"] == pytest.approx(28 / 5)
    assert conversations["characters"]["median"] == 5
    # Squares about 5.6: 6.76, 54.76, 12.96, 0.36, 0.36.
    assert conversations["characters"]["sd"] == pytest.approx((75.2 / 4) ** 0.5)
    assert (conversations["characters"]["q1"], conversations["characters"]["q3"]) == (3, 5)
    assert conversations["last_user_characters"]["mean"] == pytest.approx(18 / 5)
    rubrics = {row["measure"]: row for row in table_of(report, "rubrics").dicts()}
    # Four cases have a rubric, of 2, 1, 3 and 1 criteria.
    assert (rubrics["criteria"]["n"], rubrics["criteria"]["mean"]) == (4, 7 / 4)
    assert (rubrics["points_positive"]["mean"], rubrics["points_negative"]["mean"]) == (14 / 4, -3 / 4)
    assert (rubrics["positive_criteria"]["mean"], rubrics["negative_criteria"]["maximum"]) == (5 / 4, 1)
    criteria = {(row["dimension"], row["value"]): row for row in table_of(report, "criteria").dicts()}
    assert (criteria["sign", "positive"]["n"], criteria["sign", "positive"]["points_positive"]) == (5, 14)
    assert (criteria["sign", "negative"]["n"], criteria["sign", "negative"]["n_cases"]) == (2, 2)
    assert criteria["axis", "accuracy"]["percent"] == 100
    (response,) = table_of(report, "responses").dicts()
    assert (response["n"], response["n_cases"], response["mean"], response["median"]) == (2, 2, 15, 15)
    assert response["sd"] == pytest.approx(50**0.5)
    turns_of = [row for row in table_of(report, "histogram").dicts() if row["measure"] == "user_turns"]
    assert [(row["low"], row["high"], row["n"]) for row in turns_of] == [(1, 1, 3), (2, 2, 1), (3, 3, 1)]
    cases = {row["case"]: row for row in table_of(report, "cases").dicts()}
    assert list(cases) == ["five", "four", "one", "three", "two"]
    assert (cases["two"]["specialty_first"], cases["two"]["characters"], cases["two"]["responses"]) == ("b", 13, 1)


def test_a_cross_table_by_first_labels(benchmark: Benchmark) -> None:
    report = composition_of(benchmark, row="specialty_first", column="difficulty")
    cells = {(row["row"], row["column"]): row for row in table_of(report, "cross").dicts()}
    assert {place: row["n"] for place, row in cells.items() if row["n"]} == {
        ("a", "low"): 1, ("a", "high"): 1, ("b", "low"): 1, ("c", "high"): 1, ("", ""): 1,
    }  # fmt: skip
    assert cells["a", "low"]["row_percent"] == 50
    assert cells["a", "low"]["column_percent"] == 50
    assert cells["a", "low"]["percent"] == 20
    # The only case whose first specialty is b is one of two with low difficulty.
    assert (cells["b", "low"]["row_percent"], cells["b", "low"]["column_percent"]) == (100, 50)
    assert sum(row["n"] for row in cells.values()) == 5
    several = composition_of(benchmark, row="specialty", column="theme")
    cells = {(row["row"], row["column"]): row["n"] for row in table_of(several, "cross").dicts()}
    assert (cells["a", "x"], cells["b", "x"], cells["d", "y"], cells["c", ""]) == (3, 2, 1, 1)


def test_a_slice_against_the_other_cases(benchmark: Benchmark) -> None:
    slice_of(benchmark, "some", ["one", "two", "four"])
    report = composition_of(benchmark, subset="some")
    assert counts_of(report, "specialty") == {"a": 2, "b": 2, "c": 1, "d": 0}
    rows = {(row["dimension"], row["value"]): row for row in table_of(report, "enrichment").dicts()}
    own = rows["specialty", "a"]
    assert (own["n_inside"], own["size_inside"], own["n_outside"], own["size_outside"]) == (2, 3, 1, 2)
    assert own["ratio"] == pytest.approx(relative_risk(2, 3, 1, 2).relative_risk)
    assert own["ratio_low"] < own["ratio"] < own["ratio_high"]
    # 2/3 in the slice and 3/5 in all.
    assert own["enrichment"] == pytest.approx(2 / 3 / (3 / 5))
    none = rows["specialty", "b"]
    assert none["ratio"] is None and "no case outside the slice has this label" in none["note"]
    assert none["enrichment"] == pytest.approx(2 / 3 / (2 / 5))
    assert rows["specialty", "d"]["ratio"] == 0
    assert "enrichment" not in {table.name for table in composition_of(benchmark).tables.all()}
    assert "Koopman" in methods_of(report).text and "Koopman 1984" in methods_of(report).text


def test_a_case_of_the_slice_that_is_excluded_later_is_left_out_with_a_remark(benchmark: Benchmark) -> None:
    slice_of(benchmark, "some", ["one", "two", "four"])
    report = composition_of(benchmark, subset="some")
    assert freshness_of(report).fresh is True
    Case.objects.filter(key="two").update(excluded_at="2026-01-02T00:00:00Z", exclusion_reason="twice")
    freshness = freshness_of(report)
    assert freshness.fresh is False
    later = composition_of(benchmark, subset="some")
    assert later.result["facts"]["n_cases"] == 2
    assert any("1 case of the slice not counted" in note for note in later.result["notes"])


@pytest.mark.django_db(transaction=True)
def test_new_cases_and_responses_make_it_stale(benchmark: Benchmark, admin: User, client: Client) -> None:
    report = composition_of(benchmark)
    client.force_login(admin)
    assert "Check if stale" not in client.get("/b/" + benchmark.slug + "/composition/").content.decode()
    factories.ResponseFactory(
        case=factories.CaseFactory(benchmark=benchmark, rubric=0), candidate=benchmark.candidates.get(name="alpha")
    )
    freshness = freshness_of(report)
    assert freshness.fresh is False
    assert {change.what: change.n for change in freshness.changes}.items() >= {
        "cases_added": 1, "responses_added": 1,
    }.items()  # fmt: skip
    assert "Check if stale" in client.get("/b/" + benchmark.slug + "/composition/").content.decode()


def test_the_same_cases_give_the_same_files(benchmark: Benchmark) -> None:
    first, again = composition_of(benchmark), composition_of(benchmark)
    assert first.input_digest == again.input_digest
    for table in first.tables.all():
        text = "".join(table_of(first, table.name).csv())
        assert text == "".join(table_of(again, table.name).csv())
        assert "nan" not in text.lower()


@pytest.fixture
def client(admin: User) -> Client:
    client = Client()
    client.force_login(admin)
    return client


def test_the_page_shows_one_dimension_after_the_other(benchmark: Benchmark, client: Client) -> None:
    section = f"/b/{benchmark.slug}/composition/"
    empty = client.get(section).content.decode()
    assert "No report yet" in empty
    slice_of(benchmark, "some", ["one", "two", "four"])
    answered = client.post(section, {"kind": "composition", "composition-subset": "some", "composition-row": "theme"})
    assert answered.status_code == 302
    report = Report.objects.get()
    assert (report.parameters["subset"], report.parameters["row"]) == ("some", "theme")
    services.run(report_id=report.pk, clock=timezone.now)
    html = client.get(answered["Location"], {"slice": "specialty"}).content.decode()
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))
    assert "Composition of the slice some" in text
    assert "a 2 66.7% 1 33.3%" in text  # two have it, one as its first label
    assert "b 2 (66.7%) 0 (0.0%) undefined" in text
    assert 'id="figure-cases_specialty"' in html
    assert len(re.findall(r'id="([^"]+)"', html)) == len(set(re.findall(r'id="([^"]+)"', html)))
    names = region_names(html)
    assert "Figure: Specialty" in " ".join(names) and len(set(names)) == len(names)
    for table in report.tables.all():
        file = client.get(f"{answered['Location']}tables/{table.name}.csv")
        assert file.status_code == 200, table.name
        assert b"".join(file.streaming_content).startswith(",".join(table.columns).encode())
    refused = client.post(section, {"kind": "composition", "composition-row": "nothing"})
    assert refused.status_code == 422


def test_what_is_not_there_is_refused(benchmark: Benchmark, client: Client) -> None:
    address = f"/api/v1/benchmarks/{benchmark.slug}/reports/"
    for parameters, field in (
        ({"subset": "nothing"}, "subset"),
        ({"row": "nothing"}, "row"),
        ({"column": ["theme"]}, "column"),
        ({"reference_set": 7}, "reference_set"),
    ):
        payload = {"kind": "composition", "parameters": parameters}
        answered = client.post(address, payload, content_type="application/json")
        assert answered.status_code == 422, parameters
        assert field in answered.content.decode()
    answered = client.post(address, {"kind": "composition", "parameters": {}}, content_type="application/json")
    assert answered.status_code == 201
    # By first labels of the groups, and by the first dimension besides in which cases differ.
    assert answered.json()["parameters"] | {"row": 0} == {
        "subset": "", "row": 0, "column": "difficulty", "reference_set": None,
    }  # fmt: skip
    assert answered.json()["parameters"]["row"] == "specialty_group_first"


def test_frames_have_every_table(benchmark: Benchmark) -> None:
    frame = frame_of(composition_of(benchmark), "cases")
    assert frame["criteria"].sum() == 7
