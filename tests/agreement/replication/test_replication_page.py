"""The page of replications and its API: what can be made, making it, and its files."""

from __future__ import annotations

import csv
import io
import re
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from accounts.models import Notification
from agreement import tasks
from agreement.models import Replication, Report
from agreement.replication import published, services
from agreement.replication.choosing import Options
from agreement.replication.papers import PAPERS
from annotation.models import Decision
from consilium.core.jobs import MAX_ATTEMPTS
from tests.agreement.study import Study, coin, make_study, noisy
from tests.factories import BenchmarkFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=11, points=(1, 1, 1))
    study.group("A", coin(1, "met", "not_met"))
    study.group("B", noisy(study, "A", 2, 0.25))
    study.judge("echo", noisy(study, "A", 3, 0.1))
    return study


def signed_in(user: object) -> Client:
    client = Client()
    client.force_login(user)
    return client


def address(study: Study, rest: str = "") -> str:
    return f"/b/{study.benchmark.slug}/agreement/replication/{rest}"


def row_of(page: str, key: str) -> str:
    match = re.search(rf'<tr id="{key}">.*?</tr>', page, re.DOTALL)
    assert match is not None
    return " ".join(re.sub(r"<[^>]+>", " ", match[0]).split())


def read(response: Any) -> bytes:
    return b"".join(response.streaming_content)


def test_the_page_says_what_can_be_made_makes_it_and_links_its_files(study: Study) -> None:
    client = signed_in(study.admin)
    page = client.get(address(study, "?paper=clinconsensus")).content.decode()
    assert "Nothing has been made yet" in page
    assert "Can be made" in row_of(page, "fidelity")
    assert "No physician has written responses." in row_of(page, "calibration")
    assert f'href="/b/{study.benchmark.slug}/batches/"' in page
    assert f'href="/b/{study.benchmark.slug}/coding/"' in page  # where failures are given out to be coded
    response = client.post(address(study, "?paper=clinconsensus"), {"judges": ["echo"], "k": "2", "seed": ""})
    assert (response.status_code, response["Location"]) == (302, address(study, "?paper=clinconsensus"))
    replication = Replication.objects.get()
    waiting = client.get(response["Location"]).content.decode()
    assert "Waiting for a worker" in waiting
    progress = client.get(address(study, f"{replication.public_id}/progress"))
    assert 'hx-trigger="every 1s"' in progress.content.decode()
    # The same once more is the one that waits.
    client.post(address(study, "?paper=clinconsensus"), {"judges": ["echo"], "k": "2"})
    assert Replication.objects.count() == 1
    tasks.run_replication(replication.pk)
    assert client.get(address(study, f"{replication.public_id}/progress"))["HX-Refresh"] == "true"
    page = client.get(address(study, "?paper=clinconsensus")).content.decode()
    assert "Made" in row_of(page, "fidelity")
    report = Report.objects.get(kind="fidelity")
    assert f'href="/b/{study.benchmark.slug}/agreement/{report.public_id}/"' in page
    table = read(client.get(address(study, f"{replication.public_id}/tables/fidelity.csv"))).decode()
    assert table.startswith("judge,slice,n_pairs")
    assert client.get(address(study, f"{replication.public_id}/tables/calibration.csv")).status_code == 404
    assert client.get(address(study, f"{replication.public_id}/tables/fidelity.xlsx")).status_code == 404
    printed = {
        ending: read(client.get(address(study, f"{replication.public_id}/tables/fidelity.{ending}")))
        for ending in ("tex", "md")
    }
    figure = re.search(rf'href="(/b/[^"]*{report.public_id}/figures/fidelity\.svg)"', page)
    assert figure is not None
    assert client.get(figure[1]).status_code == 200
    packed = read(client.get(address(study, f"{replication.public_id}/replication.zip")))
    assert packed == read(client.get(address(study, f"{replication.public_id}/replication.zip")))
    with ZipFile(io.BytesIO(packed)) as archive:
        assert archive.read("fidelity/fidelity.csv").decode() == table
        assert {ending: archive.read(f"fidelity/fidelity.{ending}") for ending in printed} == printed
        listed = archive.read("artefacts.csv")
        assert {"README.md", "replication.json", "published.csv", "SHA256SUMS"} <= set(archive.namelist())
    assert read(client.get(address(study, "clinconsensus.csv"))) == listed


def facts_of(page: str) -> dict[str, str]:
    pairs = re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", page, re.DOTALL)
    return {label: " ".join(re.sub(r"<[^>]+>", " ", text).split()) for label, text in pairs}


