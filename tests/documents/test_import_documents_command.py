"""``import_documents``: several files, all of them or none."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from documents.models import Collection, Document
from tests.documents.library import FEVER

pytestmark = pytest.mark.django_db


def run(*arguments: str | Path) -> str:
    out = io.StringIO()
    common = ("--benchmark", "bench", "--collection", "Guidelines")
    call_command("import_documents", *map(str, arguments), *common, stdout=out, stderr=out)
    return out.getvalue()


def test_files_go_into_a_collection_that_is_made(tmp_path: Path) -> None:
    (tmp_path / "fever.txt").write_text(FEVER, encoding="utf-8")
    (tmp_path / "rash.txt").write_text("A rash that fades.\n", encoding="utf-8")
    output = run(tmp_path / "fever.txt", tmp_path / "rash.txt", "--licence", "CC0-1.0", "--may-send", "--may-quote",
                 "--kind", "guideline", "--tier", "1", "--jurisdictions", "GB,INT")  # fmt: skip
    assert "documents: 2 created, 0 unchanged" in output
    assert "nobody runs this benchmark yet" in output
    stored = Document.objects.order_by("key")
    assert [document.key for document in stored] == ["fever", "rash"]
    for document in stored:
        assert (document.licence, document.may_send, document.may_quote) == ("CC0-1.0", True, True)
        assert not document.may_redistribute
        assert (document.kind, document.tier, document.jurisdictions) == ("guideline", 1, ["GB", "INT"])
    assert "documents: 0 created, 2 unchanged" in run(tmp_path / "fever.txt", tmp_path / "rash.txt")
    assert Collection.objects.get().name == "Guidelines"


def test_one_bad_file_refuses_them_all(tmp_path: Path) -> None:
    (tmp_path / "fever.txt").write_text(FEVER, encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text(
        '{"key": "a", "text": "Words."}\n{"key": "b", "text": "Words.", "may_send": true}\n', encoding="utf-8"
    )
    with pytest.raises(CommandError, match="1 fault refused, nothing was imported"):
        run(tmp_path / "fever.txt", tmp_path / "rows.jsonl")
    assert not Document.objects.exists()
    assert not Collection.objects.exists()


@pytest.mark.parametrize("option", ["--key", "--title", "--url"])
def test_what_names_one_document_goes_with_one_file(tmp_path: Path, option: str) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("Words.\n", encoding="utf-8")
    with pytest.raises(CommandError, match="can be said of a single file only"):
        run(tmp_path / "a.txt", tmp_path / "b.txt", option, "one")


def test_a_flag_without_a_licence_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fever.txt").write_text(FEVER, encoding="utf-8")
    with pytest.raises(CommandError, match="1 fault refused"):
        run(tmp_path / "fever.txt", "--may-send")
    assert not Document.objects.exists()
