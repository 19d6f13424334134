"""Acuity comes back from a release: the same reports byte for byte, once, and all of it or nothing."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError
from django.db import DatabaseError, transaction
from django.test import Client

from annotation.models import AcuityRuling, LabelAnswer, ReferenceSet
from releases.content.folder import write_zip
from releases.verification import verify
from rubrics.acuity.scales import FOUR, Scale
from rubrics.acuity.services import make_scale
from rubrics.models import AcuityDataset, AcuityScale, Benchmark, Case, ImportJob
from rubrics.tasks import run_import
from scoring.models import AcuityReading
from tests.factories import BenchmarkFactory, UserFactory, publish_rubric
from tests.releases.acuity_trips import back, release_of, reports
from tests.releases.acuity_world import OPEN_TEXT, SECRETS, acuity_world
from tests.releases.releasing import AT, command
from tests.scoring.acuity.acuity_files import table_sizes, work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture(scope="module")
def built_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the release lies once a test has made it."""
    return tmp_path_factory.mktemp("release") / "made"


@pytest.fixture
def release(built_release: Path, tmp_path: Path) -> Path:
    """A release with everything, in a folder of its own; for tests that do not ask for its source."""
    if not built_release.exists():
        release_of(acuity_world(tmp_path), built_release)
    return Path(shutil.copytree(built_release, tmp_path / "made"))


def created(out: str) -> int:
    return sum(int(line.split(": ")[1].split(" ")[0]) for line in out.splitlines())


def test_everything_comes_back_once(tmp_path: Path) -> None:
    source = acuity_world(tmp_path)
    root = release_of(source, tmp_path / "release")
    back(root)
    other = Benchmark.objects.get(slug="other")
    assert reports("source", tmp_path / "1") == reports("other", tmp_path / "2")

    case = Case.objects.get(benchmark=other, key="open-0002")
    assert case.conversation == [{"role": "user", "content": OPEN_TEXT}]
    stubs = Case.with_stubs.filter(benchmark=other, is_stub=True).order_by("key").values_list("key", flat=True)
    assert list(stubs) == ["closed-0001", "closed-0002", "only-a-key"]
    assert Case.with_stubs.get(benchmark=other, key="closed-0002").excluded_at is not None
    votes = LabelAnswer.objects.filter(question__benchmark=other)
    assert votes.count() == 9
    assert votes.exclude(task__annotator__email="").count() == 0
    first, second = ReferenceSet.objects.filter(benchmark=other).order_by("number")
    own = ReferenceSet.objects.get(benchmark=source, number=1)
    assert (first.signed_as, first.signed_at, first.digest) == (own.signed_as, own.signed_at, own.digest)
    assert (first.signed_by, first.imported_from, second.number) == (None, "source 1.0", 2)
    assert AcuityDataset.objects.get(benchmark=other).licence == "CC-BY-4.0"
    with pytest.raises(DatabaseError), transaction.atomic():
        first.delete()  # as frozen as any

    sizes = table_sizes()
    assert created(back(root)) == created(back(root, "source")) == 0
    assert table_sizes() == sizes
    # Released from there it holds, too, and says where the sets were signed.
    Benchmark.objects.filter(slug="other").update(licence="CC-BY-4.0")
    other.refresh_from_db()
    again = release_of(other, tmp_path / "again")
    assert verify(again).problems == []
    same = (
        "votes.csv",
        "rulings.csv",
        "reference.csv",
        "readings.csv",
        "source_labels.csv",
        "scale.json",
        "schemes.csv",
    )
    for name in same:
        assert (again / "acuity" / name).read_bytes() == (root / "acuity" / name).read_bytes(), name


def test_a_set_by_flags_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "flags.csv"
    path.write_text("case,reference,ambiguous\nx-1,emergency,yes\nx-2,self-care,no\nx-3,self-care,\n")
    source = BenchmarkFactory(slug="source", licence="CC-BY-4.0")
    command("import_acuity", str(path), "--benchmark", "source", "--dataset", "d", "--scheme", "direct")
    command("reference_set", "--benchmark", "source", "--ambiguous", "flag")
    root = release_of(source, tmp_path / "release")
    assert verify(root).problems == []
    rows = csv.DictReader((root / "acuity" / "source_labels.csv").read_text().splitlines())
    assert [(row["case"], row["ambiguous"]) for row in rows] == [("x-1", "true"), ("x-2", "false"), ("x-3", "")]
    back(root)
    with pytest.raises(CommandError, match="already has exactly this content"):
        command("reference_set", "--benchmark", "other", "--ambiguous", "flag")
    items = ReferenceSet.objects.get(benchmark__slug="other").items.order_by("case__key")
    assert [item.status for item in items] == ["ambiguous", "clear", "clear"]
    assert created(back(root)) == 0


def test_without_votes_the_signed_sets_come_back_all_the_same(tmp_path: Path) -> None:
    source = acuity_world(tmp_path)
    back(release_of(source, tmp_path / "release", acuity=True, reading_texts=True))
    assert reports("source", tmp_path / "1") == reports("other", tmp_path / "2")
    assert not LabelAnswer.objects.filter(question__benchmark__slug="other").exists()
    assert not AcuityRuling.objects.filter(question__benchmark__slug="other").exists()


def test_cases_with_rubrics_come_before(tmp_path: Path) -> None:
    source = acuity_world(tmp_path)
    publish_rubric(Case.objects.get(benchmark=source, key="open-0001"), [1])
    root = release_of(source, tmp_path / "release")
    with pytest.raises(CommandError, match="nothing was imported"):
        back(root)
    assert not Benchmark.objects.filter(slug="other").exists()
    command("import_cases", str(root / "cases" / "healthbench.jsonl"), "--benchmark", "other")
    back(root)
    assert reports("source", tmp_path / "1") == reports("other", tmp_path / "2")


