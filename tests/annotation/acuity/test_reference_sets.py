"""Reference sets: what labels give, signing, the pages, the command and the endpoints."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction
from django.test import Client
from django.utils import timezone

from annotation.models import ReferenceItem, ReferenceSet
from rubrics.acuity.schemes import How, Mapped, Scheme, level
from rubrics.acuity.services import make_scheme
from rubrics.acuity.stored import scale_of
from rubrics.models import Benchmark, Case
from tests.factories import BenchmarkFactory, BenchmarkRoleFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

LABELS = (
    "case,reference,level,candidate\na,self-care,self-care,M\nb,primary-care|urgent-care,,M\nc,emergency,invalid,M\n"
)
RULE = {"rule": "dispersion", "threshold": "0.75", "minimum_votes": "3"}


def import_labels(path: Path, text: str, *options: str, slug: str = "bench", dataset: str = "clinic") -> None:
    path.write_text(text, encoding="utf-8")
    call_command("import_acuity", str(path), "--benchmark", slug, "--dataset", dataset, *options, stdout=io.StringIO())


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    benchmark = BenchmarkFactory(slug="bench")
    import_labels(tmp_path / "labels.csv", LABELS)
    return benchmark


@pytest.fixture
def admin(benchmark: Benchmark, client: Client) -> Client:
    client.force_login(BenchmarkRoleFactory(benchmark=benchmark, role="admin").user)
    return client


def sign(*options: str) -> str:
    out = io.StringIO()
    call_command("reference_set", "--benchmark", "bench", *options, stdout=out)
    return out.getvalue()


def seen_on(page: str) -> str:
    match = re.search(r'name="seen" value="(\w{64})"', page)
    assert match
    return match[1]


def form(benchmark: Benchmark, **more: str) -> dict[str, str]:
    scale = benchmark.acuity_scales.get()
    return {"scale": str(scale.pk), "datasets": "clinic", **RULE, **more}


def references(number: int = 1) -> dict[str, tuple[str, str, int | None, int | None]]:
    items = ReferenceItem.objects.filter(reference_set__number=number).order_by("case__key")
    rows = items.values_list("case__key", "status", "source", "low", "high")
    return {case: (status, source, low, high) for case, status, source, low, high in rows}


def test_labels_become_references(benchmark: Benchmark) -> None:
    assert sign() == "Reference set 1 on the scale four: 2 clear, 1 boundary\n"
    assert references() == {
        "a": ("clear", "direct", 0, 0),
        "b": ("boundary", "direct", 1, 2),
        "c": ("clear", "direct", 3, 3),
    }


def test_labels_for_the_panel_give_no_reference_before_it_votes(benchmark: Benchmark, tmp_path: Path) -> None:
    text = "case,reference,level,candidate\nd,ne,emergency,M\ne,em,emergency,M\n"
    import_labels(tmp_path / "more.csv", text, "--scheme", "em-ne-sc", "--scale", "four", dataset="triage")
    sign("--datasets", "triage")
    assert references() == {"d": ("without", "", None, None), "e": ("clear", "direct", 3, 3)}


def vote(path: Path, *rows: str) -> None:
    path.write_text("\n".join(["case,physician,round,level,certainty", *rows, ""]), encoding="utf-8")
    call_command("import_votes", str(path), "--benchmark", "bench", "--group", "Panel", stdout=io.StringIO())


def test_three_votes_come_before_the_label_and_two_do_not(benchmark: Benchmark, tmp_path: Path) -> None:
    levels = {"P1": "urgent-care", "P2": "emergency", "P3": "emergency"}
    rows = [f"c,{physician},1,{level},80" for physician, level in levels.items()]
    vote(tmp_path / "two.csv", *rows[:2], "a,P1,1,primary-care,60", "a,P2,1,primary-care,70")
    sign()
    assert references()["a"] == ("clear", "direct", 0, 0)
    vote(tmp_path / "three.csv", "a,P3,1,primary-care,90", rows[2])
    sign()
    assert references(2)["a"] == ("clear", "panel", 1, 1)
    assert references(2)["c"] == ("clear", "panel", 3, 3)
    item = ReferenceItem.objects.get(reference_set__number=2, case__key="a")
    assert (item.votes, item.n_cannot_tell, item.certainty) == ([2, 2, 2], 0, 70)


def test_a_signer_may_ask_for_fewer_votes(benchmark: Benchmark, tmp_path: Path) -> None:
    vote(tmp_path / "votes.csv", "a,P1,1,primary-care,60", "a,P2,1,primary-care,70")
    sign("--minimum", "2")
    assert references()["a"] == ("clear", "panel", 1, 1)
    sign("--minimum", "3")
    assert references(2)["a"] == ("clear", "direct", 0, 0)


def test_a_label_counts_as_it_was_imported_last(benchmark: Benchmark, tmp_path: Path) -> None:
    scale = benchmark.acuity_scales.get()
    for name, place in (("second", 1), ("first", 2)):
        scheme = Scheme(name, scale_of(scale), {"x": level(place)})
        make_scheme(scale=scale, scheme=scheme, by=None, at=timezone.now())
    for name in ("first", "second"):  # in another order than they were made
        import_labels(tmp_path / "x.csv", "case,reference,level,candidate\nx,x,,M\n", "--scheme", name, dataset="own")
        sign("--datasets", "own")
    assert references(1)["x"] == ("clear", "direct", 2, 2)
    assert references(2)["x"] == ("clear", "direct", 1, 1)


def test_an_excluded_case_is_in_no_new_set(benchmark: Benchmark) -> None:
    Case.with_stubs.filter(key="a").update(excluded_at=timezone.now(), exclusion_reason="Not a request for care.")
    sign()
    assert set(references()) == {"b", "c"}


def test_one_who_cannot_tell_sets_no_case_aside(benchmark: Benchmark, tmp_path: Path) -> None:
    vote(tmp_path / "votes.csv", "a,P1,1,cannot-tell,", *(f"c,P{n},1,cannot-tell," for n in (1, 2, 3)))
    sign()
    assert references()["a"] == ("clear", "direct", 0, 0)
    assert references()["c"] == ("set-aside", "panel", None, None)


def test_what_is_left_out_is_recorded_as_left_out(benchmark: Benchmark, tmp_path: Path) -> None:
    scale = benchmark.acuity_scales.get()
    rules = {"dead": Mapped(How.EXCLUDE), "home": level(0)}
    scheme = Scheme("own", scale_of(scale), rules)
    make_scheme(scale=scale, scheme=scheme, by=None, at=timezone.now())
    text = "case,reference,level,candidate\nx,Dead,self-care,M\ny,HOME ,self-care,M\n"
    import_labels(tmp_path / "own.csv", text, "--scheme", "own", dataset="own")
    sign("--datasets", "own")
    assert references() == {"x": ("excluded", "", None, None), "y": ("clear", "direct", 0, 0)}


def test_two_datasets_that_label_a_case_differently_are_refused(benchmark: Benchmark, tmp_path: Path) -> None:
    import_labels(tmp_path / "second.csv", "case,reference,level,candidate\na,emergency,self-care,N\n", dataset="other")
    with pytest.raises(CommandError, match=r"Two datasets label 1 case differently \(a\)"):
        sign()
    assert not ReferenceSet.objects.exists()
    sign("--datasets", "other")
    assert references() == {"a": ("clear", "direct", 3, 3)}


def test_the_same_set_is_not_signed_twice(benchmark: Benchmark) -> None:
    sign()
    with pytest.raises(CommandError, match="Reference set 1 already has exactly this content"):
        sign()
    sign("--ambiguous", "entropy:0.7")
    assert ReferenceSet.objects.count() == 2


@pytest.mark.parametrize("options", [["--ambiguous", "spread:1"], ["--ambiguous", "entropy:1.1"], ["--scale", "five"]])
def test_a_wrong_option_is_refused(benchmark: Benchmark, options: list[str]) -> None:
    with pytest.raises(CommandError):
        sign(*options)
    assert not ReferenceSet.objects.exists()


@pytest.mark.parametrize("model", [ReferenceSet, ReferenceItem])
@pytest.mark.parametrize("statement", ["UPDATE {} SET id = id", "DELETE FROM {}"])
def test_a_signed_set_cannot_be_changed(
    benchmark: Benchmark, model: type[ReferenceSet | ReferenceItem], statement: str
) -> None:
    sign()
    with pytest.raises(ProgrammingError, match="Cannot"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format(model._meta.db_table))


def test_an_admin_looks_and_then_signs(benchmark: Benchmark, admin: Client) -> None:
    preview = admin.get("/b/bench/reference-sets/preview", form(benchmark)).content.decode()
    assert "0 from their panel, 3 from a label." in preview
    answer = admin.post("/b/bench/reference-sets/new/", form(benchmark, seen=seen_on(preview), note="First."))
    assert answer["Location"] == "/b/bench/reference-sets/1/"
    page = admin.get(answer["Location"]).content.decode()
    assert "Primary care – Urgent care" in page
    signed = ReferenceSet.objects.get()
    assert (signed.note, signed.datasets, signed.ambiguous.in_words) == ("First.", ["clinic"], "dispersion:0.75")


def test_the_form_asks_before_it_signs(benchmark: Benchmark, admin: Client) -> None:
    page = " ".join(admin.get("/b/bench/reference-sets/new/").content.decode().split())
    form = page[page.index('id="new-set"') : page.index('id="sign-set"')]
    # No button of the form itself sends it, not even Enter in a field: the default button is disabled.
    assert re.findall(r'<button type="submit"[^>]*>', form) == ['<button type="submit" disabled hidden>']
    assert 'data-dialog="sign-set">Sign</button>' in form
    dialog = page[page.index('id="sign-set"') :].partition("</dialog>")[0]
    assert "A signed set never changes and cannot be deleted." in dialog
    assert 'form="new-set"' in dialog


def test_labels_that_changed_since_the_look_are_not_signed(benchmark: Benchmark, admin: Client, tmp_path: Path) -> None:
    seen = seen_on(admin.get("/b/bench/reference-sets/preview", form(benchmark)).content.decode())
    import_labels(tmp_path / "late.csv", "case,reference,level,candidate\nlate,emergency,self-care,M\n")
    answer = admin.post("/b/bench/reference-sets/new/", form(benchmark, seen=seen))
    assert answer.status_code == 409
    assert "Votes or labels have changed since you opened this page." in answer.content.decode()
    assert not ReferenceSet.objects.exists()


def test_a_form_that_was_never_previewed_signs_nothing(benchmark: Benchmark, admin: Client) -> None:
    assert admin.post("/b/bench/reference-sets/new/", form(benchmark)).status_code == 409


def test_a_share_above_one_is_refused_at_its_field(benchmark: Benchmark, admin: Client) -> None:
    answer = admin.post("/b/bench/reference-sets/new/", form(benchmark) | {"rule": "majority", "threshold": "1.01"})
    assert answer.status_code == 422
    assert "a number from 0 to 1" in answer.content.decode()


def test_a_researcher_sees_sets_and_cannot_sign(benchmark: Benchmark, client: Client) -> None:
    sign()
    client.force_login(BenchmarkRoleFactory(benchmark=benchmark, role="researcher").user)
    page = client.get("/b/bench/reference-sets/1/")
    assert page.status_code == 200
    assert '<a class="button primary" href="/b/bench/acuity/">Reports on acuity</a>' in page.content.decode()
    assert client.get("/b/bench/reference-sets/new/").status_code == 404


def test_the_next_set_shows_what_differs(benchmark: Benchmark, admin: Client, tmp_path: Path) -> None:
    sign()
    import_labels(tmp_path / "late.csv", "case,reference,level,candidate\nlate,emergency,self-care,M\n")
    sign()
    page = admin.get("/b/bench/reference-sets/2/").content.decode()
    assert "1 case has another reference or status." in page
    rows = list(csv.DictReader(io.StringIO(admin.get("/b/bench/reference-sets/2/since/1.csv").getvalue().decode())))
    assert [(row["case"], row["first_status"], row["second_low"]) for row in rows] == [("late", "", "emergency")]


def test_cases_as_csv_and_by_the_api_are_alike(benchmark: Benchmark, admin: Client) -> None:
    sign()
    text = admin.get("/b/bench/reference-sets/1/reference.csv").getvalue().decode()  # type: ignore[attr-defined]
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["case"], row["status"], row["low"], row["high"], row["m"]) for row in rows] == [
        ("a", "clear", "self-care", "self-care", "0"),
        ("b", "boundary", "primary-care", "urgent-care", "0"),
        ("c", "clear", "emergency", "emergency", "0"),
    ]
    items = admin.get("/api/v1/benchmarks/bench/acuity/reference-sets/1/items/").json()["results"]
    assert [(item["case"], item["status"], item["low"]) for item in items] == [
        (row["case"], row["status"], row["low"]) for row in rows
    ]
    (listed,) = admin.get("/api/v1/benchmarks/bench/acuity/reference-sets/").json()["results"]
    assert listed["ambiguous_rule"] == "dispersion:0.75"
    assert listed["counts"] == {
        "clear": 2, "boundary": 1, "ambiguous": 0, "set-aside": 0, "without": 0, "excluded": 0,
    }  # fmt: skip


def test_the_list_of_sets_has_the_rule_beside_the_number_of_ambiguous_cases(
    benchmark: Benchmark, admin: Client
) -> None:
    sign()
    text = admin.get("/b/bench/reference-sets.csv").getvalue().decode()  # type: ignore[attr-defined]
    heading, row = csv.reader(io.StringIO(text))
    assert len(set(heading)) == len(heading)
    own = dict(zip(heading, row, strict=True))
    assert (own["ambiguous_rule"], own["ambiguous"], own["clear"]) == ("dispersion:0.75", "0", "2")


def test_before_a_scale_the_page_names_the_next_step(client: Client) -> None:
    benchmark = BenchmarkFactory(slug="bench")
    client.force_login(BenchmarkRoleFactory(benchmark=benchmark, role="admin").user)
    assert "No scale yet" in client.get("/b/bench/reference-sets/").content.decode()


def test_stubs_are_in_no_list_of_cases(benchmark: Benchmark, admin: Client) -> None:
    assert Case.with_stubs.count() == 3
    assert not Case.objects.exists()
    assert "No cases" in admin.get("/b/bench/cases/").content.decode()
    overview = " ".join(admin.get("/b/bench/").content.decode().split())
    assert "and 3 without a text, for acuity only" in overview
    # A finished step leads to its page.
    assert re.search(r'<a href="[^"]+">Import the urgency of the cases</a>', overview)