def test_the_page_says_by_which_choices_the_newest_was_made_and_the_form_begins_with_them(study: Study) -> None:
    client = signed_in(study.admin)
    own = address(study, "?paper=clinconsensus")
    client.post(own, {"judges": ["echo"], "k": "2", "seed": "7"})
    page = client.get(own).content.decode()  # while it waits
    assert re.search(r'name="k" value="2"', page)
    tasks.run_replication(Replication.objects.get().pk)
    page = client.get(own).content.decode()
    facts = facts_of(page)
    assert facts["Made"].endswith(str(study.admin))
    assert (facts["Threshold k"], facts["Judges"], facts["Seed"]) == ("2", "echo", "7")
    assert facts["Expert groups"] == "A, B (default)"
    assert "Responses that physicians wrote" not in facts  # there are none
    assert re.search(r'name="k" value="2"', page)
    assert re.search(r'name="judges" value="echo"[^>]* checked', page)
    assert re.search(r'name="seed" value="7"', page)
    # By a command a group is named without its stage.
    services.start_replication(
        benchmark=study.benchmark, paper="clinconsensus", options=Options(groups=("A",)), at=timezone.now(), by=None
    )
    page = client.get(own).content.decode()
    assert re.search(r'name="groups" value="A@checked"[^>]* checked', page)
    assert not re.search(r'name="k" value=', page)
    assert facts_of(page)["Threshold k"] == "2"  # what is shown is still the newest that is done


def decide_otherwise(study: Study, group: str) -> None:
    """One decision of a group is changed."""
    decision = Decision.objects.filter(assignment__batch__group=study.groups[group]).earliest("pk")
    decision.outcome = "not_met" if decision.outcome == "met" else "met"
    decision.save()


def test_an_empty_benchmark_has_a_page_that_says_what_is_needed() -> None:
    admin = UserFactory()
    benchmark = BenchmarkFactory(admin=admin)
    for paper in PAPERS.values():
        page = signed_in(admin).get(f"/b/{benchmark.slug}/agreement/replication/?paper={paper.key}").content.decode()
        assert paper.title.partition(":")[0] in page
        assert "Can be made" not in page
        from_data = [artefact for artefact in paper.artefacts if artefact.is_made_here]
        assert f"Lacks data: {len(from_data)}" in " ".join(page.split())
        for artefact in paper.artefacts:
            if not artefact.is_made_here:
                assert f'<tr id="{artefact.key}">' not in page
                assert f'<li id="{artefact.key}">' in page
            else:
                assert "Lacks data" in row_of(page, artefact.key)


def test_published_values_are_uploaded_and_bad_lines_are_named(study: Study) -> None:
    client = signed_in(study.admin)
    bad = SimpleUploadedFile("published.csv", b"artefact,row,column,value\noverall,alpha,cacs_at_k,much\n")
    refused = client.post(address(study, "?paper=clinconsensus"), {"published": bad})
    assert refused.status_code == 422
    text = refused.content.decode()
    assert "line 2" in text
    assert "This is not a number." in text
    assert not Replication.objects.exists()
    assert client.post(address(study, "?paper=clinconsensus"), {"k": "0"}).status_code == 422
    good = SimpleUploadedFile(
        "published.csv", b"artefact,row,column,value,source\noverall,alpha,rubric_accuracy,50,Table 3\n"
    )
    client.post(address(study, "?paper=clinconsensus"), {"published": good})
    replication = Replication.objects.get()
    tasks.run_replication(replication.pk)
    rows = list(
        csv.DictReader(io.StringIO(read(client.get(address(study, f"{replication.public_id}/published.csv"))).decode()))
    )
    assert [(row["row"], row["published"], row["source"]) for row in rows] == [("alpha", "50.0", "Table 3")]
    page = client.get(address(study, "?paper=clinconsensus")).content.decode()
    assert f"{float(rows[0]['ours']):.4g}" in page
    assert "Table 3" in page


def test_the_page_is_in_the_language_of_its_reader(study: Study) -> None:
    study.admin.language = "zh-hans"
    study.admin.save()
    page = signed_in(study.admin).get(address(study, "?paper=clinconsensus")).content.decode()
    own = row_of(page, "calibration")
    assert "No physician has written responses." not in own
    assert "Calibration" not in own


