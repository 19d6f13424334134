"""Pages of benchmarks, cases and candidates: what they show, to whom, and at what cost."""

from __future__ import annotations

from typing import Any

import pytest
from django import forms
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.asserts import assertHTMLEqual

from rubrics.forms import FilterCheck, FilterSelect, FilterText
from rubrics.models import Benchmark, Case
from rubrics.selectors import lists
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory, ResponseFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client: Client) -> Client:
    user = UserFactory(is_staff=True)
    BenchmarkFactory(slug="bench", title="The benchmark", admin=user)
    client.force_login(user)
    return client


@pytest.fixture
def benchmark(admin: Client) -> Benchmark:
    return Benchmark.objects.get()


def text(client: Client, path: str, status: int = 200) -> str:
    response: Any = client.get(path)
    assert response.status_code == status, path
    return (b"".join(response.streaming_content) if response.streaming else response.content).decode()


def keys(client: Client, query: str) -> list[str]:
    """Keys of the cases in the file that stands behind the list."""
    return [line.split(",")[0] for line in text(client, f"/b/bench/cases.csv?{query}").splitlines()[1:]]


def fill(benchmark: Benchmark, cases: int) -> None:
    candidates = [CandidateFactory(benchmark=benchmark) for _ in range(3)]
    for _ in range(cases):
        case = CaseFactory(benchmark=benchmark)
        for candidate in candidates:
            ResponseFactory(case=case, candidate=candidate)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["", "cases/", "cases.csv", "candidates/", "imports/", "settings/"])
def test_a_page_costs_the_same_at_any_size(admin, benchmark, path) -> None:
    counts = []
    for more in (2, 12):
        fill(benchmark, more)
        text(admin, f"/b/bench/{path}")  # once before, so that nothing cached counts
        with CaptureQueriesContext(connection) as queries:
            text(admin, f"/b/bench/{path}")
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.slow
def test_a_case_and_a_candidate_cost_the_same_at_any_size(admin, benchmark) -> None:
    fill(benchmark, 1)
    small = Case.objects.get()
    large = CaseFactory(benchmark=benchmark, rubric=[1] * 40)
    for candidate in benchmark.candidates.all():
        for sample in range(20):
            ResponseFactory(case=large, candidate=candidate, sample=sample)
    lone = CandidateFactory(benchmark=benchmark)
    ResponseFactory(case=small, candidate=lone)
    busy = benchmark.candidates.exclude(pk=lone.pk).first()
    assert busy is not None
    for few, many in (
        (f"cases/{small.public_id}/", f"cases/{large.public_id}/"),
        (f"candidates/{lone.public_id}/", f"candidates/{busy.public_id}/"),
    ):
        counts = []
        for path in (few, few, many):
            with CaptureQueriesContext(connection) as queries:
                text(admin, f"/b/bench/{path}")
            counts.append(len(queries))
        assert counts[1] == counts[2]


@pytest.mark.slow
def test_the_list_narrows_by_what_it_offers_and_by_nothing_else(admin, benchmark) -> None:
    CaseFactory(benchmark=benchmark, key="one", difficulty="high", register="lay", language="zh", tags=["theme:a"])
    CaseFactory(
        benchmark=benchmark, key="two", difficulty="low", register="", language="en", tags=["theme:a", "theme:b"],
        conversation=[{"role": "user", "content": "A wombat bit me."}], rubric=[1, 2, 3, 4, -5],
    )  # fmt: skip
    CaseFactory(benchmark=BenchmarkFactory(), key="foreign")
    assert keys(admin, "") == ["one", "two"]
    assert keys(admin, "difficulty=high") == ["one"]
    assert keys(admin, "register=none") == ["two"]
    assert keys(admin, "language=en") == ["two"]
    assert keys(admin, "tag=theme:b") == ["two"]
    assert keys(admin, "q=WOMBAT") == ["two"]
    assert keys(admin, "q=on") == ["one"]
    assert keys(admin, "sort=-criteria") == ["two", "one"]
    assert keys(admin, "sort=-key") == ["two", "one"]
    # Not on the lists of filters and orders: refused, or as if it were not there.
    assert keys(admin, "difficulty=impossible") == []
    assert keys(admin, "sort=benchmark__roles__user__password") == ["one", "two"]
    assert keys(admin, "benchmark__roles__user__password__startswith=x") == ["one", "two"]
    assert "No matching cases" in text(admin, "/b/bench/cases/?q=nothing+like+this")


def test_a_case_shows_its_conversation_rubric_and_responses(admin, benchmark) -> None:
    case = CaseFactory(benchmark=benchmark, rubric=[7, -3], key="the-key")
    response = ResponseFactory(case=case, text="Drink **water** & <b>rest</b>")
    page = text(admin, f"/b/bench/cases/{case.public_id}/")
    for piece in ("the-key", "I have had a sore throat", "Criterion 1 of the-key", "+7", "\N{MINUS SIGN}3", "Patient"):
        assert piece in page
    assert response.candidate.name in page
    assert "<strong>water</strong> &amp; &lt;b&gt;rest&lt;/b&gt;" in page
    assert "2 criteria, max 7 points" in page


