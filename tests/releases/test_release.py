"""What is in a release and what is not; that it is the same bytes again; that it never changes."""

from __future__ import annotations

import csv
import hashlib
import html
import io
import json
import re
import shlex
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import yaml
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.test import Client

from annotation import services as annotation_services
from annotation.models import Adjudication, Amendment, Assignment, Check, Decision, Physician
from consilium.core.errors import Conflict, DomainError
from consilium.core.jobs import LOST_AFTER, MAX_ATTEMPTS
from releases import services
from releases.content.folder import write_zip
from releases.content.options import ReleaseOptions
from releases.models import Release
from releases.verification import verify
from rubrics.editor.draft_content import DraftItem, from_rubric
from rubrics.models import Benchmark, Case, Rubric, RubricDraft, RubricItem
from rubrics.services.drafts import open_draft, save_draft
from tests.factories import (
    BenchmarkFactory,
    CaseFactory,
    UserFactory,
)
from tests.releases.releasing import AT, built, bytes_of, command, imported, lines
from tests.releases.study import SECRETS, Study, study_with_secrets
from tests.rubrics.imports.files import clinconsensus, healthbench

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _media(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def study() -> Study:
    return study_with_secrets()


# The same bytes ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_same_again_is_the_same_bytes_in_another_database_too(tmp_path: Path) -> None:
    rows = [healthbench(number) for number in range(3)]
    benchmark = imported("hb", rows)
    first, second = built(benchmark, tmp_path / "a"), built(benchmark, tmp_path / "b")
    assert first.digest == second.digest
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "b")
    for name in ("a", "b"):
        write_zip(tmp_path / name, tmp_path / f"{name}.zip", top="hb-1.0")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with ZipFile(tmp_path / "a.zip") as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}

    other = imported("other", (tmp_path / "a" / "cases" / "healthbench.jsonl").read_bytes())
    built(other, tmp_path / "c")
    ours, theirs = bytes_of(tmp_path / "a"), bytes_of(tmp_path / "c")
    same = [name for name in ours if name.startswith(("cases/", "splits/", "rubrics", "slices", "schema/"))]
    assert len(same) > 5
    assert all(ours[name] == theirs[name] for name in same)


def test_sums_are_those_that_sha256sum_checks(tmp_path: Path) -> None:
    built(imported("hb", [healthbench(1)]), tmp_path / "a")
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=tmp_path / "a", capture_output=True
    )
    assert checked.returncode == 0, checked.stderr
    named = {line.split("  ")[1] for line in (tmp_path / "a" / "SHA256SUMS").read_text().splitlines()}
    assert named == set(bytes_of(tmp_path / "a")) - {"SHA256SUMS"}


@pytest.mark.slow
def test_the_command_keeps_a_release_and_writes_it_again(tmp_path: Path) -> None:
    imported("hb", [healthbench(1), healthbench(2)])
    command("release", "--benchmark", "hb", "--out", str(tmp_path / "a"))
    command("release", "--benchmark", "hb", "--out", str(tmp_path / "b"))  # nothing has changed: the same version
    command("release", "--benchmark", "hb", "--out", str(tmp_path / "c"), "--version", "1.0")
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "b") == bytes_of(tmp_path / "c")
    assert Release.objects.get().version == "1.0"

    CaseFactory(benchmark=Benchmark.objects.get(slug="hb"), key="new")
    command("release", "--benchmark", "hb", "--out", str(tmp_path / "d"))
    newest = Release.objects.get(version="1.1")
    assert {key: newest.facts["changes"][key] for key in ("since", "added", "removed", "changed")} == {
        "since": "1.0", "added": 1, "removed": 0, "changed": 0,
    }  # fmt: skip
    command("release", "--benchmark", "hb", "--out", str(tmp_path / "e"), "--version", "1.0")
    assert bytes_of(tmp_path / "e") == bytes_of(tmp_path / "a")
    with pytest.raises(CommandError, match="other options"):
        command("release", "--benchmark", "hb", "--out", str(tmp_path / "f"), "--version", "1.0", "--notes")
    with pytest.raises(CommandError, match="not an empty folder"):
        command("release", "--benchmark", "hb", "--out", str(tmp_path / "a"))