def test_a_replication_whose_workers_were_lost_fails_and_notifies(study: Study) -> None:
    replication, _new = services.start_replication(
        benchmark=study.benchmark, paper="healthbench", options=Options(), at=timezone.now(), by=study.admin
    )
    Replication.objects.filter(pk=replication.pk).update(attempts=MAX_ATTEMPTS)
    tasks.run_replication(replication.pk)
    replication.refresh_from_db()
    assert replication.status == "failed"
    page = signed_in(study.admin).get(address(study, "?paper=healthbench")).content.decode()
    assert "The worker stopped unexpectedly" in page
    assert Notification.objects.filter(user=study.admin).exists()
    assert not Report.objects.exists()


def test_the_api_lists_papers_starts_and_gives_files(study: Study) -> None:
    client = signed_in(study.admin)
    base = f"/api/v1/benchmarks/{study.benchmark.slug}/replications/"
    papers = client.get(f"{base}papers/").json()
    assert [paper["paper"] for paper in papers] == list(PAPERS)
    planned = {row["artefact"]: row for row in papers[1]["artefacts"]}
    assert planned["fidelity"]["state"] == "can be made"
    assert planned["calibration"]["missing"] == "No physician has written responses."
    assert planned["method"]["state"] == "not made from data"
    (only,) = client.get(f"{base}papers/?paper=acuity").json()
    assert only["paper"] == "acuity"
    value = {"artefact": "overall", "row": "alpha", "column": "rubric_accuracy", "value": 50.5, "source": "here"}
    body = {"paper": "clinconsensus", "judges": ["echo"], "k": 2, "published": [value]}
    started = client.post(base, body, content_type="application/json")
    assert started.status_code == 201
    assert client.post(base, body, content_type="application/json").status_code == 200
    public_id = started.json()["id"]
    assert client.get(f"{base}{public_id}/replication.zip").status_code == 404
    tasks.run_replication(Replication.objects.get().pk)
    detail = client.get(f"{base}{public_id}/").json()
    assert detail["status"] == "finished"
    by_key = {row["artefact"]: row for row in detail["artefacts"]}
    assert by_key["fidelity"]["state"] == "made"
    assert by_key["fidelity"]["reports"] == Report.objects.get(kind="fidelity").public_id
    page_table = read(client.get(address(study, f"{public_id}/tables/fidelity.csv")))
    assert read(client.get(f"{base}{public_id}/tables/fidelity.csv")) == page_table
    assert b"alpha,rubric_accuracy,50.5" in read(client.get(f"{base}{public_id}/published.csv"))
    assert read(client.get(f"{base}{public_id}/replication.zip"))[:2] == b"PK"
    assert [row["id"] for row in client.get(base).json()["results"]] == [public_id]
    for wrong, field in (
        ({"paper": "clinconsensus", "judges": ["nobody"]}, "judges"),
        ({"paper": "clinconsensus", "groups": ["nobody"]}, "groups"),
        ({"paper": "clinconsensus", "candidate": "alpha"}, "candidate"),
        ({"paper": "clinconsensus", "published": [{**value, "column": "kappa"}]}, "column"),
    ):
        refused = client.post(base, wrong, content_type="application/json")
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["field"] == field
    assert client.post(base, {"paper": "other"}, content_type="application/json").status_code == 400
    assert Replication.objects.count() == 1


def test_the_api_takes_values_as_a_file_has_them(study: Study) -> None:
    client = signed_in(study.admin)
    base = f"/api/v1/benchmarks/{study.benchmark.slug}/replications/"

    def post(value: object) -> tuple[int, str]:
        published = {"artefact": "overall", "row": "alpha", "column": "cacs_at_k", "value": value}
        body = {"paper": "clinconsensus", "published": [published]}
        answer = client.post(base, body, content_type="application/json")
        return answer.status_code, answer.content.decode()

    assert post("0.4%")[0] == 201
    assert Replication.objects.get().published[0]["value"] == 0.4
    status, text = post(0.4)
    assert status == 422
    assert "on a scale of 100" in text
    for wrong in (True, None, [1], "1" * 65):
        assert post(wrong)[0] == 400
    assert post("much")[0] == 422


def test_a_published_value_of_several_rows_says_so(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    client = signed_in(study.admin)
    file = SimpleUploadedFile("published.csv", b"artefact,row,column,value\noverall,alpha,rubric_accuracy,50\n")
    client.post(address(study, "?paper=clinconsensus"), {"published": file})
    tasks.run_replication.run(Replication.objects.get().pk)
    monkeypatch.setattr(published, "row_name", lambda _artefact, _row: "alpha")
    page = client.get(address(study, "?paper=clinconsensus")).content.decode()
    assert "several such rows" in page
    assert "no such row" not in page
