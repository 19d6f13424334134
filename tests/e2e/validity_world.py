"""What the journeys about the validity of rubrics share: the real cases in a benchmark, pages by which sets, runs and
reports are made, and a run that is read in an empty benchmark.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management import call_command
from playwright.sync_api import Page, expect

from scoring.models import PipelineRun

NewPage = Callable[..., Page]
Table = list[dict[str, str]]
DATA = Path(os.environ.get("CONSILIUM_REAL_DATA", "")) / "healthbench_sample.jsonl"
SLUG = "validity"
HOME = f"/b/{SLUG}"
MODEL = "rules (no language model)"
GOLD, GENERIC, HALF = "Criteria of physicians", "Generic criteria", "Every second criterion"
PHYSICIANS = ("physician-1", "physician-2")
BAND = "These answers come from fixed rules, not from a language model."
FOOTNOTE = "Answered by rules, not by a language model."
WAIT_MS = 120_000
EXACT: dict[str, Any] = {"rel": 0, "abs": 1e-9}


@dataclass
class RuleEndpoint:
    """The endpoint that follows rules, and how many requests it had."""

    url: str
    requests: int = 0


def real_cases() -> list[dict[str, Any]]:
    with DATA.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def axis_of(criterion: Mapping[str, Any]) -> str:
    return next(tag.removeprefix("axis:") for tag in criterion["tags"] if tag.startswith("axis:"))


def half_of_the_criteria(path: Path) -> Path:
    """The first, third … criterion of each case, as a file of a set."""
    with path.open("w", encoding="utf-8") as file:
        for case in real_cases():
            rubrics = [
                {"criterion": own["criterion"], "points": own["points"], "axis": axis_of(own)}
                for own in case["rubrics"][::2]
            ]
            file.write(json.dumps({"prompt_id": case["prompt_id"], "rubrics": rubrics}) + "\n")
    return path


def drawn(name: str, of: tuple[str, ...]) -> str:
    """What a made-up physician says: always the same about the same."""
    return of[hashlib.sha256(name.encode()).digest()[0] % len(of)]


# By page ----------------------------------------------------------------------------------------------------------


def fill(page: Page, **fields: str) -> None:
    """Fill in fields by their names."""
    for name, value in fields.items():
        page.locator(f"#id_{name}").fill(value)


def make_benchmark(admin: Page) -> None:
    admin.goto("/benchmarks/new/")
    admin.get_by_label("Title").fill("Validity")
    admin.get_by_label("Short name").fill(SLUG)
    admin.get_by_role("button", name=re.compile("Make|Create")).click()
    admin.wait_for_url(f"**{HOME}/")
    admin.goto(f"{HOME}/imports/")
    admin.locator("input[type=file]").set_input_files(DATA)
    admin.get_by_role("button", name="Import", exact=True).click()
    expect(admin.get_by_text("Done").first).to_be_visible(timeout=WAIT_MS)


def make_physicians(admin: Page) -> None:
    for name in PHYSICIANS:
        admin.goto(f"{HOME}/people/authors/")
        fill(admin, email=f"{name}@example.org", name=f"Dr. {name}")
        admin.get_by_label("Role").select_option("author")
        with admin.expect_response(lambda answer: answer.request.method == "POST"):
            admin.get_by_role("button", name="Add", exact=True).click()
        admin.goto(f"{HOME}/people/authors/")
        expect(admin.get_by_text(f"{name}@example.org").first).to_be_visible()


def make_set(admin: Page, name: str, source: str, file: Path | None = None) -> None:
    admin.goto(f"{HOME}/rubric-sets/new/")
    admin.get_by_label(source, exact=True).check()
    if file is not None:
        admin.locator("input[type=file]").set_input_files(file)
    fill(admin, name=name)
    with admin.expect_response(lambda answer: answer.request.method == "POST"):
        admin.get_by_role("button", name="Create set").click()
    if file is not None:
        expect(admin.get_by_text("Done").first).to_be_visible(timeout=WAIT_MS)
    admin.goto(f"{HOME}/rubric-sets/")
    expect(admin.get_by_role("link", name=name)).to_be_visible()


def begin(admin: Page, endpoint: RuleEndpoint, shown: str, *, model: str = MODEL) -> None:
    """Fill in the endpoint, see how many requests are to be made, and begin."""
    fill(admin, endpoint=endpoint.url, model=model, concurrency="16")
    expect(admin.locator("#size")).to_contain_text(shown)
    admin.get_by_role("button", name="Begin").click()
    expect(admin.get_by_role("link", name="New run with these settings")).to_be_visible(timeout=WAIT_MS)
    expect(admin.locator("main")).to_contain_text(BAND)


def rows_of(content: bytes) -> Table:
    """The rows of a CSV."""
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def row(table: Table, **values: str) -> dict[str, str]:
    (only,) = (own for own in table if values.items() <= own.items())
    return only


def report(admin: Page, kind: str, path: Path) -> dict[str, Table]:
    """Compute a report; it says everywhere that rules answered. The tables of its ZIP, by name."""
    admin.goto(f"{HOME}/validity/")
    form = admin.locator("form").filter(has=admin.locator(f"[name=kind][value={kind}]"))
    if not form.is_visible():
        admin.locator("details.new-report").filter(has=form).locator("summary").first.click()
    form.get_by_role("button", name="Compute").click()
    files = admin.locator(".report-files")
    expect(files).to_be_visible(timeout=WAIT_MS)
    expect(admin.locator("main")).to_contain_text(BAND)
    admin.wait_for_load_state()  # the figures come after the files
    assert admin.locator("figure").count() > 0
    for figure in admin.locator("figure").all():
        expect(figure.locator("figcaption")).to_contain_text(FOOTNOTE)
        expect(figure.locator("svg").first).not_to_contain_text(FOOTNOTE)
    files.locator("summary").click()
    with admin.expect_download() as download:
        files.get_by_role("link", name="Everything (ZIP)").click()
    download.value.save_as(path)
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    assert "is no language model" in contents["methods.txt"].decode()
    drawings = [own.decode() for name, own in contents.items() if name.endswith(".svg")]
    assert drawings and all(FOOTNOTE in own for own in drawings)
    tables = {Path(name).stem: rows_of(own) for name, own in contents.items() if name.endswith(".csv")}
    for name, table in tables.items():
        assert {own["endpoint_kind"] for own in table} <= {"rules"}, name
    return tables


# Elsewhere --------------------------------------------------------------------------------------------------------


def command(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.csv")}


def replayed_elsewhere(run: PipelineRun, folder: Path) -> str:
    """The run by way of its file in an empty benchmark, and done again there; the id of the replay."""
    path = folder / "run.zip"
    command("export_run", run.public_id, "--out", str(path))
    PipelineRun.objects.filter(pk=run.pk).update(public_id="of-before")  # elsewhere it is not known
    imported = command("import_run", str(path), "--benchmark", "elsewhere").partition(":")[0]
    replayed = command("replay_run", imported).partition(":")[0]
    own = PipelineRun.objects.get(public_id=replayed)
    assert (own.status, own.replay, own.calls, own.benchmark.slug) == ("finished", True, 0, "elsewhere")
    return own.public_id


def differing(first: dict[str, bytes], second: dict[str, bytes]) -> list[str]:
    """The files that are not the same in both folders, byte for byte."""
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