@pytest.mark.slow
def test_a_release_without_a_licence_says_that_it_has_none(tmp_path: Path) -> None:
    benchmark = BenchmarkFactory(slug="bare")
    CaseFactory(benchmark=benchmark)
    stderr = io.StringIO()
    call_command("release", "--benchmark", "bare", "--out", str(tmp_path / "a"), stdout=io.StringIO(), stderr=stderr)
    assert "no licence" in stderr.getvalue()
    assert "All rights stay" in (tmp_path / "a" / "LICENSE").read_text()
    command("release", "--benchmark", "bare", "--out", str(tmp_path / "b"), "--licence", "cc-by-4.0")
    assert (tmp_path / "b" / "LICENSE").read_text().startswith("SPDX-License-Identifier: CC-BY-4.0\n")
    assert yaml.safe_load((tmp_path / "b" / "CITATION.cff").read_text())["license"] == "CC-BY-4.0"


# Frozen -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_finished_release_cannot_change_and_its_version_is_taken() -> None:
    benchmark = imported("hb", [healthbench(1)])
    release = services.create_release(
        benchmark=benchmark, version="1.0", notes="", options=ReleaseOptions(), at=AT, enqueue=False
    )
    services.run(release_id=release.pk, clock=lambda: AT)
    release.refresh_from_db()
    assert (release.status, release.error) == ("done", "")
    for change in (lambda: Release.objects.update(notes="other"), Release.objects.all().delete):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()
    with pytest.raises(Conflict, match="already"):
        services.create_release(benchmark=benchmark, version="1.0", notes="", options=ReleaseOptions(), at=AT)
    assert services.next_version(benchmark) == "1.1"


def test_a_lost_worker_is_replaced_and_the_third_loss_is_the_end() -> None:
    benchmark = imported("hb", [healthbench(1)])
    release = services.create_release(
        benchmark=benchmark, version="1.0", notes="", options=ReleaseOptions(), at=AT, enqueue=False
    )
    at = AT
    for _attempt in range(MAX_ATTEMPTS):
        assert services.RELEASES.claim(job_id=release.pk, at=at) is not None
        assert services.RELEASES.claim(job_id=release.pk, at=at) is None  # somebody is at it
        at += LOST_AFTER + timedelta(seconds=1)
        assert services.RELEASES.unfinished(at=at) == [release.pk]
    assert services.RELEASES.claim(job_id=release.pk, at=at) is None
    release.refresh_from_db()
    assert release.status == "failed" and "stopped unexpectedly 3 times" in release.error


# What is in it ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_nothing_that_was_not_asked_for_is_in_it(study: Study, tmp_path: Path) -> None:
    built(study.benchmark, tmp_path / "bare")
    content = b"".join(bytes_of(tmp_path / "bare").values())
    assert [name for name, secret in SECRETS.items() if secret.encode() in content] == []
    everything = {"responses": True, "decisions": True, "verdicts": True, "reference_answers": True}
    built(study.benchmark, tmp_path / "asked", **everything)
    files = bytes_of(tmp_path / "asked")
    disclosed_names = {
        name for name, secret in SECRETS.items() if any(secret.encode() in part for part in files.values())
    }
    assert disclosed_names == {"reference answer", "response", "explanation of a judge"}
    for hidden in study.ids:  # public ids of rows, which would identify rows of this installation
        assert hidden.encode() not in content
    assert study.pseudonym in files["decisions.csv"].decode()
    built(study.benchmark, tmp_path / "notes", **everything, notes=True, names=True)
    files = bytes_of(tmp_path / "notes")
    disclosed_names = {
        name for name, secret in SECRETS.items() if any(secret.encode() in part for part in files.values())
    }
    assert disclosed_names == {
        "reference answer", "response", "explanation of a judge", "note of a physician", "name to be thanked by",
    }  # fmt: skip


@pytest.mark.slow
def test_decisions_and_verdicts_come_back_in(study: Study, tmp_path: Path) -> None:
    built(study.benchmark, tmp_path / "a", responses=True, decisions=True, verdicts=True)
    again = imported("again", (tmp_path / "a" / "cases" / "healthbench.jsonl").read_bytes())
    command("import_responses", str(tmp_path / "a" / "responses.jsonl"), "--benchmark", "again")
    command("import_decisions", str(tmp_path / "a" / "decisions.csv"), "--benchmark", "again", "--group", "A")
    command("import_verdicts", str(tmp_path / "a" / "verdicts.csv"), "--benchmark", "again", "--judge", "strict judge")
    built(again, tmp_path / "b", responses=True, decisions=True, verdicts=True)
    for name in ("responses.jsonl", "decisions.csv", "verdicts.csv"):
        assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "a" / name).read_bytes()
        assert b"some model" in (tmp_path / "a" / name).read_bytes()


