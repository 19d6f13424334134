"""Stored labels are mapped again, by another scheme and without their file: page, command and API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.test import Client

from rubrics.models import AcuityImport, Benchmark, SourceLabel
from scoring.acuity import selectors
from scoring.models import AcuityReading
from tests.scoring.acuity.acuity_files import command, jsonl, result, table_sizes, write

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

PAGE = "/b/bench/case-acuity/map-again/"
CHOICE = {"dataset": "d", "scheme_on_scale": "em-ne-sc three"}
NEW_SCHEME = "/b/bench/case-acuity/schemes/new/"
API = "/api/v1/benchmarks/bench/acuity/source-labels/"


@pytest.fixture
def labels(staff: Client, tmp_path: Path) -> None:
    """Labels of four cases on three levels, with a reading of each."""
    rows = [result(1, "em", "em"), result(2, "ne", "sc"), result(3, "NE", "ne"), result(4, "sc", "sc")]
    command(write(tmp_path, "one.jsonl", jsonl(*rows)), candidate="M", dataset="d", scheme="em-ne-sc", scale="three")


def newer_scheme(staff: Client, **becomes: str) -> None:
    """A newer version of em-ne-sc on the scale of three with these rules."""
    rules: dict[str, str] = {}
    for number, (label, target) in enumerate(becomes.items()):
        rules |= {f"row-{number}-source_label": label, f"row-{number}-becomes": target}
    answer = staff.post(NEW_SCHEME, {"name": "em-ne-sc", "scale": "three", **rules, "save": "1"})
    assert answer.status_code == 302, answer.content.decode()


def stored(version: int) -> list[tuple[Any, ...]]:
    rows = SourceLabel.objects.filter(scheme__version=version).order_by("case__key")
    return list(rows.values_list("case__key", "label", "how", "low", "source_id", "line", "acuity_import__file_name"))


def test_a_newer_version_adds_rows_and_changes_none(staff: Client, labels: None) -> None:
    before = stored(1)
    newer_scheme(staff, em="level-2", ne="panel", sc="level-0")
    sizes = table_sizes()
    page = staff.get(PAGE, CHOICE).content.decode()
    assert table_sizes() == sizes, "a preview writes nothing"
    cells = page[page.index("<tbody>") : page.index("</tbody>")]
    # What changes comes first: `ne` and `NE`, one case each, were a level and are for the panel.
    assert cells.index(">NE<") < cells.index(">ne<") < cells.index(">em<")
    assert "<b>For the panel</b>" in cells
    assert "Map 4 labels again" in page
    answer = staff.post(PAGE, {**CHOICE, "seen": "em-ne-sc 2"}, follow=True)
    assert "4 labels have been mapped with the scheme em-ne-sc 2." in answer.content.decode()
    assert "labels mapped again" in answer.content.decode()
    assert stored(1) == before
    assert stored(2) == [
        ("d-0001", "em", "direct", 2, "1", 1, "one.jsonl"),
        ("d-0002", "ne", "panel", None, "2", 2, "one.jsonl"),
        ("d-0003", "NE", "panel", None, "3", 3, "one.jsonl"),
        ("d-0004", "sc", "direct", 0, "4", 4, "one.jsonl"),
    ]
    newest = AcuityImport.objects.order_by("pk").last()
    assert newest is not None
    assert newest.created_by == Benchmark.objects.get().roles.get().user
    sizes = table_sizes()
    again = staff.post(PAGE, CHOICE, follow=True)
    assert "0 labels have been mapped" in again.content.decode()
    assert table_sizes() == sizes
    assert "4 labels have already been mapped with this version" in staff.get(PAGE, CHOICE).content.decode()


def test_labels_are_mapped_however_few_are_read_at_once(
    staff: Client, labels: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer_scheme(staff, em="level-2", ne="panel", sc="level-0")
    monkeypatch.setattr(selectors, "CHUNK", 3)
    assert "4 labels have been mapped with the scheme" in staff.post(PAGE, CHOICE, follow=True).content.decode()
    assert [row[:4] for row in stored(2)] == [
        ("d-0001", "em", "direct", 2),
        ("d-0002", "ne", "panel", None),
        ("d-0003", "NE", "panel", None),
        ("d-0004", "sc", "direct", 0),
    ]


def test_a_label_without_a_rule_refuses_all(staff: Client, labels: None) -> None:
    newer_scheme(staff, em="level-2", sc="level-0")
    page = staff.get(PAGE, CHOICE).content.decode()
    assert "Labels cannot be mapped because some have no rule" in page
    assert "No rule: rejected" in page
    assert "labels again</button>" not in page
    sizes = table_sizes()
    answer = staff.post(PAGE, CHOICE)
    assert answer.status_code == 422
    assert "no rule for these labels (cases): “NE” (1), “ne” (1)" in answer.content.decode()
    assert table_sizes() == sizes


def test_a_version_that_nobody_saw_maps_nothing(staff: Client, labels: None) -> None:
    newer_scheme(staff, em="level-2", ne="panel", sc="level-0")
    sizes = table_sizes()
    answer = staff.post(PAGE, {**CHOICE, "seen": "em-ne-sc"})
    assert answer.status_code == 409
    assert "has a new version since this preview" in answer.content.decode()
    assert table_sizes() == sizes


def test_a_benchmark_without_labels_says_what_to_do(staff: Client) -> None:
    page = staff.get(PAGE).content.decode()
    assert "No case has an imported label" in page
    assert 'href="/b/bench/case-acuity/import/"' in page


def test_the_command_maps_on_another_scale_and_counts_no_sample(staff: Client, labels: None, tmp_path: Path) -> None:
    terms = {"dataset": "d", "scheme": "em-ne-sc", "scale": "four"}
    sizes = table_sizes()
    out = command(stored=True, preview="1", **terms)
    assert "ne → For the panel: 1, was B · Non-emergency" in out
    assert "labels: 4 would be mapped, 0 unchanged" in out
    assert table_sizes() == sizes
    assert "labels: 4 created, 0 unchanged" in command(stored=True, **terms)
    assert SourceLabel.objects.filter(scheme__scale__name="four", how="panel").count() == 2
    with pytest.raises(CommandError, match="The dataset “other” has no labels"):
        command(stored=True, **{**terms, "dataset": "other"})
    with pytest.raises(CommandError, match="name the files to import, or map stored labels again"):
        command(**terms)
    # The file is one sample of M as before, and the next file the second one.
    rows = [result(1, "em", "em"), result(2, "ne", "ne")]
    two = write(tmp_path, "two.jsonl", jsonl(*rows))
    command(two, candidate="M", dataset="d", scheme="em-ne-sc", scale="three")
    assert set(AcuityReading.objects.values_list("sample", flat=True)) == {0, 1}


def test_the_api_maps_again(staff: Client, labels: None) -> None:
    terms = {"dataset": "d", "scheme": "em-ne-sc", "scale": "four"}
    seen = staff.post(API, {**terms, "preview": True}, content_type="application/json")
    assert (seen.status_code, seen.json()["created"], SourceLabel.objects.count()) == (200, 4, 4)
    answer = staff.post(API, terms, content_type="application/json")
    assert (answer.status_code, answer.json()["created"], answer.json()["scheme"]) == (201, 4, "em-ne-sc")
    rows = {row["label"]: (row["cases"], row["how"], row["low"]) for row in answer.json()["labels"]}
    assert rows == {
        "em": (1, "direct", "emergency"), "ne": (1, "panel", ""), "NE": (1, "panel", ""),
        "sc": (1, "direct", "self-care"),
    }  # fmt: skip
    again = staff.post(API, terms, content_type="application/json")
    assert (again.status_code, again.json()["created"], again.json()["unchanged"]) == (200, 0, 4)
    assert staff.get(API).json()["count"] == 8
    wrong = staff.post(API, {**terms, "scheme": "nothing"}, content_type="application/json")
    assert wrong.status_code in (400, 422)


def test_what_a_label_was_is_what_it_was_mapped_to_last(staff: Client, labels: None) -> None:
    """A third version starts from the second: what it changes is shown against that."""
    newer_scheme(staff, em="level-2", ne="panel", sc="level-0")
    assert staff.post(PAGE, CHOICE).status_code == 302
    newer_scheme(staff, em="level-2", ne="level-1", sc="level-0")
    page = staff.get(PAGE, CHOICE).content.decode()
    cells = page[page.index("<tbody>") : page.index("</tbody>")]
    assert cells.count("For the panel") == 2  # what `ne` and `NE` were; in the first version they were a level
    assert staff.post(PAGE, CHOICE).status_code == 302
    assert [row[:4] for row in stored(3)][1:3] == [("d-0002", "ne", "direct", 1), ("d-0003", "NE", "direct", 1)]
