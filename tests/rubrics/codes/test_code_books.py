"""Code books: the starter, versions that freeze, what codes were, files with faults, pages, API and command."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from threading import Barrier, Thread

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import IntegrityError, InternalError, ProgrammingError, connection, transaction
from django.test import Client
from django.utils import timezone

from rubrics.codes.reading import read_codes
from rubrics.models import Benchmark, BenchmarkRole, CodeBook
from rubrics.parsing.faults import Faults
from tests.factories import BenchmarkFactory, UserFactory

pytestmark = pytest.mark.django_db
REFUSED = (IntegrityError, InternalError, ProgrammingError)
ONE = {"key": "wrong-dose", "title_en": "Wrong dose", "definition_en": "A dose is wrong."}


@pytest.fixture
def benchmark() -> Benchmark:
    return BenchmarkFactory(slug="b", admin=UserFactory(email="admin@example.org"))


@pytest.fixture
def admin(benchmark: Benchmark) -> Client:
    client = Client()
    client.force_login(BenchmarkRole.objects.get(benchmark=benchmark).user)
    return client


def send(client: Client, **body: object) -> tuple[int, dict[str, object]]:
    answer = client.post("/api/v1/benchmarks/b/code-books/", json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


def use(version: int) -> None:
    """As whatever first refers to the version does."""
    CodeBook.objects.filter(version=version).update(used_at=timezone.now())


def newest() -> CodeBook:
    return CodeBook.objects.latest("version")


def page_of(client: Client, path: str = "") -> str:
    return client.get(f"/b/b/codes/{path}").content.decode()


def fields_of(client: Client, code: str, /, **changes: str) -> dict[str, str]:
    """What the form of a code sends."""
    form = client.get(f"/b/b/codes/code/{code}/").context["form"]
    return {name: str(form[name].value() or "") for name in form.fields} | changes


def test_the_starter_is_adopted_once_and_is_whole_in_both_languages(admin: Client) -> None:
    assert "No code book yet" in page_of(admin)
    assert admin.post("/b/b/codes/adopt/").status_code == 302
    book = CodeBook.objects.get()
    assert 12 <= len(book.codes) <= 16
    keys = [code["key"] for code in book.codes]
    assert len(set(keys)) == len(keys)
    for named in (
        *("missed-red-flag", "unsafe-advice", "missing-context", "wrong-dose", "outdated-guidance", "overconfidence"),
        *("under-referral", "over-referral"),
    ):
        assert named in keys
    for code in book.codes:
        for name in ("title", "definition", "applies", "not", "group"):
            assert code[f"{name}_en"]
            assert any("\u4e00" <= sign <= "\u9fff" for sign in code[f"{name}_zh"])
        assert code["examples_en"]
        assert code["examples_zh"]
    shown = page_of(admin)
    assert "Missed red flag" in shown
    admin.cookies["django_language"] = "zh-hans"
    assert "漏判危险信号" in page_of(admin)
    admin.post("/b/b/codes/adopt/")
    assert CodeBook.objects.count() == 1


@pytest.mark.slow
def test_a_version_changes_until_it_is_used_and_then_there_is_a_next_one(admin: Client) -> None:
    admin.post("/b/b/codes/adopt/")
    first = fields_of(admin, "wrong-dose", title_en="Dose wrong")
    assert admin.post("/b/b/codes/code/wrong-dose/", first).status_code == 302
    assert CodeBook.objects.count() == 1
    use(1)
    frozen = CodeBook.objects.get().codes
    # A renamed code of the next version says what it was.
    sent = fields_of(admin, "wrong-dose", key="dose-error", title_en="Dose error", note="A plainer name")
    assert admin.post("/b/b/codes/code/wrong-dose/", sent).status_code == 302
    older, newer = CodeBook.objects.order_by("version")
    assert older.codes == frozen
    assert (newer.version, newer.note) == (2, "A plainer name")
    by_key = {code["key"]: code["was"] for code in newer.codes}
    assert by_key["dose-error"] == ["wrong-dose"]
    assert by_key["overconfidence"] == ["overconfidence"]
    assert all(code["was"] == [] for code in older.codes)
    # A second change of the unused version keeps what the code was.
    admin.post("/b/b/codes/code/dose-error/", fields_of(admin, "dose-error", severity="minor"))
    newer.refresh_from_db()
    assert {code["key"]: code["was"] for code in newer.codes}["dose-error"] == ["wrong-dose"]
    shown = page_of(admin)
    assert "A plainer name" in shown
    assert "Changed:" in shown
    assert "wrong-dose" in shown
    assert "Dose wrong" in page_of(admin, "versions/1/")
    admin.post("/b/b/codes/code/overconfidence/remove/", {"seen": newer.digest})
    assert "Removed:" in page_of(admin)
    assert "overconfidence" not in {code["key"] for code in CodeBook.objects.get(version=2).codes}


@pytest.mark.parametrize("change", ["codes", "used_at", "version", "deletion"])
def test_the_database_keeps_a_used_version(admin: Client, change: str) -> None:
    admin.post("/b/b/codes/adopt/")
    use(1)
    sql = {
        "codes": "UPDATE rubrics_codebook SET codes = '[]'",
        "used_at": "UPDATE rubrics_codebook SET used_at = NULL",
        "version": "UPDATE rubrics_codebook SET version = 7",
        "deletion": "DELETE FROM rubrics_codebook",
    }
    with pytest.raises(REFUSED), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql[change])
    assert len(CodeBook.objects.get(version=1).codes) == 15


def test_who_saw_an_older_state_overwrites_nothing(admin: Client) -> None:
    admin.post("/b/b/codes/adopt/")
    sent = fields_of(admin, "wrong-dose", title_en="Mine")
    admin.post("/b/b/codes/code/overconfidence/", fields_of(admin, "overconfidence", title_en="Too sure"))
    answer = admin.post("/b/b/codes/code/wrong-dose/", sent)
    assert answer.status_code == 409
    assert "Mine" in answer.content.decode()  # what was written is still in the form
    titles = {code["key"]: code["title_en"] for code in CodeBook.objects.get().codes}
    assert (titles["wrong-dose"], titles["overconfidence"]) == ("Wrong dose", "Too sure")
    status, _ = send(admin, codes=[ONE], seen="")
    assert status == 409


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_two_first_versions_at_once_make_one_code_book(admin: Client) -> None:
    barrier, statuses = Barrier(4), []

    def adopt() -> None:
        barrier.wait()
        try:
            statuses.append(send(admin, starter=True)[0])
        finally:
            connection.close()

    threads = [Thread(target=adopt) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [201, 409, 409, 409]
    assert CodeBook.objects.count() == 1


def test_a_form_says_beside_the_field_what_is_wrong(admin: Client) -> None:
    admin.post("/b/b/codes/adopt/")
    answer = admin.post("/b/b/codes/code/wrong-dose/", fields_of(admin, "wrong-dose", key="Wrong Dose"))
    assert answer.status_code == 422
    assert answer.context["form"].errors["key"] == [
        "A key consists of small letters, digits, and hyphens between them."
    ]
    answer = admin.post("/b/b/codes/code/wrong-dose/", fields_of(admin, "wrong-dose", key="overconfidence"))
    assert answer.status_code == 422
    answer = admin.post("/b/b/codes/new/", fields_of(admin, "wrong-dose", key="none"))
    assert answer.context["form"].errors["key"] == ["This key means “none of these”."]


def test_both_files_come_back_as_they_went_out(admin: Client, benchmark: Benchmark) -> None:
    admin.post("/b/b/codes/adopt/")
    stored = CodeBook.objects.get().codes
    other = BenchmarkFactory(slug="other", admin=BenchmarkRole.objects.get(benchmark=benchmark).user)
    for ending in ("csv", "jsonl"):
        answer = admin.get(f"/b/b/codes/versions/1.{ending}")
        body = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
        sent = {"file": SimpleUploadedFile(f"codes.{ending}", body), "note": "", "seen": ""}
        CodeBook.objects.filter(benchmark=other).update(codes=[])
        book = CodeBook.objects.filter(benchmark=other).first()
        sent["seen"] = book.digest if book else ""
        assert admin.post("/b/other/codes/", sent).status_code == 302
        assert CodeBook.objects.get(benchmark=other).codes == stored
    assert admin.get("/b/b/codes/versions/1.txt").status_code == 404


@pytest.mark.slow
def test_the_largest_book_is_taken_with_every_character_escaped() -> None:
    """Every text at its limit, of characters outside the basic plane: JSON has twelve bytes for each."""
    character = "\N{CJK UNIFIED IDEOGRAPH-20000}"
    text, title, examples = character * 2_000, character * 100, [character * 2_000] * 10
    codes = [
        {
            "key": f"code-{number}",
            **dict.fromkeys(("group_en", "group_zh", "title_en", "title_zh"), title),
            **dict.fromkeys(("definition_en", "definition_zh", "applies_en", "applies_zh", "not_en", "not_zh"), text),
            **dict.fromkeys(("examples_en", "examples_zh"), examples),
        }
        for number in range(40)
    ]
    file = "\n".join(json.dumps(code) for code in codes).encode()
    assert len(file) > 23 << 20
    faults = Faults()
    read, lines = read_codes(io.BytesIO(file), faults)
    assert not faults.total
    assert (len(read), read[-1].examples_zh[-1], lines[-1]) == (40, text, 40)


def test_the_page_takes_more_than_other_forms(admin: Client) -> None:
    codes = [{"key": f"code-{n}", "title_en": "Title", "definition_en": "d" * 2_000, "examples_en": ["e" * 2_000] * 10,
              "examples_zh": ["\N{CJK UNIFIED IDEOGRAPH-4E00}" * 2_000] * 10} for n in range(40)]  # fmt: skip
    body = "\n".join(json.dumps(code, ensure_ascii=False) for code in codes).encode()
    assert len(body) > 3_000_000
    sent = {"file": SimpleUploadedFile("codes.jsonl", body), "note": "", "seen": ""}
    assert admin.post("/b/b/codes/", sent).status_code == 302
    assert len(CodeBook.objects.get().codes) == 40


def test_a_file_that_is_too_large_names_its_limit() -> None:
    faults = Faults()
    read_codes(io.BytesIO(b"{" + b" " * 1_000_000 + b"}\n" + (b" " * 1_000_000 + b"\n") * 34), faults)
    assert str(faults.first[-1].message) == "The file is larger than 32 MiB."


def test_a_file_is_refused_by_line_and_field_and_changes_nothing(admin: Client) -> None:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["key", "title_en", "definition_en", "severity"])
    writer.writerow(["wrong-dose", "Wrong dose", "A dose is wrong.", "severe"])
    writer.writerow(["wrong-dose", "Again", "Twice.", ""])
    writer.writerow(["Bad Key", "", "No title.", "awful"])
    sent = {"file": SimpleUploadedFile("codes.csv", text.getvalue().encode()), "note": "", "seen": ""}
    answer = admin.post("/b/b/codes/", sent)
    assert answer.status_code == 422
    faults = {(fault.line, fault.field) for fault in answer.context["refused"].errors}
    assert faults == {(3, "key"), (4, "key"), (4, "title_en"), (4, "severity")}
    assert not CodeBook.objects.exists()


def test_what_a_code_was_names_codes_of_the_version_before(admin: Client) -> None:
    status, book = send(admin, codes=[ONE, ONE | {"key": "dose-missing", "title_en": "No dose"}])
    assert (status, book["version"]) == (201, 1)
    use(1)
    status, body = send(admin, codes=[ONE | {"was": ["unknown"]}])
    assert status == 422
    assert body["errors"] == [{"line": 1, "field": "was", "message": "The version before has no code “unknown”."}]
    merged = ONE | {"key": "dose", "was": ["wrong-dose", "dose-missing"]}
    status, book = send(admin, codes=[merged], note="Merged")
    assert (status, book["version"]) == (201, 2)
    assert CodeBook.objects.get(version=2).codes[0]["was"] == ["wrong-dose", "dose-missing"]
    shown = page_of(admin)
    assert "wrong-dose, dose-missing" in shown
    assert "Removed:" not in shown
    listed = admin.get("/api/v1/benchmarks/b/code-books/").json()["results"]
    assert [(row["version"], row["n_codes"], bool(row["used_at"])) for row in listed] == [(2, 1, False), (1, 2, True)]
    assert [code["key"] for code in admin.get("/api/v1/benchmarks/b/code-books/2/").json()["codes"]] == ["dose"]


def test_a_fault_in_what_a_code_was_names_the_line_of_the_file(admin: Client) -> None:
    send(admin, codes=[ONE])
    use(1)
    table = 'key,title_en,definition_en,was\na,A,"Two\nlines",\nb,B,Short,zz\n'
    sent = {"file": SimpleUploadedFile("codes.csv", table.encode()), "note": "", "seen": newest().digest}
    answer = admin.post("/b/b/codes/", sent)
    assert answer.status_code == 422
    cells = re.findall(r"<td[^>]*>(.*?)</td>", answer.content.decode())
    assert cells[:2] == ["4", "<code>was</code>"]


def test_a_code_that_is_saved_as_the_form_shows_it_makes_no_version(admin: Client) -> None:
    """Browsers send two characters at the end of a line."""
    send(admin, codes=[ONE | {"definition_en": "First.\nSecond."}])
    use(1)
    sent = fields_of(admin, ONE["key"])
    admin.post(f"/b/b/codes/code/{ONE['key']}/", sent | {"definition_en": sent["definition_en"].replace("\n", "\r\n")})
    assert CodeBook.objects.count() == 1


def test_a_code_that_comes_to_a_group_stands_with_it(admin: Client) -> None:
    groups = {"a": "Safety", "b": "Style", "c": "Style"}
    send(admin, codes=[ONE | {"key": key, "group_en": group} for key, group in groups.items()])
    new = {"key": "d", "title_en": "New", "definition_en": "New", "group_en": "Safety"}
    admin.post("/b/b/codes/new/", new | {"seen": newest().digest})
    assert [code["key"] for code in newest().codes] == ["a", "d", "b", "c"]
    admin.post("/b/b/codes/code/a/", fields_of(admin, "a", group_en="Style"))
    assert [code["key"] for code in newest().codes] == ["d", "b", "c", "a"]
    # One that leaves the middle of its group stands behind it; one without a group at the end, or where it was.
    admin.post("/b/b/codes/code/b/", fields_of(admin, "b", group_en="Tone"))
    assert [code["key"] for code in newest().codes] == ["d", "c", "a", "b"]
    admin.post("/b/b/codes/new/", new | {"key": "e", "group_en": "", "seen": newest().digest})
    admin.post("/b/b/codes/code/d/", fields_of(admin, "d", group_en=""))
    assert [code["key"] for code in newest().codes] == ["d", "c", "a", "b", "e"]


def test_the_same_codes_again_make_no_version(admin: Client) -> None:
    send(admin, codes=[ONE])
    use(1)
    status, book = send(admin, codes=[ONE])
    assert (status, book["version"]) == (201, 1)
    assert CodeBook.objects.count() == 1


def test_the_api_refuses_both_sources_and_unknown_fields(admin: Client) -> None:
    assert send(admin, codes=[ONE], starter=True)[0] == 400
    assert send(admin)[0] == 400
    assert send(admin, codes=[ONE | {"colour": "red"}])[0] == 400
    assert not CodeBook.objects.exists()


def test_the_command_adopts_imports_and_prints(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("code_book", "--benchmark", "b", "--starter")
    assert capsys.readouterr().out == "version 1: 15 codes\n"
    call_command("code_book", "--benchmark", "b")
    printed = capsys.readouterr().out
    assert [json.loads(line)["key"] for line in printed.splitlines()][:2] == ["missed-red-flag", "unsafe-advice"]
    file = tmp_path / "codes.jsonl"
    file.write_text("".join(printed.splitlines(keepends=True)[:3]))
    use(1)
    call_command("code_book", "--benchmark", "b", "--file", str(file), "--note", "Only the first three")
    assert capsys.readouterr().out == "version 2: 3 codes\n"
    file.write_text('{"key": "x"}\n')
    with pytest.raises(CommandError, match="2 refused, nothing was imported"):
        call_command("code_book", "--benchmark", "b", "--file", str(file))
    assert "title_en" in capsys.readouterr().err


def test_a_note_that_comes_with_the_same_codes_is_kept(admin: Client) -> None:
    for used, note in ((False, "zq-first"), (False, "zq-second"), (True, "zq-third")):
        if used:
            use(1)
        status, body = send(admin, codes=[ONE], note=note)
        assert status in (200, 201)
        assert (body["version"], body["note"]) == (1, note)
    send(admin, codes=[ONE])  # without a note the last one stays
    assert CodeBook.objects.get().note == "zq-third"