def amend_and_rule(study: Study) -> tuple[str, str]:
    """A first decision amended by a checker, another on which an adjudicator ruled; the pseudonyms of both."""
    first, second = Decision.objects.order_by("pk")[:2]
    work = first.assignment
    checker, adjudicator = UserFactory(), UserFactory()
    for user, role in ((checker, "checker"), (adjudicator, "adjudicator")):
        annotation_services.add_member(group=work.batch.group, user=user, role=role)
    Assignment.objects.filter(pk=work.pk).update(status="accepted", accepted_at=AT, checker=checker)
    check = Check.objects.create(
        assignment=work, round=1, checker=checker, result="accepted", created_at=AT, finished_at=AT
    )
    times = {"created_at": AT, "updated_at": AT}
    reason = SECRETS["note of a physician"]
    Amendment.objects.create(check_row=check, criterion=first.criterion, outcome="not_met", reason=reason, **times)
    adjudication = Adjudication.objects.create(
        response=work.response, rubric=work.rubric, group=work.batch.group, criteria=[second.criterion_id],
        agreement=0.5, adjudicator=adjudicator, status="done", created_at=AT, finished_at=AT,
    )  # fmt: skip
    adjudication.rulings.create(criterion=second.criterion, outcome="cannot_assess", final_at=AT, **times)
    names = dict(Physician.objects.filter(benchmark=study.benchmark).values_list("user_id", "pseudonym"))
    return names[checker.pk], names[adjudicator.pk]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_amendments_and_rulings_are_files_of_a_release_with_decisions(study: Study, tmp_path: Path) -> None:
    checker, adjudicator = amend_and_rule(study)
    built(study.benchmark, tmp_path / "a", decisions=True)
    place = {"case": "in-it", "candidate": "some model", "sample": "0", "note": ""}
    assert table(tmp_path / "a" / "amendments.csv") == [
        {
            **place, "criterion": "1", "rater": checker, "outcome": "not_met", "stage": "checker",
            "annotator": study.pseudonym, "before": "met", "round": "1",
        }
    ]  # fmt: skip
    assert table(tmp_path / "a" / "rulings.csv") == [
        {
            **place, "criterion": "2", "rater": adjudicator, "outcome": "cannot_assess", "stage": "adjudicator",
            "group": "A", "other_group": "",
        }
    ]  # fmt: skip
    assert table(tmp_path / "a" / "decisions.csv")[0]["outcome"] == "met"  # the first one stays
    assert verify(tmp_path / "a").problems == []
    released = json.loads((tmp_path / "a" / "release.json").read_text())
    assert (released["counts"]["amendments"], released["counts"]["rulings_on_decisions"]) == (1, 1)
    card = (tmp_path / "a" / "DATA_CARD.md").read_text()
    assert "`amendments.csv`: 1 change" in card and "`rulings.csv`: 1 ruling " in card
    sets = {each["@id"] for each in json.loads((tmp_path / "a" / "croissant.json").read_text())["recordSet"]}
    assert {"amendments", "rulings"} <= sets

    built(study.benchmark, tmp_path / "notes", decisions=True, notes=True)
    assert table(tmp_path / "notes" / "amendments.csv")[0]["note"] == SECRETS["note of a physician"]
    built(study.benchmark, tmp_path / "rater", decisions=True, raters=("group:A@final",))
    assert not (tmp_path / "rater" / "amendments.csv").exists()  # its outcomes hold them


@pytest.mark.slow
def test_decisions_that_an_annotator_changed_after_a_return_are_amendments(study: Study, tmp_path: Path) -> None:
    amend_and_rule(study)
    first = Decision.objects.order_by("pk")[0]
    Check.objects.update(result="returned", note="Again.")
    Assignment.objects.update(round=2)
    Decision.objects.create(
        assignment=first.assignment, criterion=first.criterion, round=2, outcome="cannot_assess", version=2,
        created_at=AT, updated_at=AT,
    )  # fmt: skip
    built(study.benchmark, tmp_path / "a", decisions=True)
    (row,) = table(tmp_path / "a" / "amendments.csv")
    assert (row["rater"], row["stage"], row["round"]) == (study.pseudonym, "annotator", "2")
    assert (row["before"], row["outcome"]) == ("met", "cannot_assess")
    assert verify(tmp_path / "a").problems == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("amendments.csv", ",some model,0,1,", ",some model,0,9,", "row 1: of a decision that decisions.csv does not"),
        ("amendments.csv", ",not_met,checker", ",met,checker", "row 1: does not change one outcome into another"),
        ("rulings.csv", ",some model,0,2,", ",some model,0,9,", "row 1: on a criterion that rubrics.csv does not have"),
        ("rulings.csv", "cannot_assess", "perhaps", "row 1: not an outcome of a ruling"),
    ],
)
def test_amendments_and_rulings_that_cannot_be_are_found(
    study: Study, tmp_path: Path, name: str, old: str, new: str, problem: str
) -> None:
    amend_and_rule(study)
    built(study.benchmark, tmp_path / "a", decisions=True)
    path = tmp_path / "a" / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert [each for each in verify(tmp_path / "a").problems if each.startswith(f"{name}, {problem}")]