# What is refused ------------------------------------------------------------------------------------------------------


def other_levels(other: Benchmark) -> None:
    levels = (*FOUR.levels[:3], FOUR.levels[3].__class__("now", "Now", "", "", ""))
    make_scale(benchmark=other, scale=Scale("four", levels), by=None, at=AT)


def other_text(other: Benchmark) -> None:
    Case.objects.create(
        benchmark=other, key="open-0001", conversation=[{"role": "user", "content": "Other."}], created_at=AT
    )


def other_licence(other: Benchmark) -> None:
    AcuityDataset.objects.create(benchmark=other, name="open", licence="MIT", changed_at=AT)


def other_set(other: Benchmark) -> None:
    scale = make_scale(benchmark=other, scale=FOUR, by=None, at=AT)
    ReferenceSet.objects.create(benchmark=other, number=1, scale=scale, datasets=[], digest="0" * 64, signed_at=AT)


def other_answer(other: Benchmark, folder: Path) -> None:
    path = folder / "mine.csv"
    path.write_text("case,candidate,format,sample,level\nonly-a-key,Other,chat,0,emergency\n")
    command("import_acuity", str(path), "--benchmark", "other", "--dataset", "mine", "--scale", "four")


@pytest.mark.parametrize(
    ("prepare", "field", "message"),
    [
        (other_levels, "acuity/scale.json four", "has different levels"),
        (other_text, "acuity/cases.jsonl digest", "stored with a different text"),
        (other_licence, "acuity/datasets.csv licence", "has a different licence"),
        (other_set, "acuity/sets.csv set", "A different reference set 1"),
        (other_answer, "acuity/readings.csv level", "a different answer"),
    ],
)
def test_what_is_there_otherwise_is_refused_whole(
    release: Path, tmp_path: Path, prepare: Any, field: str, message: str, client: Client
) -> None:
    other = BenchmarkFactory(slug="other", researcher=UserFactory())
    prepare(*((other, tmp_path) if prepare is other_answer else (other,)))
    sizes = table_sizes("rubrics_importjob")
    job = uploaded(client, other, release, tmp_path)
    assert job.status == "refused"
    assert any(error["field"] == field and message in error["message"] for error in job.errors), job.errors
    assert table_sizes("rubrics_importjob") == sizes


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    options = {**run_import._get_exec_options(), "queue": "no-worker"}
    monkeypatch.setattr(run_import, "_exec_options", options)


def uploaded(client: Client, benchmark: Benchmark, root: Path, folder: Path) -> ImportJob:
    """The job of a release that is sent by the page of imports, worked on."""
    write_zip(root, folder / "release.zip", top="source-1.0")
    if not benchmark.roles.exists():
        benchmark.roles.create(user=UserFactory(), role="researcher")
    client.force_login(benchmark.roles.get().user)
    file = SimpleUploadedFile("release.zip", (folder / "release.zip").read_bytes())
    answer = client.post(f"/b/{benchmark.slug}/imports/", {"kind": "release", "file": file})
    assert answer.status_code == 302, answer.content.decode()
    return work(ImportJob.objects.get(benchmark=benchmark))


def test_the_page_takes_the_zip_and_a_changed_one_is_refused(release: Path, tmp_path: Path, client: Client) -> None:
    root = release
    other = BenchmarkFactory(slug="other")
    job = uploaded(client, other, root, tmp_path)
    assert (job.status, job.counts["reference sets"]) == ("done", {"created": 2, "unchanged": 0}), job.errors
    assert "Reference sets" in client.get(f"/b/other/imports/{job.public_id}/").content.decode()
    page = client.get("/b/other/reference-sets/").content.decode()
    assert "imported from source 1.0" in page and SECRETS["name of the signer"] in page

    # A vote that is not the one that was signed: found by the sums, and without them by the sets.
    path = root / "acuity" / "votes.csv"
    path.write_text(path.read_text("utf-8").replace(",emergency,50,", ",self-care,50,", 1), "utf-8")
    with pytest.raises(CommandError, match="nothing was imported"):
        back(root, "third")
    third = BenchmarkFactory(slug="fourth")
    job = uploaded(client, third, root / "acuity", tmp_path)
    assert job.status == "refused"
    assert {error["field"] for error in job.errors} >= {"acuity/reference.csv votes"}
    assert not AcuityReading.objects.filter(scale__benchmark=third).exists()


def test_what_is_no_release_is_refused(tmp_path: Path, client: Client) -> None:
    other = BenchmarkFactory(slug="other")
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "text.txt").write_text("nothing")
    job = uploaded(client, other, tmp_path / "release", tmp_path)
    assert (job.status, job.errors[0]["message"]) == ("refused", "This release contains no acuity data.")
    with pytest.raises(CommandError, match="no such folder"):
        back(tmp_path / "nowhere")


def test_the_secrets_of_an_import_stay_where_they_were(tmp_path: Path) -> None:
    """Nothing but pseudonyms is known of the physicians of an imported release."""
    root = release_of(acuity_world(tmp_path), tmp_path / "release", acuity=True, votes=True)
    back(root)
    sets = ReferenceSet.objects.filter(benchmark__slug="other")
    assert {(own.signed_as, own.signer) for own in sets} == {("", "a person who is not named")}
    notes = set(LabelAnswer.objects.filter(question__benchmark__slug="other").values_list("note", flat=True))
    assert notes == {""}
    metadata = json.dumps(list(Case.with_stubs.filter(benchmark__slug="other").values_list("metadata", flat=True)))
    assert SECRETS["diagnosis of a case"] not in metadata
    assert AcuityScale.objects.filter(benchmark__slug="other").count() == 1
