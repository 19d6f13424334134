"""The languages of cases: detected, given by a file or a person, corrected on the case and for several at once."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client

from rubrics.models import Benchmark, Case
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory, ResponseFactory, UserFactory

pytestmark = pytest.mark.django_db


def question(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def missing(benchmark: Benchmark, text: str) -> Case:
    """A case without a language."""
    return CaseFactory(benchmark=benchmark, conversation=question(text), language="")


@pytest.fixture
def benchmark() -> Benchmark:
    return BenchmarkFactory(slug="bench", admin=UserFactory())


@pytest.fixture
def admin(client: Client, benchmark: Benchmark) -> Client:
    client.force_login(benchmark.roles.get().user)
    return client


def known(case: Case) -> tuple[str, bool]:
    case.refresh_from_db()
    return case.language, case.language_detected


def imported(path: Path, *rows: dict[str, object]) -> dict[str, tuple[str, bool]]:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    call_command("import_cases", str(path), "--benchmark", "hb", stdout=io.StringIO())
    return {case.key: (case.language, case.language_detected) for case in Case.objects.filter(benchmark__slug="hb")}


def example(key: str, text: str, **fields: object) -> dict[str, object]:
    rubric = {"criterion": "Advises rest", "points": 1, "tags": []}
    return {"prompt_id": key, "prompt": question(text), "rubrics": [rubric], "example_tags": [], **fields}


@pytest.mark.slow
def test_an_import_detects_the_language_unless_the_file_gives_it(tmp_path: Path) -> None:
    rows = (
        example("detected", "Me duele la garganta desde hace tres días. ¿Qué hago?"),
        example("given", "Me duele la garganta desde hace tres días. ¿Qué hago?", language="ES-mx"),
        example("no tag", "I have had a cough for three weeks now.", language="spoken"),
        example("short", "45y F", ideal_completions_data={"ideal_completion": "Was möchten Sie wissen?"}),
        example("none", "45y F"),
    )
    assert imported(tmp_path / "cases.jsonl", *rows) == {
        "detected": ("es", True),
        "given": ("es-MX", False),
        "no tag": ("en", True),
        "short": ("de", True),
        "none": ("", False),
    }
    assert Case.objects.get(key="given").metadata["language"] == "ES-mx"  # and written out as it came
    Case.objects.filter(key="detected").update(language="gl", language_detected=False)
    assert imported(tmp_path / "cases.jsonl", *rows)["detected"] == ("gl", False)  # a correction stays


@pytest.mark.slow
def test_a_table_may_have_a_column_for_the_language(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_text(
        "case,prompt,language,criterion\n"
        "a,Where is the doctor?,pt_br,Advises rest\n"
        "b,Where is the doctor?,,Advises rest\n"
    )
    call_command("import_cases", str(path), "--benchmark", "table", stdout=io.StringIO())
    assert list(Case.objects.order_by("key").values_list("language", "language_detected")) == [
        ("pt-BR", False),
        ("en", True),
    ]
    path.write_text("case,prompt,language,criterion\nc,Where is the doctor?,spoken,Advises rest\n")
    errors = io.StringIO()
    with pytest.raises(CommandError, match="1 fault"):
        call_command("import_cases", str(path), "--benchmark", "table", stdout=errors, stderr=errors)
    assert "“spoken” is not a language code" in errors.getvalue()


def test_the_database_keeps_a_wrong_tag_and_a_detected_nothing_out(benchmark: Benchmark) -> None:
    case = CaseFactory(benchmark=benchmark)
    for fields in ({"language": "not a tag"}, {"language": "", "language_detected": True}):
        with pytest.raises(IntegrityError, match="rubrics_case_"), transaction.atomic():
            Case.objects.filter(pk=case.pk).update(**fields)


def test_detection_fills_in_what_is_missing_and_leaves_the_rest(admin: Client, benchmark: Benchmark) -> None:
    texts = {"fr": "J'ai mal à la gorge depuis trois jours.", "": "45y F"}
    cases = {tag: missing(benchmark, text) for tag, text in texts.items()}
    wrong = CaseFactory(benchmark=benchmark, conversation=question(texts["fr"]), language="en")
    answered = missing(benchmark, "45y F")
    physician = CandidateFactory(benchmark=benchmark, kind="physician")
    ResponseFactory(case=answered, candidate=physician, text="¿Qué síntomas tiene la paciente y desde cuándo?")
    elsewhere = missing(BenchmarkFactory(), texts["fr"])
    page = admin.post("/b/bench/cases/languages/detect/", follow=True).content.decode()
    assert "A language was detected for 2 cases. 1 case still has none" in page
    assert known(cases["fr"]) == ("fr", True)
    assert known(answered) == ("es", True)
    assert known(cases[""]) == ("", False)
    assert known(wrong) == ("en", False)
    assert known(elsewhere) == ("", False)


def test_the_languages_of_several_cases_are_corrected_at_once(admin: Client, benchmark: Benchmark) -> None:
    first, second, third = (
        CaseFactory(benchmark=benchmark, language="es", language_detected=True, edit_version=4) for _ in range(3)
    )
    elsewhere = CaseFactory(language="es")
    chosen = [first.public_id, second.public_id, elsewhere.public_id]
    answer = admin.post(
        "/b/bench/cases/languages/set/", {"case": chosen, "language": "ca", "query": "how=detected"}, follow=True
    )
    assert answer.redirect_chain[-1][0] == "/b/bench/cases/languages/?how=detected"
    assert "The languages of 2 cases were saved." in answer.content.decode()
    assert [known(case) for case in (first, second)] == [("ca", False)] * 2
    assert known(third) == ("es", True)
    assert known(elsewhere) == ("es", False)
    assert first.edit_version == 5  # so that an open editor does not put the old one back
    # The audit trail has both.
    assert list(first.events.order_by("pgh_id").values_list("language", "language_detected")) == [
        ("es", True),
        ("ca", False),
    ]
    refused = admin.post("/b/bench/cases/languages/set/", {"case": chosen, "language": "xx"}, follow=True)
    assert "“xx” is not a language code." in refused.content.decode()
    refused = admin.post("/b/bench/cases/languages/set/", {"case": chosen, "language": ""}, follow=True)
    assert "Choose a language." in refused.content.decode()
    refused = admin.post("/b/bench/cases/languages/set/", {"language": "en"}, follow=True)
    assert "Choose at least one case." in refused.content.decode()
    assert known(first) == ("ca", False)
    admin.post("/b/bench/cases/languages/set/", {"case": chosen, "language": "none"})
    assert known(first) == ("", False)


def test_the_language_of_a_case_is_corrected_on_its_page(admin: Client, benchmark: Benchmark) -> None:
    case = CaseFactory(benchmark=benchmark, language="es", language_detected=True, rubric=1)
    page = " ".join(admin.get(f"/b/bench/cases/{case.public_id}/").content.decode().split())
    assert 'Spanish <span class="muted">(detected)</span>' in page
    form = {"case": case.public_id, "language": "es", "next": "case"}
    answer = admin.post("/b/bench/cases/languages/set/", form, follow=True)
    assert answer.redirect_chain[-1][0] == f"/b/bench/cases/{case.public_id}/"
    assert "(detected)" not in answer.content.decode()
    assert known(case) == ("es", False)  # the same, but a person has said so


def test_lists_file_and_api_carry_the_tag(admin: Client, benchmark: Benchmark) -> None:
    CaseFactory(benchmark=benchmark, key="a", language="pt-BR", language_detected=True)
    CaseFactory(benchmark=benchmark, key="b", language="en")
    CaseFactory(benchmark=benchmark, key="c", language="")
    rows = list(csv.DictReader(io.StringIO(b"".join(admin.get("/b/bench/cases.csv")).decode("utf-8-sig"))))
    assert [(row["key"], row["language"], row["language_detected"]) for row in rows] == [
        ("a", "pt-BR", "true"),
        ("b", "en", "false"),
        ("c", "", "false"),
    ]
    listed = admin.get("/api/v1/benchmarks/bench/cases/?language=pt-BR").json()["results"]
    assert [(row["key"], row["language"], row["language_detected"]) for row in listed] == [("a", "pt-BR", True)]
    listed = admin.get("/api/v1/benchmarks/bench/cases/?language=none").json()["results"]
    assert [row["key"] for row in listed] == ["c"]
    for query, keys in (("how=detected", "a"), ("how=given", "b"), ("language=none", "c"), ("", "abc")):
        page = admin.get(f"/b/bench/cases/languages/?{query}")
        assert "".join(sorted(case.key for case in page.context["page_obj"])) == keys
    assert "Brazilian Portuguese" in admin.get("/b/bench/cases/").content.decode()


def test_an_author_writes_any_tag_and_what_they_choose_is_given(admin: Client, benchmark: Benchmark) -> None:
    case = CaseFactory(benchmark=benchmark, language="es", language_detected=True)
    address = f"/api/v1/benchmarks/bench/write/{case.public_id}/"

    def change(**fields: object) -> int:
        case.refresh_from_db()
        body = json.dumps({"version": case.edit_version, **fields})
        return admin.patch(address, body, content_type="application/json").status_code

    assert change(difficulty="low") == 200
    assert known(case) == ("es", True)
    assert change(language="yue_hant_hk") == 200
    assert known(case) == ("yue-Hant-HK", False)
    assert change(language="spoken") == 400
