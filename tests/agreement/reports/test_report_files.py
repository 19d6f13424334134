"""All files of a report: by the page, by the API and by the command the same bytes, and what a paper needs in them."""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from zipfile import ZipFile

import pandas as pd
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.calibration.thresholds import sign_threshold
from agreement.models import Report
from agreement.reports import files, sentences
from agreement.reports.frames import report_frames
from agreement.reports.stored import table_names, table_of
from agreement.writers.stata import stata_names
from tests.agreement.study import Study, coin, make_study, noisy

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=11, points=(1, 1, 1))
    study.group("A", coin(1, "met", "not_met", "met", "cannot_assess"))
    study.judge("echo", noisy(study, "A", 3, 0.1))
    return study


@pytest.fixture
def report(study: Study) -> Report:
    report = services.create_report(
        benchmark=study.benchmark,
        kind="agreement",
        parameters={"rater_a": "group:A", "rater_b": "echo"},
        seed=4,
        by=study.admin,
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    return report


@pytest.fixture
def client(study: Study) -> Client:
    client = Client()
    client.force_login(study.admin)
    return client


def fetched(client: Client, address: str) -> bytes:
    response = client.get(address)
    assert response.status_code == 200, address
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_one_archive_has_it_all_the_same_bytes_by_page_api_and_command(
    report: Report, client: Client, tmp_path: Path
) -> None:
    slug, out = report.benchmark.slug, tmp_path / "report.zip"
    page = f"/b/{slug}/agreement/{report.public_id}/"
    packed = fetched(client, f"{page}report.zip")
    client.cookies["django_language"] = "zh-hans"  # whoever asks, in whatever language
    assert fetched(client, f"/api/v1/benchmarks/{slug}/reports/{report.public_id}/report.zip") == packed
    stdout = io.StringIO()
    call_command("report", f"--benchmark={slug}", f"--id={report.public_id}", f"--out={out}", stdout=stdout)
    assert out.read_bytes() == packed
    assert "Up to date" in stdout.getvalue()

    with ZipFile(io.BytesIO(packed)) as archive:
        read = {name: archive.read(name) for name in archive.namelist()}
    figures = [
        f"figures/{name}.{ending}" for name in ("candidates", "distribution") for ending in ("svg", "png", "pdf")
    ]
    assert list(read) == [
        *("methods.md", "methods.tex", "methods.txt", "report.json", "report.xlsx"),
        *(f"tables/{name}.{ending}" for name in table_names(report) for ending in ("csv", "xlsx", "tex", "md", "dta")),
        *figures,
        "SHA256SUMS",
    ]
    for name in (name for name in read if name.startswith("tables/")):
        assert read[name] == fetched(client, f"{page}{name}"), name
    assert read["report.xlsx"] == fetched(client, f"{page}report.xlsx")
    sums = dict(reversed(line.split("  ")) for line in read.pop("SHA256SUMS").decode().splitlines())
    assert sums == {name: hashlib.sha256(data).hexdigest() for name, data in read.items()}
    metadata = json.loads(read["report.json"])
    assert (metadata["kind"], metadata["seed"], metadata["input_digest"], metadata["software"]) == (
        "agreement", 4, report.input_digest, report.software,
    )  # fmt: skip
    assert metadata["parameters"] == {"rater_a": "group:A@checked", "rater_b": "echo"}
    assert {"rater", "prompt_hash", "run"} <= metadata["facts"]["raters"][0].keys()
    assert read["figures/candidates.pdf"].startswith(b"%PDF-")
    assert b"var(--" not in read["figures/candidates.svg"]


def test_the_methods_name_rule_stage_n_exclusion_intervals_software_and_sources(report: Report, client: Client) -> None:
    page = f"/b/{report.benchmark.slug}/agreement/{report.public_id}/"
    methods = fetched(client, f"{page}methods.txt").decode()
    facts = report.result["facts"]
    for words in (
        "The decisions of the judge echo were compared with those of group A (after any secondary check), the",
        f"benchmark {report.benchmark.title}",
        "counts as the opposite of the reference in MF1",
        "that a rater could not assess",
        f"run {facts['runs'][0]}",
        "verdicts made elsewhere and imported",
        "each figure was computed without each case in turn",
        "Tukey 1958: Bias and confidence in not-quite large samples (abstract).",
        "Lancaster 1961: Significance tests in discrete distributions.",
        report.software,
        report.input_digest,
        "Cohen 1960: A coefficient of agreement for nominal scales.",
        "Gwet 2008: Computing inter-rater reliability",
    ):
        assert words in methods
    assert "Calderon" not in methods  # only what is named is listed
    assert "Efron" not in methods and "seed" not in methods  # nothing was drawn
    assert methods.split("\n\n")[0] in client.get(page).content.decode().replace("&#x27;", "'")
    assert "\\paragraph{" in fetched(client, f"{page}methods.tex").decode()


def test_the_methods_say_whether_k_was_signed_when_the_report_was_asked_for(study: Study) -> None:
    before = Report(benchmark=study.benchmark, created_at=timezone.now())
    sign_threshold(
        benchmark=study.benchmark, k=2, report=None, reason="from a pilot", seen=0, by=study.admin, at=timezone.now()
    )
    after = Report(benchmark=study.benchmark, created_at=timezone.now())
    assert "no threshold was signed" in sentences.threshold(before, 2)
    assert "k = 2 was signed for the benchmark on" in sentences.threshold(after, 2)
    assert "is not the one signed for the benchmark (k = 2, version 1" in sentences.threshold(after, 3)


def test_every_format_of_a_table_by_page_and_api(report: Report, client: Client) -> None:
    slug = report.benchmark.slug
    page = f"/b/{slug}/agreement/{report.public_id}/"
    endpoint = f"/api/v1/benchmarks/{slug}/reports/{report.public_id}/"
    for ending, beginning in (("csv", b"slice,"), ("tex", b"% \\usepackage{booktabs}"), ("md", b"**"), ("xlsx", b"PK")):
        data = fetched(client, f"{page}tables/candidates.{ending}")
        assert data.startswith(beginning)
        assert fetched(client, f"{endpoint}tables/candidates.{ending}") == data
    assert fetched(client, f"{page}report.xlsx") == fetched(client, f"{endpoint}report.xlsx")
    assert client.get(f"{page}tables/nothing.tex").status_code == 404
    assert client.get(f"{page}tables/candidates.exe").status_code == 404
    assert client.get(f"{page}figures/nothing.pdf").status_code == 404
    for query, name in (("width=85", "candidates-85mm.svg"), ("width=174&grey=1", "candidates-174mm-grey.svg")):
        response = client.get(f"{page}figures/candidates.svg?{query}")
        assert response["Content-Disposition"] == f'attachment; filename="{name}"'
        assert client.get(f"{endpoint}figures/candidates.svg?{query}").content == response.content
        assert f"{page}figures/candidates.svg?{query.replace('&', '&amp;')}" in client.get(page).content.decode()
    for wrong in ("width=90", "grey=2", "width=x"):
        assert client.get(f"{page}figures/candidates.svg?{wrong}").status_code == 404
        assert client.get(f"{endpoint}figures/candidates.svg?{wrong}").status_code == 400
    rows = client.get(f"{endpoint}tables/agreement/?limit=2&offset=1").json()
    assert (len(rows["results"]), rows["count"]) == (2, report.tables.get(name="agreement").n_rows)
    assert rows["results"][0]["slice"] == "candidate:alpha"
    assert "offset=3" in rows["next"]
    assert client.get(endpoint).json()["figures"] == ["candidates", "distribution"]
    assert client.get(f"{endpoint}methods/").json()["text"] == fetched(client, f"{page}methods.txt").decode()


def test_every_table_for_stata_and_for_notebooks(report: Report, client: Client) -> None:
    page = f"/b/{report.benchmark.slug}/agreement/{report.public_id}/"
    endpoint = f"/api/v1/benchmarks/{report.benchmark.slug}/reports/{report.public_id}/"
    frames = report_frames(report)
    assert list(frames) == table_names(report)
    words = " ".join(client.get(page).content.decode().split())
    for name, frame in frames.items():
        table = table_of(report, name)
        assert (tuple(frame.columns), len(frame)) == (table.columns, len(table.rows))
        assert f'href="{page}tables/{name}.dta" download >Stata</a>' in words
        data = fetched(client, f"{page}tables/{name}.dta")
        assert fetched(client, f"{endpoint}tables/{name}.dta") == data
        of_stata = pd.read_stata(io.BytesIO(data)).rename(
            columns={new: own for own, new in stata_names(table.columns).items()}
        )
        assert tuple(of_stata.columns) == table.columns
        for place, column in enumerate(table.columns):
            is_text = frame[column].dtype == "string"
            missing = "" if is_text else None
            values = [None if row[place] == "" and not is_text else row[place] for row in table.rows]
            assert [None if pd.isna(value) else value for value in frame[column]] == values
            read = [missing if pd.isna(value) else value for value in of_stata[column]]
            assert read == [missing if value is None else value for value in values]
    assert client.get(f"{page}tables/nothing.dta").status_code == 404
    response = client.get(f"{page}tables/agreement.dta")
    assert response["Content-Type"] == "application/x-stata-dta"
    assert response["Content-Disposition"] == 'attachment; filename="agreement.dta"'


def test_a_table_too_large_for_a_workbook_of_all_is_named_in_it(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST_SHEET", 19)

    def words(*names: str) -> str:
        with files.workbook(report, *names) as file, ZipFile(file) as book:
            return "".join(book.read(name).decode() for name in book.namelist() if name.endswith(".xml"))

    everything, alone = words(), words("agreement")
    n = len(table_of(report, "agreement").rows)
    assert n > 19
    assert f"Left out here: agreement, {n} rows. See agreement.csv." in everything
    assert 'name="agreement"' not in everything
    assert 'name="candidates"' in everything
    assert 'name="agreement"' in alone
    with files.archive(report) as packed, ZipFile(packed) as archive:
        names = archive.namelist()
    assert [name for name in names if name.startswith("tables/agreement.")] == ["tables/agreement.csv"]
    assert "tables/candidates.tex" in names


def test_the_command_computes_any_kind_and_refuses_in_words(study: Study, tmp_path: Path) -> None:
    slug, stdout = f"--benchmark={study.benchmark.slug}", io.StringIO()
    call_command(
        "report", slug, "--kind=scores", "--param=rater=echo", "--param=k=2", f"--out={tmp_path}", stdout=stdout
    )
    report = Report.objects.get()
    assert (report.kind, report.status, report.parameters["k"]) == ("scores", "done", 2)
    assert "Scores by echo, k = 2" in stdout.getvalue()
    assert (tmp_path / "tables" / "scoreboard.csv").read_text().startswith("candidate,")
    assert "SHA256SUMS" in os.listdir(tmp_path)
    for given, words in (
        (["--kind=scores", "--param=rater"], "NAME=VALUE"),
        (["--kind=scores", "--param=k=2"], "“rater” is missing"),
        (["--kind=scores", "--param=rater=nobody", "--param=k=2"], "“rater”: “nobody”"),
        (["--kind=scores", "--param=rater=echo", "--param=k=2", "--param=q=1"], "does not accept the parameter q"),
        (["--id=none"], "no report"),
    ):
        with pytest.raises(CommandError, match=words):
            call_command("report", slug, *given)


def test_the_note_below_a_printed_table_names_the_jury_that_did_not_agree(study: Study) -> None:
    study.judge("other", noisy(study, "A", 8, 0.4))
    report = services.create_report(
        benchmark=study.benchmark,
        kind="agreement",
        parameters={"rater_a": "group:A", "rater_b": "jury:echo+other"},
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    n = table_of(report, "candidates").dicts()[0]["n_undecided_by_judge"]
    assert n
    for name, ending in (("agreement", "md"), ("agreement", "tex"), ("candidates", "md")):
        text = b"".join(
            part if isinstance(part, bytes) else part.encode() for part in files.table_text(report, name, ending)
        ).decode()
        assert f"{n} pairs on which the jury did not agree" in text
        assert "on which the judge did not agree" not in text
