"""``import_votes`` and ``export_votes``: votes made elsewhere become a closed batch, and come out again."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from django.apps import apps
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from annotation.acuity.votes import panel_of
from annotation.models import Batch, ExpertGroup, LabelAnswer, LabelQuestion, LabelTask, Membership, Physician
from consilium.core.errors import ImportRefused
from rubrics import imports
from rubrics.models import AcuityScale, Benchmark, Case
from rubrics.services import import_jobs
from tests.annotation.labels.labels_world import build_panel
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
COLUMNS = ["case", "physician", "round", "level", "certainty", "note"]
HEADING = ",".join(COLUMNS)


@pytest.fixture
def benchmark() -> Benchmark:
    benchmark = BenchmarkFactory(slug="bench", admin=UserFactory())
    CaseFactory(benchmark=benchmark, key="a")
    Case.with_stubs.create(benchmark=benchmark, key="b", conversation=[], is_stub=True)
    return benchmark


def run(tmp_path: Path, text: str, *more: str) -> str:
    path = tmp_path / "votes.csv"
    path.write_text(text)
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command(
            "import_votes", str(path), "--benchmark", "bench", "--group", "north", *more, stdout=out, stderr=err
        )
    except CommandError as error:
        raise CommandError(f"{err.getvalue()}{error}") from error
    return out.getvalue() + err.getvalue()


def rows(*lines: str) -> str:
    return "\n".join([HEADING, *lines, ""])


VOTES = rows(
    "a,P1,1,self-care,64,=clear",
    "a,P2,1,primary-care|urgent-care,40,",
    "a,P3,1,cannot-tell,,no age given",
    "b,P1,,emergency,,",
)


def test_votes_become_a_closed_batch_and_come_out_again(benchmark: Benchmark, tmp_path: Path) -> None:
    assert "votes: 4 created, 0 unchanged" in run(tmp_path, VOTES)
    batch = Batch.objects.get()
    assert (batch.kind, batch.status, batch.imported, batch.group.name) == ("label", "closed", True, "north")
    assert set(LabelTask.objects.values_list("status", flat=True)) == {"submitted"}
    stored = LabelAnswer.objects.order_by("task__case__key", "pk")
    assert [*stored.values_list("value", "upper", "certainty", "note")] == [
        ("self-care", "", 64, "=clear"),
        ("primary-care", "urgent-care", 40, ""),
        ("cannot-tell", "", None, "no age given"),
        ("emergency", "", None, ""),
    ]
    events = apps.get_model("annotation", "LabelTaskEvent").objects.order_by("pgh_id")
    assert {*events.values_list("status", flat=True)[4:]} == {"submitted"}  # after the votes
    assert [*Physician.objects.order_by("pseudonym").values_list("pseudonym", flat=True)] == ["P1", "P2", "P3"]
    assert Membership.objects.filter(group__name="north", role="annotator").count() == 3
    out = tmp_path / "out.csv"
    call_command("export_votes", "--benchmark", "bench", "--out", str(out), stdout=io.StringIO())
    with out.open() as file:
        assert [*csv.reader(file)] == [
            COLUMNS,
            ["a", "P1", "1", "self-care", "64", "'=clear"],
            ["a", "P2", "1", "primary-care|urgent-care", "40", ""],
            ["a", "P3", "1", "cannot-tell", "", "no age given"],
            ["b", "P1", "1", "emergency", "", ""],
        ]
    for text in (VOTES, out.read_text()):
        assert "votes: 0 created, 4 unchanged" in run(tmp_path, text)
    assert Batch.objects.count() == 1
    assert "votes: 1 created, 4 unchanged" in run(tmp_path, VOTES + "b,P2,1,emergency,5,\n")
    panels = panel_of(benchmark, AcuityScale.objects.get())
    assert {case.case: (case.m, case.n_cannot_tell) for case in panels.values()} == {"a": (2, 1), "b": (2, 0)}


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("c,P1,1,self-care,5,", "line 2, case: There is no case “c”"),
        ("A,P1,1,self-care,5,", "line 2, case: There is no case “A”"),
        ("a,P1,2,self-care,5,", "line 2, round: No vote of round 1 precedes this one"),
        ("a,P1,0,self-care,5,", "line 2, round: Rounds are counted from 1"),
        ("a,P1,1,soon,5,", "line 2, level: “soon” is not a level"),
        ("a,P1,1,self-care|urgent-care,5,", "line 2, level: A vote between two levels"),
        ("a,P1,1,self-care,101,", "line 2, certainty"),
        ("a,P1,1,cannot-tell,5,", "line 2, certainty: Certainty is not allowed with cannot tell"),
        ("a,P1,1,,5,", "line 2, level: This field is missing"),
        ("a,,1,self-care,5,", "line 2, physician: This field is missing"),
        ("a,P1,1,self-care,5," + "x" * 5001, "line 2, note: This is longer"),
        ("b,P9,1,self-care,5,\nb,P9,1,emergency,5,", "line 3, physician: This vote is already in line 2"),
    ],
)
def test_bad_rows_are_refused_whole_by_line_and_field(
    benchmark: Benchmark, tmp_path: Path, line: str, sentence: str
) -> None:
    with pytest.raises(CommandError, match="nothing was imported") as refused:
        run(tmp_path, rows(line, "b,P2,1,emergency,5,"))
    assert sentence in str(refused.value)
    assert not LabelAnswer.objects.exists()
    assert not ExpertGroup.objects.exists()
    assert not AcuityScale.objects.exists()


def test_a_different_vote_is_refused_and_a_physician_of_another_group(benchmark: Benchmark, tmp_path: Path) -> None:
    run(tmp_path, VOTES)
    assert "0 created, 1 unchanged" in run(tmp_path, rows("a,P1,1,self-care,,"))  # nothing that differs
    for line in ("a,P1,1,primary-care,64,", "a,P1,1,self-care|primary-care,64,", "a,P1,1,self-care,65,",
                 "a,P3,1,self-care,,", "b,P1,1,cannot-tell,,", "a,P1,1,self-care,64,other words"):  # fmt: skip
        with pytest.raises(CommandError, match=r"line 3, level: The physician “P[13]” has already voted differently"):
            run(tmp_path, rows("b,P2,1,emergency,5,", line))
    with pytest.raises(CommandError, match=r"line 2, physician: .* belongs to another expert group"):
        run(tmp_path, rows("a,P1,1,self-care,64,"), "--group", "south")
    assert LabelAnswer.objects.count() == 4


def test_a_wide_file_has_a_column_for_each_physician(benchmark: Benchmark, tmp_path: Path) -> None:
    wide = "case,text,P1,P2,P3\na,words,self-care,primary-care|urgent-care,cannot-tell\nb,,emergency,,\n"
    assert "votes: 4 created" in run(tmp_path, wide, "--format", "wide-csv")
    assert "votes: 0 created, 4 unchanged" in run(tmp_path, wide)  # by its heading
    assert "votes: 0 created, 2 unchanged" in run(tmp_path, rows("a,P1,1,self-care,,", "b,P1,1,emergency,,"))
    between = LabelAnswer.objects.get(upper="urgent-care")
    assert Physician.objects.get(user=between.task.annotator).pseudonym == "P2"
    with pytest.raises(CommandError, match="line 2, P2: “late” is not a level"):
        run(tmp_path, "case,P1,P2\na,self-care,late\n", "--format", "wide-csv")


def test_empty_cells_of_a_wide_file_are_named_and_an_unknown_case_once(benchmark: Benchmark, tmp_path: Path) -> None:
    wide = "case,P1,P2,P3\na,self-care,,emergency\nb,,,emergency\n"
    out = run(tmp_path, wide)
    assert "votes: 3 created" in out
    assert "3 cells are empty and count as no votes (lines 2, 3)." in out
    assert "empty" not in run(tmp_path, "case,P1,P3\na,self-care,emergency\n")
    with pytest.raises(CommandError) as error:
        run(tmp_path, "case,P1,P2\nc,self-care,emergency\n")
    assert str(error.value).count("There is no case “c”") == 1


def test_votes_on_cases_that_are_not_there_are_one_fault_that_says_what_to_do(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    with pytest.raises(CommandError) as error:
        run(tmp_path, rows(*(f"x{n},P{i},1,emergency,5," for n in range(1, 5) for i in (1, 2))))
    assert (
        "line 2, case: 8 lines name cases that are not in this benchmark (“x1”, “x2”, “x3” …). "
        "Import the readings or the cases first, then the votes."
    ) in str(error.value)
    assert str(error.value).count("line ") == 1
    assert not LabelAnswer.objects.exists()


def test_votes_go_to_the_scale_that_is_named(benchmark: Benchmark, tmp_path: Path) -> None:
    run(tmp_path, rows("a,P1,1,non-emergency,5,"), "--scale", "three")
    assert LabelQuestion.objects.get().scale.name == "three"  # type: ignore[union-attr]
    run(tmp_path, rows("a,P2,1,non-emergency,5,"))  # the benchmark's only scale
    assert LabelQuestion.objects.count() == 1
    run(tmp_path, rows("a,P1,1,urgent-care,5,"), "--scale", "four")
    assert LabelQuestion.objects.count() == 2
    with pytest.raises(CommandError, match="Specify the scale of the votes: four, three"):
        run(tmp_path, rows("a,P1,1,self-care,5,"))
    with pytest.raises(CommandError, match="no scale “seven”"):
        run(tmp_path, rows("a,P1,1,self-care,5,"), "--scale", "seven")
    with pytest.raises(CommandError, match="Specify the scale"):
        call_command("export_votes", "--benchmark", "bench", "--out", str(tmp_path / "x.csv"))


def test_votes_of_the_browser_come_out_and_are_unchanged_when_they_come_in(tmp_path: Path) -> None:
    panel = build_panel()
    panel.say("a", "self-care", "primary-care|urgent-care", "cannot-tell")
    out = tmp_path / "out.csv"
    call_command("export_votes", "--benchmark", "panel", "--out", str(out), stdout=io.StringIO())
    report = io.StringIO()
    call_command("import_votes", str(out), "--benchmark", "panel", "--group", panel.group.name, stdout=report)
    assert "votes: 0 created, 3 unchanged" in report.getvalue()
    assert LabelAnswer.objects.count() == 3


def test_a_vote_file_is_imported_on_the_page_and_over_the_api(benchmark: Benchmark) -> None:
    client = Client()
    admin = benchmark.roles.get().user
    client.force_login(admin)
    assert "votes" in client.get("/b/bench/imports/").content.decode()
    job = import_jobs.create_import(
        benchmark=benchmark, kind="votes", file=ContentFile(VOTES.encode(), "x.csv"), file_name="x.csv",
        options={"group": "north", "scale": "four"}, by=admin,
    )  # fmt: skip
    import_jobs.run(job_id=job.pk, clock=timezone.now)
    job.refresh_from_db()
    assert (job.status, job.counts["votes"]) == ("done", {"created": 4, "unchanged": 0})
    page = client.get(f"/b/bench/imports/{job.public_id}/").content.decode()
    assert '<th scope="row">Votes</th>' in page
    assert '<a class="button primary" href="/b/bench/reference-sets/">' in page
    question = LabelQuestion.objects.get()
    for url in (f"/b/bench/labels/{question.public_id}/", "/b/bench/labels/", "/b/bench/batches/",
                f"/b/bench/batches/{Batch.objects.get().public_id}/", "/b/bench/progress/"):  # fmt: skip
        assert client.get(url).status_code == 200, url


def test_the_registered_handler_refuses_a_shape_that_is_none(benchmark: Benchmark) -> None:
    options = {"group": "north", "format": "matrix-csv"}
    handler = imports.find("votes").handler
    with pytest.raises(Exception, match="long-csv, wide-csv"):
        handler(
            benchmark=benchmark, file=io.BytesIO(VOTES.encode()), options=options, by=None, at=timezone.now(),
            progress=lambda amount: None,
        )  # fmt: skip
    with pytest.raises(ImportRefused):
        handler(
            benchmark=benchmark, file=io.BytesIO(b"\xff\xfe"), options={"group": "north"}, by=None, at=timezone.now(),
            progress=lambda amount: None,
        )  # fmt: skip