@pytest.mark.slow
def test_the_card_says_whose_credentials_are_unknown(study: Study, tmp_path: Path) -> None:
    """Decisions with later outcomes; then the first ones as if they had been imported."""
    amend_and_rule(study)
    built(study.benchmark, tmp_path / "a", decisions=True)
    card = (tmp_path / "a" / "DATA_CARD.md").read_text()
    assert "Annotators decide on their own" in card and "imported decisions were made" not in card
    assert {row["stage"] for row in table(tmp_path / "a" / "decisions.csv")} == {"annotator"}
    admin = Client()
    admin.force_login(study.admin)
    assert (
        "Later changes of annotators and checkers, and rulings of adjudicators, are in files of their own."
        in admin.get("/b/secret/releases/new/").content.decode()
    )

    again = imported("again", (tmp_path / "a" / "cases" / "healthbench.jsonl").read_bytes())
    built(study.benchmark, tmp_path / "b", "1.1", decisions=True, responses=True)
    command("import_responses", str(tmp_path / "b" / "responses.jsonl"), "--benchmark", "again")
    command("import_decisions", str(tmp_path / "b" / "decisions.csv"), "--benchmark", "again", "--group", "A")
    built(again, tmp_path / "c", decisions=True)
    card = (tmp_path / "c" / "DATA_CARD.md").read_text()
    assert "All decisions were imported. How imported decisions were made" in card
    for wrong in ("Annotators decide on their own", "No physician has worked", "amendments.csv"):
        assert wrong not in card, wrong


@pytest.mark.slow
def test_excluded_and_unpublished_cases_are_counted_and_not_in_it(study: Study, tmp_path: Path) -> None:
    built(study.benchmark, tmp_path / "a")
    assert [row["prompt_id"] for row in lines(tmp_path / "a" / "cases" / "healthbench.jsonl")] == ["in-it"]
    card = (tmp_path / "a" / "DATA_CARD.md").read_text()
    assert "1 excluded by screening, 1 without a published rubric." in card
    Case.objects.filter(key="in-it").update(excluded_at=AT, exclusion="audit", exclusion_reason="wrong")
    with pytest.raises(DomainError, match="nothing to release"):
        built(study.benchmark, tmp_path / "b")


