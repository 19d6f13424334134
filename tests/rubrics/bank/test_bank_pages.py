"""Pages of the banks: search, own banks, insertion into a draft, and cluster criteria for many cases."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from rubrics.editor.draft_content import DraftItem
from rubrics.models import Bank, BankItem, Benchmark, Case, Rubric, RubricDraft
from rubrics.services import give_authoring_role
from rubrics.services.drafts import open_draft, save_draft
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory
from tests.rubrics.bank.test_bank import CLUSTERS

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
EMERGENT = "physician_agreed_category:emergent"
TWO = ["emergency_referrals_emergent_emergency_behavior", "emergency_referrals_emergent_context_seeking"]


@pytest.fixture
def benchmark() -> Benchmark:
    return BenchmarkFactory(slug="bench")


@pytest.fixture
def author(benchmark: Benchmark, client: Client) -> Client:
    user = UserFactory()
    give_authoring_role(benchmark=benchmark, user=user, role="author", at=timezone.now())
    client.force_login(user)
    client.user = user  # type: ignore[attr-defined]
    return client


def upload(client: Client, text: str, **fields: str) -> Any:
    file = SimpleUploadedFile("bank.csv", text.encode())
    return client.post("/b/bench/bank/own/", {"file": file, "bank": "ours", "title": "Ours", **fields})


OURS = (
    "key,section,text_en,points,applies_to\n"
    "our-1,evidence,Names our guideline,4,\n"
    "our-2,evidence,Names our ward,2,theme:ward\n"
)


def items(case: Case) -> list[dict[str, Any]]:
    return RubricDraft.objects.get(rubric__case=case, rubric__status="draft").content["items"]


def test_the_bank_is_searched_filtered_and_written_as_a_file(author) -> None:
    page = author.get("/b/bench/bank/").content.decode()
    assert "Safety and emergency" in page
    page = author.get("/b/bench/bank/", {"q": "renal 肾功能", "language": "zh"}).content.decode()
    assert "根据给出的肾功能" in page
    assert page.count('class="bank-text"') == 1
    assert "No matching criteria" in author.get("/b/bench/bank/", {"q": "zebra"}).content.decode()
    assert "No matching criteria" in author.get("/b/bench/bank/", {"section": "nonsense"}).content.decode()
    rows = b"".join(author.get("/b/bench/bank.csv", {"points": "negative"}).streaming_content).decode().splitlines()
    assert rows[0].startswith("bank,key,section,dimension,text_en,text_zh")
    assert all(re.search(r",-\d+,", row) for row in rows[1:])


def test_a_bank_is_imported_once_whole_or_not_at_all(author) -> None:
    assert "2 new criteria, 0 unchanged" in upload(author, OURS).content.decode()
    assert "0 new criteria, 2 unchanged" in upload(author, OURS).content.decode()
    assert "Names our guideline" in author.get("/b/bench/bank/", {"bank": "ours"}).content.decode()
    before = list(BankItem.objects.values())
    for broken, words in [
        (OURS + "our-3,evidence,Names,0,\n", "must add or deduct at least one point"),
        (OURS.replace("guideline", "guidebook") + "our-3,evidence,Names,1,\n", "with different content"),
    ]:
        answer = upload(author, broken)
        assert answer.status_code == 422
        assert words in html.unescape(answer.content.decode())
        assert list(BankItem.objects.values()) == before
    assert upload(author, OURS, bank="consensus").status_code == 422
    assert upload(author, "x,y\n1,2\n", bank="other").status_code == 422
    assert Bank.objects.count() == 1
    again = b"".join(author.get("/b/bench/bank/files/ours.jsonl").streaming_content).decode()
    assert json.loads(again.splitlines()[1])["applies_to"] == ["theme:ward"]
    assert upload(author, again).status_code == 200
    assert list(BankItem.objects.values()) == before
    author.post("/b/bench/bank/own/ours/use/", {"active": "0"})
    assert "Names our guideline" not in author.get("/b/bench/bank/", {"q": "guideline"}).content.decode()
    assert upload(author, OURS).status_code == 422  # out of use
    author.post("/b/bench/bank/own/ours/use/", {"active": "1"})
    assert "Names our guideline" in author.get("/b/bench/bank/", {"q": "our"}).content.decode()


def test_the_command_imports_a_bank(tmp_path) -> None:
    file = tmp_path / "bank.csv"
    file.write_text(OURS)
    call_command("import_bank", str(file), "--benchmark", "new", "--bank", "ours", "--licence", "CC0")
    assert Bank.objects.get().licence == "CC0"
    file.write_text(OURS + "our-9,evidence,,3,\n")
    with pytest.raises(CommandError, match="1 fault"):
        call_command("import_bank", str(file), "--benchmark", "new", "--bank", "ours")
    assert BankItem.objects.count() == 2


def test_the_editor_is_offered_what_applies_first_in_the_language_of_the_case(author, benchmark) -> None:
    case = CaseFactory(benchmark=benchmark, language="zh", tags=[EMERGENT], rubric=0)
    page = author.get("/b/bench/bank/search/", {"case": case.public_id, "only": "cluster"}).content.decode()
    offered = [json.loads(html.unescape(item)) for item in re.findall(r'data-item="([^"]*)"', page)]
    assert [item["bank"] for item in offered[:2]] == [f"consensus/{key}" for key in TWO]
    assert offered[0]["text"] == "在其他建议之前明确告知用户立即急诊就医。"
    assert f"cluster:{TWO[0]}" in offered[0]["tags"]
    assert offered[0].keys() == {"text", "points", "tags", "bank"}
    assert page.count("Applies to this case") == 2
    assert "data-held" not in page
    author.post("/b/bench/bank/clusters/", {"case": case.public_id})
    page = author.get("/b/bench/bank/search/", {"case": case.public_id, "only": "cluster"}).content.decode()
    assert page.count("data-held") == 2
    other = CaseFactory(benchmark=BenchmarkFactory(), rubric=0)
    assert author.get("/b/bench/bank/search/", {"case": other.public_id}).status_code == 404


def test_cluster_criteria_are_added_once_and_counted_where_they_are_used(author, benchmark) -> None:
    begun = CaseFactory(benchmark=benchmark, key="a", tags=[EMERGENT], rubric=0)
    published = CaseFactory(benchmark=benchmark, key="b", label_tags=[EMERGENT], rubric=2)
    has_own = CaseFactory(benchmark=benchmark, key="c", tags=[EMERGENT], rubric=0)
    own = [DraftItem(key[-9:], "Our wording", 5, (f"cluster:{key}",)) for key in TWO]
    draft = open_draft(case=has_own, by=author.user, at=timezone.now())
    save_draft(rubric=draft, items=own, version=1, client_id=None, by=author.user, at=timezone.now())
    CaseFactory(benchmark=benchmark, key="d", tags=["theme:other"], rubric=0)
    reviewed = CaseFactory(benchmark=benchmark, key="e", tags=[EMERGENT], rubric=0)
    open_draft(case=reviewed, by=author.user, at=timezone.now())
    Rubric.objects.filter(case=reviewed).update(status="in_review")

    page = author.get("/b/bench/bank/clusters/").content.decode()
    assert "3 of 4 cases" in page
    chosen = [case.public_id for case in (begun, published, has_own, reviewed)]
    page = author.post("/b/bench/bank/clusters/", {"case": chosen}).content.decode()
    assert "Criteria added: 4. Drafts that have them: 2." in page
    assert "in review or published" in page  # e is left out with the reason
    assert [item["bank"] for item in items(begun)] == [f"consensus/{key}" for key in TWO]
    assert len(items(published)) == 4
    assert items(published)[2]["tags"][-1] == f"cluster:{TWO[0]}"
    assert Rubric.objects.filter(case=published, status="published", version=1).exists()
    assert len(items(has_own)) == 2

    before = list(RubricDraft.objects.order_by("pk").values())
    author.post("/b/bench/bank/clusters/", {"case": chosen})
    assert list(RubricDraft.objects.order_by("pk").values()) == before
    assert author.post("/b/bench/bank/clusters/", {}).status_code == 422

    page = author.get(f"/b/bench/bank/items/consensus/{TWO[0]}/").content.decode()
    assert page.count("version ") == 2
    rows = author.get("/api/v1/benchmarks/bench/bank/", {"only": "cluster", "q": TWO[0]}).json()["results"]
    assert [(row["key"], row["used"]) for row in rows] == [(TWO[0], {"published": 0, "drafts": 2})]
    assert author.get("/api/v1/benchmarks/bench/bank/", {"colour": "red"}).status_code == 400
    assert TWO[0] in CLUSTERS


def test_all_cases_at_once_in_parts(author, benchmark, monkeypatch) -> None:
    monkeypatch.setattr("rubrics.views.bank_clusters.MAX_AT_ONCE", 2)
    for number in range(3):
        CaseFactory(benchmark=benchmark, key=f"k{number}", tags=[EMERGENT], rubric=0)
    for expected in (2, 3, 3):
        author.post("/b/bench/bank/clusters/", {"all": "1"})
        assert RubricDraft.objects.count() == expected


def test_a_page_costs_the_same_however_many_cases_there_are(author, benchmark, django_assert_max_num_queries) -> None:
    for number in range(12):
        CaseFactory(benchmark=benchmark, key=f"k{number}", tags=[EMERGENT], rubric=1)
    with django_assert_max_num_queries(22):
        author.get("/b/bench/bank/clusters/")
    with django_assert_max_num_queries(18):
        author.get("/b/bench/bank/")