@pytest.mark.slow
def test_pages_without_anything_say_what_comes_next(admin) -> None:
    assert "No cases yet" in text(admin, "/b/bench/cases/")
    assert "No candidates yet" in text(admin, "/b/bench/candidates/")
    assert "No imports yet" in text(admin, "/b/bench/imports/")
    overview = text(admin, "/b/bench/")
    assert "Import cases with their rubrics" in overview
    assert 'href="/b/bench/imports/?kind=cases"' in overview
    assert "Created on" not in overview  # "6 minutes ago" follows
    assert "The benchmark" in text(admin, "/")


@pytest.mark.slow
def test_the_list_of_cases_says_where_cases_without_a_conversation_are(admin, benchmark) -> None:
    own = Benchmark.objects.get(slug="bench")
    for key in ("a", "b"):
        Case.with_stubs.create(benchmark=own, key=key, conversation=[], is_stub=True)
    page = " ".join(text(admin, "/b/bench/cases/").split())
    assert "No cases yet" in page
    assert "2 cases have data on urgency only and no conversation; they are counted under Acuity." in page
    assert 'href="/b/bench/case-acuity/"' in page
    CaseFactory(benchmark=own)
    assert "data on urgency only" not in text(admin, "/b/bench/cases/")


def test_staff_make_benchmarks_and_nobody_else(admin, client) -> None:
    assert admin.post("/benchmarks/new/", {"title": "New", "slug": "new-one"}).status_code == 302
    new_benchmark = Benchmark.objects.get(slug="new-one")
    assert new_benchmark.roles.get().role == "admin"
    assert admin.post("/benchmarks/new/", {"title": "New", "slug": "new-one"}).status_code == 409
    assert admin.post("/benchmarks/new/", {"title": "New", "slug": "Bad one"}).status_code == 422
    client.force_login(UserFactory(is_superuser=True))
    assert client.get("/benchmarks/new/").status_code == 404
    assert client.post("/benchmarks/new/", {"title": "New", "slug": "other"}).status_code == 404
    assert "You do not manage any benchmark" in text(client, "/benchmarks/")


@pytest.mark.slow
def test_settings_are_the_admins(admin, benchmark, client) -> None:
    fields = {"title": "Renamed", "description": "d", "guidelines": "g", "rule_sheet": "r", "slug": "moved"}
    assert admin.post("/b/bench/settings/", fields).status_code == 302
    benchmark.refresh_from_db()
    assert (benchmark.title, benchmark.rule_sheet, benchmark.slug) == ("Renamed", "r", "bench")
    assert admin.post("/b/bench/settings/", {**fields, "title": ""}).status_code == 422
    researcher = UserFactory()
    benchmark.roles.create(user=researcher, role="researcher")
    client.force_login(researcher)
    assert client.get("/b/bench/settings/").status_code == 404
    overview = text(client, "/b/bench/")
    assert "/b/bench/settings/" not in overview


def send_maps(client: Client, content: str) -> Any:
    return client.post("/b/bench/settings/maps/", {"file": SimpleUploadedFile("maps.csv", content.encode())})


def test_maps_are_replaced_and_give_the_cases_their_register(admin, benchmark) -> None:
    lay = CaseFactory(benchmark=benchmark, register="", metadata={"user_role": "患者"})
    other = CaseFactory(benchmark=benchmark, register="", metadata={"user_role": "医生"})
    content = "map,from,to\nspecialty,神经内科,internal medicine\nregister,患者,lay\ntask,triage,reasoning\n"
    content += "cluster,emergent,emergencies\n"
    assert send_maps(admin, content).status_code == 302
    benchmark.refresh_from_db()
    assert benchmark.maps == {
        "specialty": {"神经内科": "internal medicine"},
        "register": {"患者": "lay"},
        "task": {"triage": "reasoning"},
        "cluster": {"emergent": "emergencies"},
    }
    lay.refresh_from_db()
    other.refresh_from_db()
    assert (lay.register, other.register) == ("lay", "")
    assert sorted(text(admin, "/b/bench/settings/maps.csv").splitlines()) == sorted(content.splitlines())

    refused = send_maps(admin, "map,from,to\nregister,患者,doctor\ncolour,a,b\nspecialty,a,b\nspecialty,a,c\n")
    assert refused.status_code == 422
    page = refused.content.decode()
    for line in ("line 2", "line 3", "line 5"):
        assert line in page
    benchmark.refresh_from_db()
    assert benchmark.maps["register"] == {"患者": "lay"}