def test_splits_slices_and_metadata_say_the_same(tmp_path: Path) -> None:
    rows = [clinconsensus(1), clinconsensus(2, difficulty="low")]
    release = built(imported("cc", rows), tmp_path / "a")
    assert lines(tmp_path / "a" / "splits" / "difficulty.jsonl") == [
        {"case": "cc-1", "split": "high"},
        {"case": "cc-2", "split": "low"},
    ]
    slices = (tmp_path / "a" / "slices.csv").read_text().splitlines()
    assert slices[1] == "all,2,6,6,6,0"
    assert "difficulty:high,1,3,3,3,0" in slices
    document = json.loads((tmp_path / "a" / "croissant.json").read_text())
    assert document["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    for entry in document["distribution"]:
        assert entry["sha256"] == hashlib.sha256((tmp_path / "a" / entry["contentUrl"]).read_bytes()).hexdigest()
    released = json.loads((tmp_path / "a" / "release.json").read_text())
    assert released["counts"]["cases"] == 2 and release.facts["counts"] == released["counts"]


# After another version --------------------------------------------------------------------------------------------


def publish_again(case: Case, items: list[DraftItem]) -> None:
    """Another version, as if it had been reviewed: its rows are made as publishing makes them."""
    author = UserFactory()
    rubric = open_draft(case=case, by=author, at=AT)
    save_draft(rubric=rubric, items=items, version=1, client_id=None, by=author, at=AT)
    for position, item in enumerate(items, start=1):
        same = case.criteria.filter(pk=item.criterion, text=item.text).first()
        criterion = same or case.criteria.create(text=item.text)
        RubricItem.objects.create(
            rubric=rubric, criterion=criterion, position=position, points=item.points, tags=list(item.tags)
        )
    draft = RubricDraft.objects.get(rubric=rubric)
    reviewer = UserFactory()
    rubric.reviews.create(reviewer=reviewer, outcome="approved", digest=draft.digest, created_at=AT)
    Rubric.objects.filter(case=case, status="published").update(status="superseded")
    Rubric.objects.filter(pk=rubric.pk).update(status="in_review")
    Rubric.objects.filter(pk=rubric.pk).update(status="published", published_at=AT)


@pytest.mark.slow
def test_metadata_of_criteria_from_the_file_is_exported(tmp_path: Path) -> None:
    row = healthbench(1)
    row["rubrics"] = [{**each, "id": f"k{n}"} for n, each in enumerate(row["rubrics"])]
    benchmark = imported("hb", [row])
    case = Case.objects.get()
    first, second, third = from_rubric(list(case.rubrics.get().items.select_related("criterion").order_by("position")))
    reworded = DraftItem(
        **{**{name: getattr(first, name) for name in DraftItem.__dataclass_fields__}, "text": "New words."}
    )
    added = DraftItem("x", "Something else.", 3)
    publish_again(case, [third, added, reworded])
    built(benchmark, tmp_path / "a")
    (exported_row,) = lines(tmp_path / "a" / "cases" / "healthbench.jsonl")
    assert [(each["criterion"], each.get("id")) for each in exported_row["rubrics"]] == [
        ("Asks about smoking.", "k2"),
        ("Something else.", None),
        ("New words.", "k0"),
    ]
    assert second.text not in json.dumps(exported_row)


# Pages ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_admin_releases_and_a_researcher_reads(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    admin, researcher = Client(), Client()
    admin.force_login(study.admin)
    researcher.force_login(study.researcher)
    form = admin.get("/b/secret/releases/new/")
    assert form.status_code == 200 and "1 response." in form.content.decode()
    refused = admin.post("/b/secret/releases/new/", {"version": "1 0", "licence": "CC-BY-4.0"})
    assert refused.status_code == 422 and "up to 40 letters" in refused.content.decode()
    refused = admin.post(
        "/b/secret/releases/new/", {"version": "1.0", "licence": "CC-BY-4.0", "physicians_notes": "on"}
    )
    assert refused.status_code == 422 and "select those as well" in refused.content.decode()
    assert not Release.objects.exists()
    answer = admin.post("/b/secret/releases/new/", {"version": "1.0", "licence": "CC-BY-4.0", "notes": "The first."})
    release = Release.objects.get()
    assert answer["Location"] == f"/b/secret/releases/{release.public_id}/"
    assert "Waiting for a worker" in researcher.get(answer["Location"]).content.decode()
    services.run(release_id=release.pk, clock=lambda: AT)
    release.refresh_from_db()
    page = researcher.get(answer["Location"]).content.decode()
    assert "The first." in page and release.digest in page
    download = researcher.get(f"{answer['Location']}release.zip")
    with release.archive.open("rb") as kept:
        assert b"".join(download) == kept.read()
    _, _, check = page.partition('<h2 id="check">')
    commands = [html.unescape(text) for text in re.findall(r"<pre\b[^>]*>(.*?)</pre>", check, re.DOTALL)]
    assert commands[0] == "sha256sum --check SHA256SUMS"
    python, *words = shlex.split(commands[1])
    assert python == ".venv/bin/python" and words[-1].startswith("/path/to/") and words[-1].endswith("-1.0.zip")
    words[-1] = release.archive.path
    verified = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=settings.BASE_DIR)
    assert "Everything holds." in verified.stdout, verified.stderr
    assert "cases/healthbench.jsonl" in researcher.get(f"{answer['Location']}files.csv").getvalue().decode()
    assert "1.0" in researcher.get("/b/secret/releases/").content.decode()


@pytest.mark.slow
def test_the_api_makes_one_and_refuses_what_it_does_not_know(study: Study) -> None:
    admin = Client()
    admin.force_login(study.admin)
    url = "/api/v1/benchmarks/secret/releases/"
    refused = admin.post(url, {"version": "1.0", "secret": True}, content_type="application/json")
    assert (refused.status_code, list(refused.json())) == (400, ["secret"])
    response = admin.post(
        url, {"version": "2.0", "decisions": True, "raters": ["strict judge"]}, content_type="application/json"
    )
    assert (response.status_code, "is a judge" in response.json()["detail"]) == (422, True)
    response = admin.post(url, {"version": "2.0", "decisions": True}, content_type="application/json")
    assert response.status_code == 201 and response.json()["options"]["decisions"] is True
    release = admin.get(f"{url}{response.json()['public_id']}/").json()
    assert (release["version"], release["status"]) == ("2.0", "pending")
