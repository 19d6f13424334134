"""Cases that the data call ambiguous: from files alone, and from an import to a signed set and its report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.reports.stored import table_of
from annotation.models import ReferenceSet
from rubrics.models import Benchmark, SourceLabel
from tests.agreement.acuity.test_acuity_file import refusal, rows, write
from tests.agreement.acuity.test_acuity_file import run as run_file
from tests.annotation.acuity.test_reference_sets import (
    RULE,
    admin,
    import_labels,
    references,
    seen_on,
    sign,
    vote,
)
from tests.factories import BenchmarkFactory

__all__ = ["admin"]
pytestmark = pytest.mark.slow

# The panel agrees on d, which is flagged, and is far apart on e, which is not. f has a label alone.
FLAGGED = (
    "case,candidate,sample,level,reference,ambiguous\n"
    "d,M,0,self-care,self-care,yes\nd,M,1,primary-care,self-care,\n"
    "e,M,0,emergency,emergency,no\ne,M,1,self-care,emergency,no\n"
    "f,M,0,urgent-care,urgent-care,true\n"
    "g,M,0,urgent-care,urgent-care,\n"
)
VOTES = [
    *(f"d,P{n},1,self-care,80" for n in (1, 2, 3)),
    *(f"e,P{n},1,{level},80" for n, level in enumerate(("self-care", "urgent-care", "emergency"), start=1)),
]


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    benchmark = BenchmarkFactory(slug="bench")
    import_labels(tmp_path / "flagged.csv", FLAGGED)
    vote(tmp_path / "votes.csv", *VOTES)
    return benchmark


def statuses(folder: Path) -> dict[str, str]:
    return {row["case"]: row["panel_status"] for row in rows(folder, "panel_cases")}


def votes_file(folder: Path, text: str = "") -> Path:
    lines = ["case,physician,round,level,certainty", *VOTES, ""]
    return write(folder, "v.csv", text or "\n".join(lines))


def test_files_alone(tmp_path: Path) -> None:
    readings = write(tmp_path, "r.csv", FLAGGED)
    message = run_file(tmp_path, readings, votes=votes_file(tmp_path), ambiguous="flag")
    assert statuses(tmp_path) == {"d": "ambiguous", "e": "clear"}
    # f is flagged and has no votes: it is in no main figure either.
    assert "2 cases ambiguous" in message and "2 cases with a clear reference" in message
    assert {row["case"] for row in rows(tmp_path, "uncertainty_cases")} == {"d", "e"}
    assert [row["n_cases"] for row in rows(tmp_path, "uncertainty") if row["set"] == "ambiguous"] == ["1"]
    # With another rule the flags change nothing.
    run_file(tmp_path, readings, votes=votes_file(tmp_path))
    assert statuses(tmp_path) == {"d": "clear", "e": "ambiguous"}


@pytest.mark.parametrize(
    ("readings", "votes"),
    [
        # A wide file of readings, and of votes: the column is no candidate and no physician.
        ("case,reference,flag,M\nd,self-care,1,self-care\ne,emergency,0,emergency\n", ""),
        (
            "case,reference,M\nd,self-care,self-care\ne,emergency,emergency\n",
            "case,ambiguous,P1,P2,P3\nd,yes,self-care,self-care,self-care\ne,,self-care,urgent-care,emergency\n",
        ),
        (
            "case,reference,M\nd,self-care,self-care\ne,emergency,emergency\n",
            "case,physician,level,flag\n"
            "d,P1,self-care,\nd,P2,self-care,true\nd,P3,self-care,\n"
            "e,P1,self-care,false\ne,P2,urgent-care,\ne,P3,emergency,\n",
        ),
    ],
)
def test_each_shape_of_file(tmp_path: Path, readings: str, votes: str) -> None:
    run_file(tmp_path, write(tmp_path, "w.csv", readings), votes=votes_file(tmp_path, votes), ambiguous="flag")
    assert statuses(tmp_path) == {"d": "ambiguous", "e": "clear"}
    assert {row["candidate"] for row in rows(tmp_path, "acuity")} == {"M"}
    assert [row["n_votes"] for row in rows(tmp_path, "panel")] == ["6"]


def test_wrong_flags_are_refused_by_line(tmp_path: Path) -> None:
    head = "case,candidate,level,reference,ambiguous\n"
    twice = write(tmp_path, "t.csv", f"{head}a,M,self-care,self-care,yes\na,N,self-care,self-care,no\n")
    assert "line 3, ambiguous: The case has a different flag earlier, in line 2." in refusal(tmp_path, twice)
    odd = write(tmp_path, "o.csv", f"{head}a,M,self-care,self-care,perhaps\n")
    assert "“perhaps” is not one of: true, yes, 1" in refusal(tmp_path, odd)
    plain = write(tmp_path, "p.csv", "case,candidate,level,reference\na,M,self-care,self-care\n")
    assert "no file says in a column “ambiguous”" in refusal(tmp_path, plain, ambiguous="flag")
    assert "flag" in refusal(tmp_path, plain, ambiguous="flag:1")


@pytest.mark.django_db
def test_from_an_import_to_a_set_and_its_report(benchmark: Benchmark) -> None:
    flags = dict(SourceLabel.objects.values_list("case__key", "is_flagged"))
    assert flags == {"d": True, "e": False, "f": True, "g": None}
    sign("--ambiguous", "flag")
    assert references() == {
        "d": ("ambiguous", "panel", 0, 0),
        "e": ("clear", "panel", 2, 2),
        "f": ("ambiguous", "direct", 2, 2),
        "g": ("clear", "direct", 2, 2),
    }
    assert ReferenceSet.objects.get().ambiguous.in_words == "flag"
    report = services.create_report(benchmark=benchmark, kind="acuity_uncertainty", parameters={}, at=timezone.now())
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    cases = {row["case"]: row["panel_status"] for row in table_of(report, "panel_cases").dicts()}
    assert cases == {"d": "ambiguous", "e": "clear"}
    sign("--ambiguous", "dispersion:0.75")
    assert {case: own[0] for case, own in references(2).items()} == {
        "d": "clear", "e": "ambiguous", "f": "clear", "g": "clear"
    }  # fmt: skip


@pytest.mark.django_db
def test_the_form_offers_the_flag_where_one_is_stored(benchmark: Benchmark, admin: Client) -> None:
    assert '<option value="flag">' in admin.get("/b/bench/reference-sets/new/").content.decode()
    scale = benchmark.acuity_scales.get()
    sent = {"scale": str(scale.pk), "datasets": "clinic", **RULE, "rule": "flag", "threshold": ""}
    preview = admin.get("/b/bench/reference-sets/preview", sent).content.decode()
    assert "A flag imported with the label" in preview
    answer = admin.post("/b/bench/reference-sets/new/", {**sent, "seen": seen_on(preview)})
    assert answer.status_code == 302
    assert references()["f"] == ("ambiguous", "direct", 2, 2)
    assert "A flag imported with the label" in admin.get("/b/bench/reference-sets/1/").content.decode()
    without = admin.post("/b/bench/reference-sets/new/", {**sent, "rule": "entropy"})
    assert without.status_code == 422 and "This rule needs a threshold." in without.content.decode()
    labels: Any = admin.get("/b/bench/case-acuity/source_labels.csv")
    rows_of_file = b"".join(labels.streaming_content).decode()
    assert [line.rpartition(",")[2] for line in rows_of_file.splitlines()] == [
        "ambiguous", "true", "false", "true", ""
    ]  # fmt: skip
    labels = admin.get("/api/v1/benchmarks/bench/acuity/source-labels/").json()["results"]
    assert [label["ambiguous"] for label in labels] == [True, False, True, None]


@pytest.mark.django_db
def test_without_a_flag_there_is_no_such_rule(tmp_path: Path, client: Client) -> None:
    benchmark = BenchmarkFactory(slug="bench", researcher=None)
    import_labels(tmp_path / "l.csv", "case,reference,level,candidate\na,self-care,self-care,M\n")
    with pytest.raises(CommandError, match="None of the labels in these datasets has a flag"):
        sign("--ambiguous", "flag")
    assert not ReferenceSet.objects.filter(benchmark=benchmark).exists()


@pytest.mark.django_db
def test_a_stored_flag_stays(benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def again(text: str) -> str:
        with pytest.raises(CommandError):
            import_labels(tmp_path / "again.csv", text)
        return capsys.readouterr().err

    head = "case,candidate,sample,level,reference,ambiguous\n"
    assert "“d” is stored with a different flag" in again(f"{head}d,M,0,self-care,self-care,no\n")
    assert "“g” is stored with a different flag, or with none" in again(f"{head}g,M,0,urgent-care,urgent-care,yes\n")
    assert "“new” has a flag but no label in this file" in again(f"{head}new,M,0,urgent-care,,yes\n")
    import_labels(tmp_path / "same.csv", FLAGGED.replace("d,M,0", "d,N,0"))
    call_command(
        "import_votes", str(votes_file(tmp_path, "case,physician,level,flag\ng,P1,self-care,yes\n")),
        "--benchmark", "bench", "--group", "Panel",
    )  # fmt: skip
    assert "Columns that were not read: ambiguous" in "".join(capsys.readouterr())