def test_cells_of_a_file_are_inert(admin, benchmark) -> None:
    CaseFactory(benchmark=benchmark, key="=HYPERLINK(1)", tags=["@risk"])
    assert "'=HYPERLINK(1)" in text(admin, "/b/bench/cases.csv")
    assert ",'@risk," in text(admin, "/b/bench/cases.csv")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("q=WOMBAT", [["w1", "w2"], ["w3"]]),
        ("sort=-criteria", [["w3", "w2"], ["none", "w1"]]),
        ("q=wombat&sort=-criteria", [["w3", "w2"], ["w1"]]),
    ],
)
def test_pages_of_what_is_looked_through_for_each_of_them(admin, benchmark, monkeypatch, query, pages) -> None:
    monkeypatch.setattr("rubrics.views.cases.PER_PAGE", 2)
    for number in (1, 2, 3):
        conversation = [{"role": "user", "content": "A wombat bit me."}]
        CaseFactory(benchmark=benchmark, key=f"w{number}", conversation=conversation, rubric=[1] * number)
    CaseFactory(benchmark=benchmark, key="none", rubric=[1])
    for page, page_query in (
        (0, ""),
        (0, "&page=x"),
        (0, "&page=1"),
        (1, "&page=2"),
        (1, "&page=9"),
        (1, f"&page={10**30}"),
        (1, "&page=-1"),
    ):
        shown = admin.get(f"/b/bench/cases/?{query}{page_query}").context["page_obj"]
        assert [case.key for case in shown] == pages[page]
        assert shown.paginator.count == sum(map(len, pages))
    assert not list(admin.get("/b/bench/cases/?q=xylophone&page=3").context["page_obj"])


def test_tags_are_counted_anew_once_a_case_comes_goes_or_changes(benchmark) -> None:
    first = CaseFactory(benchmark=benchmark, tags=["theme:a"])
    assert lists.tag_counts(benchmark) == [("theme:a", 1)]
    with CaptureQueriesContext(connection) as queries:
        assert lists.tag_counts(benchmark) == [("theme:a", 1)]
    assert len(queries) == 1  # whether anything changed
    two = CaseFactory(benchmark=benchmark, tags=["theme:a", "theme:b"], rubric=0)
    assert lists.tag_counts(benchmark) == [("theme:a", 2), ("theme:b", 1)]
    Case.objects.filter(pk=first.pk).update(label_tags=["category:c"])
    assert lists.tag_counts(benchmark) == [("category:c", 1), ("theme:a", 2), ("theme:b", 1)]
    assert lists.tag_counts(benchmark, 1) == [("theme:a", 2)]
    two.delete()
    assert lists.tag_counts(benchmark) == [("category:c", 1), ("theme:a", 1)]


def test_a_filter_is_drawn_as_any_other_select() -> None:
    choices = [("", "All"), ("a", 'A "&" <b>'), ("b", "B")]
    for value in (None, "", "a", "other"):
        drawn = FilterSelect(choices=choices).render("tag", value, {"id": "id_tag"})
        usual = forms.Select(choices=choices).render("tag", value, {"id": "id_tag"})
        assertHTMLEqual(drawn, usual)
    for value in (None, "", 'a "<b>&'):
        given = {"type": "search", "placeholder": "Key"}
        drawn = FilterText(attrs=given).render("q", value, {"id": "id_q", "maxlength": "200", "required": False})
        usual = forms.TextInput(attrs=given).render("q", value, {"id": "id_q", "maxlength": "200", "required": False})
        assertHTMLEqual(drawn, usual)
    for value in (None, False, True):
        drawn = FilterCheck().render("mine", value, {"id": "id_mine"})
        assertHTMLEqual(drawn, forms.CheckboxInput().render("mine", value, {"id": "id_mine"}))


def test_home_offers_all_benchmarks_and_a_new_one_beside_its_heading(client: Client) -> None:
    """A first benchmark is a card with its button; later, buttons that are not sorted among the benchmarks."""
    user = UserFactory(is_staff=True)
    client.force_login(user)
    first = client.get("/")
    assert [str(card.title) for card in first.context["cards"]] == ["Create your own benchmark"]
    assert first.context["actions"] == []
    for title in ("Calibrating", "Acuity"):
        BenchmarkFactory(title=title, admin=user)
    page = client.get("/")
    assert [str(card.title) for card in page.context["cards"]] == ["Acuity", "Calibrating"]
    head, _, body = page.content.decode().partition("home-cards")
    for url, label in (("/benchmarks/", "All benchmarks"), ("/benchmarks/new/", "New benchmark")):
        assert f'<a class="button" href="{url}">{label}</a>' in head and label not in body
    other = UserFactory()
    BenchmarkFactory(title="Theirs", admin=other)
    client.force_login(other)
    assert "New benchmark" not in client.get("/", follow=True).content.decode()
