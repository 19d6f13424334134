"""Tables are shown before they are imported: what each column holds, what becomes of the rows, and every fault."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from openpyxl import Workbook
from playwright.sync_api import Page, expect

from accounts.models import User
from rubrics.models import AuthoringRole, Benchmark, Case, Criterion, ImportJob, Response, Rubric
from rubrics.services import import_jobs
from rubrics.tasks import run_import
from tests.axe import axe_violations
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory
from tests.processes import Worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
TABLE = "病例;问题;标准;分值;备注\nc-1;为什么咳嗽？;询问吸烟;5;甲\n;;推荐抗生素;-3;\n".encode("gb18030")
WAIT_MS = 60_000


@pytest.fixture(autouse=True)
def _no_files_left(settings: Any) -> Iterator[None]:
    """Uploads go where a worker process finds them; those of the test go away with it."""
    folder = Path(settings.MEDIA_ROOT) / "imports"
    before = set(folder.glob("*"))
    yield
    for file in set(folder.glob("*")) - before:
        file.unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def _no_worker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of tests that do the work themselves go to a queue where no worker of another test listens."""
    if "celery_worker" not in request.fixturenames:
        options = {**run_import._get_exec_options(), "queue": "no-worker"}
        monkeypatch.setattr(run_import, "_exec_options", options)


@pytest.fixture
def admin() -> User:
    return UserFactory(email="admin@example.org")


@pytest.fixture
def benchmark(admin: User) -> Benchmark:
    return BenchmarkFactory(slug="bench", researcher=admin)


@pytest.fixture
def signed_in(benchmark: Benchmark, admin: User, client: Client) -> Client:
    client.force_login(admin)
    return client


def upload(client: Client, content: bytes, kind: str = "cases", name: str = "cases.csv", **fields: str) -> ImportJob:
    file = SimpleUploadedFile(name, content)
    answer = client.post("/b/bench/imports/", {"kind": kind, "file": file, **fields})
    assert answer.status_code == 302, answer.content.decode()
    return worked(answer.url)


def worked(address: str) -> ImportJob:
    """The job of a page, worked on."""
    job = ImportJob.objects.get(public_id=address.rstrip("/").split("/")[-1])
    import_jobs.run(job_id=job.pk, clock=timezone.now)
    job.refresh_from_db()
    return job


def send(client: Client, job: ImportJob, action: str, **fields: str) -> ImportJob:
    answer = client.post(f"/b/bench/imports/{job.public_id}/preview/", {"action": action, **fields})
    assert answer.status_code == 302, answer.content.decode()
    return worked(answer.url)


def page_of(client: Client, job: ImportJob) -> str:
    return client.get(f"/b/bench/imports/{job.public_id}/").content.decode()


def test_a_table_is_shown_first_and_then_imported_as_it_was_shown(signed_in: Client) -> None:
    job = upload(signed_in, TABLE, format="healthbench")  # which shape JSONL would have says nothing of a table
    assert (job.status, job.options) == ("done", {"preview": "1", "format": "healthbench"})
    assert not Case.objects.exists(), "a preview stores nothing"
    assert not Criterion.objects.exists()
    page = page_of(signed_in, job)
    assert "Preview: nothing has been saved yet" in page
    assert "为什么咳嗽？" in page
    assert "read as GB18030" in page
    assert "Kept only as additional information: “备注”" in page

    done = send(signed_in, job, "import")
    assert (done.status, done.counts["cases"]) == ("done", {"created": 1, "unchanged": 0})
    case = Case.objects.get()
    assert (case.key, case.metadata, case.language) == ("c-1", {"备注": "甲"}, "zh")
    points = Rubric.objects.get().items.order_by("position").values_list("criterion__text", "points")
    assert list(points) == [("询问吸烟", 5), ("推荐抗生素", -3)]
    # Pressed twice there is one import, and the preview leads to it.
    assert send(signed_in, job, "import") == done
    assert f'href="/b/bench/imports/{done.public_id}/">Go to the import' in page_of(signed_in, job)
    # The same file once more changes nothing.
    again = upload(signed_in, TABLE)
    assert "Importing it again would change nothing" in page_of(signed_in, again)
    assert send(signed_in, again, "import").counts["cases"] == {"created": 0, "unchanged": 1}


def test_the_preview_of_cases_shows_the_language_given_or_detected(signed_in: Client) -> None:
    rows = ("case,prompt,language,criterion", "a,Where is the doctor?,pt_br,Rest", "b,Where is the doctor?,,Rest",
            "c,45y F,,Rest")  # fmt: skip
    page = " ".join(page_of(signed_in, upload(signed_in, "\n".join(rows).encode())).split())
    shown = re.findall(r"<h3> (\w) </h3>.*?1 turn (.*?) </p>", page)
    assert shown == [
        ("a", "· Language: Brazilian Portuguese"),
        ("b", "· Language: English (detected)"),
        ("c", "· Language: not detected"),
    ]


def test_after_a_failed_import_the_preview_can_be_imported_again(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash() -> None:
        raise RuntimeError("the disk is full")

    job = upload(signed_in, TABLE)
    with monkeypatch.context() as patched:
        patched.setattr(import_jobs, "refresh_statistics", crash)
        with pytest.raises(RuntimeError, match="the disk is full"):
            send(signed_in, job, "import")
    failed = ImportJob.objects.exclude(options__has_key="preview").get()
    assert (failed.status, Case.objects.count()) == ("failed", 0)
    page = page_of(signed_in, job)
    assert 'value="import"' in page
    assert "Go to the import" not in page
    # Neither the columns nor the import are closed, and the file need not be sent again.
    again = send(signed_in, job, "preview", encoding="gb18030", delimiter="semicolon")
    done = send(signed_in, again, "import")
    assert (done.status, Case.objects.count()) == ("done", 1)
    assert done.pk != failed.pk
    # The file is imported by now, so the failed import is not tried once more.
    assert signed_in.post(f"/b/bench/imports/{failed.public_id}/restart/").status_code == 409
    assert send(signed_in, job, "import") == done


def test_columns_that_nobody_knows_are_chosen_on_the_page(signed_in: Client) -> None:
    content = b"Fall,Frage,Kriterium,Punkte\nc-1,Warum?,Fragt,5\n"
    job = upload(signed_in, content)
    page = page_of(signed_in, job)
    assert "Choose the columns for: Case (short name), User’s question / Conversation with turns, Criterion" in page
    assert job.counts["previews"][0]["table"]["columns"][1]["example"] == "Warum?"
    refused = signed_in.post(f"/b/bench/imports/{job.public_id}/preview/", {"action": "import"})
    assert refused.status_code == 422
    chosen = dict(enumerate(["case", "prompt", "criterion", "points"]))
    columns = {f"column-{place}": target for place, target in chosen.items()}
    # Even who presses Import sees what other columns would give before anything is stored.
    second = send(signed_in, job, "import", **columns)
    assert (second.counts["previews"][0]["n_faults"], Case.objects.count()) == (0, 0)
    send(signed_in, second, "import", **columns)
    assert Case.objects.get().conversation == [{"role": "user", "content": "Warum?"}]
    # Once it is imported, the columns of its previews stay as they are.
    late = signed_in.post(f"/b/bench/imports/{job.public_id}/preview/", {"action": "preview", **columns})
    assert late.status_code == 409


def test_every_fault_is_shown_by_row_and_heading_and_nothing_can_be_imported(signed_in: Client) -> None:
    job = upload(signed_in, "病例,问题,标准,分值\nc-1,问,甲,五\nc-2,,乙,1\n".encode())
    page = " ".join(page_of(signed_in, job).split())
    assert "row 2" in page
    assert [(f["line"], f["field"]) for f in job.counts["previews"][0]["faults"]] == [(2, "分值"), (3, "问题")]
    assert 'value="import"' not in page
    assert signed_in.post(f"/b/bench/imports/{job.public_id}/preview/", {"action": "import"}).status_code == 422


def test_another_encoding_or_delimiter_is_chosen_and_finds_the_columns_anew(signed_in: Client) -> None:
    job = upload(signed_in, "case,question,criterion,points\nc-1,é,è,5\n".encode("windows-1252"))
    assert job.counts["previews"][0]["table"]["encoding"] == "windows-1252"
    other = send(signed_in, job, "preview", encoding="gb18030", delimiter="")
    assert "is not valid gb18030" in page_of(signed_in, other)
    wrong = signed_in.post(f"/b/bench/imports/{job.public_id}/preview/", {"action": "preview", "encoding": "ebcdic"})
    assert wrong.status_code == 422
    parted = send(signed_in, job, "preview", encoding="windows-1252", delimiter="semicolon")
    assert len(parted.counts["previews"][0]["table"]["columns"]) == 1


def test_errors_come_first_and_the_list_says_that_the_preview_found_them(signed_in: Client) -> None:
    job = upload(signed_in, b"case,question,criterion,points\nc-1,Why?,Ask about it,many\n")
    page = page_of(signed_in, job)
    assert page.index("1 error; nothing was imported") < page.index("Preview with these columns")
    assert "it has 1 error. Fix it in the file" in page
    assert "choose its content under “Columns” below" in " ".join(page.split())
    rows = signed_in.get("/b/bench/imports/").content.decode()
    assert "Errors found" in rows
    assert "1 error" in rows


def test_a_preview_is_not_listed_as_if_it_were_an_import(signed_in: Client, benchmark: Benchmark) -> None:
    for page in ("/b/bench/", "/b/bench/cases/"):
        words = " ".join(signed_in.get(page).content.decode().split())
        assert "HealthBench examples, ClinConsensus cases, or your own table (CSV or XLSX)" in words
    job = upload(signed_in, b"case,question,criterion,points\nc-1,Why?,Ask about it,5\n")

    def states() -> list[str]:
        return re.findall(r'class="badge is-\w+">([^<]+)<', signed_in.get("/b/bench/imports/").content.decode())

    assert states() == ["Preview"]
    send(signed_in, job, "import")
    assert states() == ["Done", "Preview"]
    ImportJob.objects.filter(pk=job.pk).update(status="running", counts={}, bytes_read=job.bytes_total)
    running = page_of(signed_in, job)
    assert "Nothing is saved." in running
    assert "are being saved" not in running


def test_a_criterion_that_a_new_case_has_twice_is_warned_of(signed_in: Client) -> None:
    table = "case,question,criterion,points\nc-1,Why?,Ask about smoking,5\n,,Ask about smoking,3\n,,Rest,1\n"
    job = upload(signed_in, table.encode())
    # The second is in row 3 of the table; errors of a table count rows as well.
    assert "Row 3: the case has the criterion “Ask about smoking” more than once." in page_of(signed_in, job)
    assert send(signed_in, job, "import").status == "done"
    changed = upload(signed_in, table.replace("Why?", "How?").encode())
    assert "edit the case on its own page, or give this one another short name" in page_of(signed_in, changed)


def test_responses_and_jsonl_have_a_preview_too(signed_in: Client, benchmark: Benchmark) -> None:
    CaseFactory(benchmark=benchmark, key="c-1")
    job = upload(signed_in, b"case,model A,model B\nc-1,yes,no\n", "responses", "r.csv")
    assert "Choose the columns for:" in page_of(signed_in, job)
    columns = {"column-1": "answers", "column-2": "answers"}
    job = send(signed_in, job, "preview", **columns)
    assert [row["candidate"] for row in job.counts["previews"][0]["rows"]] == ["model A", "model B"]
    assert not Response.objects.exists()
    send(signed_in, job, "import", **columns)
    assert set(Response.objects.values_list("candidate__name", "text")) == {("model A", "yes"), ("model B", "no")}
    line = b'{"case": "c-1", "candidate": "model C", "response": "perhaps"}\n'
    shown = upload(signed_in, line, "responses", "r.jsonl", preview="1")
    assert shown.counts["previews"][0]["table"] is None
    assert Response.objects.count() == 2
    send(signed_in, shown, "import")
    assert Response.objects.count() == 3
    direct = upload(signed_in, line, "responses", "r.jsonl")
    assert direct.options == {}


def test_rubrics_name_a_column_that_nobody_knows_until_it_is_left_out(
    signed_in: Client, benchmark: Benchmark, admin: User
) -> None:
    AuthoringRole.objects.create(benchmark=benchmark, user=admin, role=AuthoringRole.Role.AUTHOR)
    CaseFactory(benchmark=benchmark, key="c-1")
    before = set(Rubric.objects.values_list("pk", "status"))
    job = upload(signed_in, b"case,criterion,points,grade\nc-1,Asks,5,x\n", "rubrics")
    assert [fault["field"] for fault in job.counts["previews"][0]["faults"]] == ["grade"]
    job = send(signed_in, job, "preview", **{"column-3": "leave_out"})
    assert "Not imported: “grade”" in page_of(signed_in, job)
    assert set(Rubric.objects.values_list("pk", "status")) == before
    done = send(signed_in, job, "import")
    assert done.counts["drafts"] == {"created": 1, "unchanged": 0}


def test_an_import_without_a_preview_has_nothing_to_confirm(signed_in: Client, benchmark: Benchmark) -> None:
    CaseFactory(benchmark=benchmark, key="c-1")
    job = upload(signed_in, b'{"case": "c-1", "candidate": "m", "response": "x"}\n', "responses", "r.jsonl")
    for action in ("import", "preview"):
        answer = signed_in.post(f"/b/bench/imports/{job.public_id}/preview/", {"action": action})
        assert answer.status_code == 422
        assert "There is no preview to import" in answer.content.decode()


def test_the_command_takes_columns_and_shows_a_preview(benchmark: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "cases.tsv"
    path.write_bytes(b"Fall\tFrage\tKriterium\nc-1\tWarum?\tFragt\n")
    columns = ["--column", "Fall=case", "--column", "Frage=prompt", "--column", "Kriterium=criterion"]

    def run(*arguments: str) -> str:
        out = io.StringIO()
        call_command("import_cases", str(path), "--benchmark", "bench", *arguments, stdout=out, stderr=out)
        return out.getvalue()

    shown = run(*columns, "--preview")
    assert "column Frage: prompt" in shown
    assert "Preview: nothing was written." in shown
    assert not Case.objects.exists()
    assert "row 1, case: This column is missing." in run("--preview")
    with pytest.raises(CommandError, match="HEADING=FIELD"):
        run("--column", "Fall")
    assert "cases: 1 created" in run(*columns)
    assert Case.objects.get().key == "c-1"


def test_the_api_takes_the_options_of_tables(signed_in: Client) -> None:
    columns = json.dumps({"Fall": "case", "Frage": "prompt", "Kriterium": "criterion"})
    file = SimpleUploadedFile("c.csv", b"Fall;Frage;Kriterium\nc-1;Warum?;Fragt\n")
    fields = {"kind": "cases", "file": file, "columns": columns, "delimiter": "semicolon", "preview": "1"}
    answer = signed_in.post("/api/v1/benchmarks/bench/imports/", fields)
    assert answer.status_code == 201, answer.content
    job = worked(answer.json()["id"])
    assert job.counts["cases"] == {"created": 1, "unchanged": 0}
    assert not Case.objects.exists()


def test_in_the_browser_a_workbook_is_mapped_previewed_and_imported(
    benchmark: Benchmark, admin: User, new_page: Callable[..., Page], celery_worker: Worker, tmp_path: Path
) -> None:
    book = Workbook()
    for row in (
        ["Case", "What the patient says", "Criterion", "Points", "Editor"],
        ["c-1", "Since this morning my chest hurts.", "Advises to call an ambulance", 10, "A"],
        [None, None, "Advises to wait", -8, None],
    ):
        book.active.append(row)
    book.active.merge_cells("A2:A3")
    book.save(tmp_path / "cases.xlsx")
    page = new_page(admin)
    page.goto("/b/bench/imports/")
    expect(page.get_by_role("link", name="cases.xlsx")).to_be_visible()
    expect(page.get_by_role("link", name="verdicts.csv")).to_be_hidden()
    page.locator("input[type=file]").set_input_files(tmp_path / "cases.xlsx")
    # A table is always previewed first, so there is one button for it.
    expect(page.get_by_role("button", name="Import", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.get_by_role("heading", name="Preview: nothing has been saved yet")).to_be_visible(timeout=WAIT_MS)
    expect(page.locator(".notice.error")).to_contain_text("User’s question")
    assert axe_violations(page) == []
    page.get_by_label("Content of the column “What the patient says”").select_option("User’s question")
    page.get_by_label("Content of the column “Editor”").select_option("Do not import")
    first = page.url
    page.get_by_role("button", name="Preview with these columns").click()
    page.wait_for_url(lambda url: url != first)
    expect(page.locator(".preview-rows")).to_contain_text("Since this morning my chest hurts.", timeout=WAIT_MS)
    expect(page.locator(".preview-criteria li")).to_have_count(2)
    expect(page.locator("#import-state .notice.warning")).to_contain_text("Not imported: “Editor”")
    assert axe_violations(page) == []
    assert not Case.objects.exists()
    second = page.url
    page.get_by_role("button", name="Import", exact=True).click()
    page.wait_for_url(lambda url: url != second)
    expect(page.locator("#import-state .badge")).to_have_text("Done", timeout=WAIT_MS)
    case = Case.objects.get()
    page.goto(f"/b/bench/cases/{case.public_id}/")
    expect(page.locator("main")).to_contain_text("Since this morning my chest hurts.")
    expect(page.locator("main")).to_contain_text("Advises to call an ambulance")
