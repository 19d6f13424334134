"""`replicate`: the tables and figures of a paper from a small study, each number as in the report that it is from."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from sklearn.metrics import f1_score

from agreement.models import Replication, Report
from agreement.replication.manifest import ANY, Artefact
from agreement.replication.papers import PAPERS
from agreement.reports.stored import table_of
from annotation.models import Decision
from consilium.core.ratings import Reads
from tests.agreement.study import Study, coin, make_study, noisy
from tests.factories import BenchmarkFactory, CandidateFactory, ResponseFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

CODES = {"not_met": 0, "met": 1}
N_TABLES = 21  # of ClinConsensus, from the study below


def full_study() -> Study:
    """Two groups, two judges, three models and physicians, whose responses have all criteria."""
    ResponseFactory.reset_sequence(0)  # responses of several lengths, whatever ran before
    study = make_study(cases=12, points=(1,) * 6, candidates=("one", "two", "three"))
    physician = CandidateFactory(benchmark=study.benchmark, name="doctor", kind="physician")
    for case in study.benchmark.cases.order_by("pk"):
        ResponseFactory(case=case, candidate=physician, writing_mode="unaided")
    study.group("A", coin(1, "met", "not_met"))
    study.group("B", noisy(study, "A", 2, 0.2))
    study.judge("J", noisy(study, "A", 3, 0.1))
    study.judge("K", noisy(study, "A", 4, 0.3))
    return study


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    return full_study()


def replicate(study: Study, out: Path, *options: str, paper: str = "clinconsensus") -> str:
    stdout = StringIO()
    call_command(
        *("replicate", f"--benchmark={study.benchmark.slug}", f"--paper={paper}", f"--out={out}", *options),
        stdout=stdout,
    )
    return stdout.getvalue()


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def by_artefact(out: Path) -> dict[str, dict[str, str]]:
    return {row["artefact"]: row for row in rows(out / "artefacts.csv")}


def expected_rows(artefact: Artefact, report: Report) -> list[dict[str, Any]]:
    """What the artefact shows of a report, by the report's own table."""

    def is_wanted(row: dict[str, Any]) -> bool:
        return all(
            any(
                str(row[name]) == pattern or (pattern[-1:] == ANY and str(row[name]).startswith(pattern[:-1]))
                for pattern in values
            )
            for name, values in artefact.where.items()
        )

    first = {artefact.by: report.parameters[artefact.by]} if artefact.by else {}
    return [
        {**first, **{name: row[name] for name in artefact.columns}}
        for row in table_of(report, artefact.table).dicts()
        if is_wanted(row)
    ]


def assert_same_as_reports(out: Path, paper: str) -> int:
    """Every number of every artefact is that of its report; the number of artefacts that have a table."""
    n_tables = 0
    for artefact in PAPERS[paper].artefacts:
        own = by_artefact(out)[artefact.key]
        path = out / artefact.key / f"{artefact.key}.csv"
        assert path.exists() == (own["state"] in ("made", "in part"))
        if not path.exists():
            continue
        n_tables += 1
        reports = [Report.objects.get(public_id=public_id) for public_id in own["reports"].split()]
        expected = [row for report in reports for row in expected_rows(artefact, report)]
        table = rows(path)
        assert len(table) == len(expected) > 0
        for row, expected_row in zip(table, expected, strict=True):
            for name, value in expected_row.items():
                if value is None:
                    assert row[name] == ""
                elif isinstance(value, bool):
                    assert row[name] == str(value).lower()
                elif isinstance(value, str):
                    assert row[name] == value
                else:
                    assert float(row[name]) == value
        for name in own["files"].split():
            assert (out / name).stat().st_size > 0
    return n_tables


def test_every_number_is_that_of_its_report_and_every_file_is_there(study: Study, tmp_path: Path) -> None:
    output = replicate(study, tmp_path / "out")
    out = tmp_path / "out"
    assert [row["artefact"] for row in rows(out / "artefacts.csv")] == [
        artefact.key for artefact in PAPERS["clinconsensus"].artefacts
    ]
    assert assert_same_as_reports(out, "clinconsensus") == N_TABLES
    assert "artefacts.csv" in output
    states = {key: row["state"] for key, row in by_artefact(out).items()}
    assert states == {
        **dict.fromkeys(("benchmarks", "method", "prompt", "training"), "not made from data"),
        **dict.fromkeys(("cohort", "tasks", "stages", "specialties", "registers"), "lacks data"),
        **dict.fromkeys(("failures", "failures-agreement", "failures-coverage", "composition-cross"), "lacks data"),
        **dict.fromkeys(("calibration", "writing-modes", "distribution", "judge-error", "overall", "gap"), "made"),
        **dict.fromkeys(("physicians", "groups", "fidelity", "dual-judge", "length", "difficulty"), "made"),
        **dict.fromkeys(("fidelity-judges", "both-sides", "cases-around-k"), "made"),
        # No case has a specialty or a task, and all have the same number of criteria.
        **dict.fromkeys(("composition", "composition-rubrics"), "in part"),
        # Of three candidates all are among the first three and five.
        **dict.fromkeys(("sensitivity", "fidelity-ranks", "graders"), "in part"),
        "cacs-by-k": states["cacs-by-k"],
    }
    # Nothing that lacks data is without a reason, and what can be had names the next step.
    for row in by_artefact(out).values():
        assert bool(row["missing"]) == (row["state"] != "made")
    assert "into a new benchmark" in by_artefact(out)["tasks"]["next_step"]
    overview = (out / "README.md").read_text("utf-8")
    n_from_data = len(states) - 4
    assert f"Of {n_from_data} tables and figures, {list(states.values()).count('made')} are made" in overview
    assert "\n- Prompt of the judge: It is a text.\n" in overview
    assert output.splitlines()[-2].endswith(
        f"{list(states.values()).count('lacks data')} lack data; 4 others are not made from data"
    )
    assert "(fidelity/fidelity.csv)" in overview
    assert (out / "fidelity" / "fidelity.tex").read_text("utf-8").count("\\label{tab:clinconsensus-fidelity}") == 1
    kept = json.loads((out / "replication.json").read_text("utf-8"))
    assert {"kind": "fidelity", "seed": 0, "interval": "jackknife"}.items() <= kept["reports"][
        by_artefact(out)["fidelity"]["reports"].split()[0]
    ].items()


def test_the_figures_are_those_of_independent_code(study: Study, tmp_path: Path) -> None:
    replicate(study, tmp_path / "out")
    fidelity = {(row["judge"], row["slice"]): row for row in rows(tmp_path / "out" / "fidelity" / "fidelity.csv")}
    for judge in ("J", "K"):
        for column, group in (("mf1_judge_a", "A"), ("mf1_judge_b", "B")):
            pairs = list(study.outcomes["A"])
            reference = [CODES[study.outcomes[group][pair]] for pair in pairs]
            verdicts = [CODES[study.outcomes[judge][pair]] for pair in pairs]
            expected_row = f1_score(reference, verdicts, average="macro")
            assert float(fidelity[judge, "all"][column]) == pytest.approx(expected_row)
    # Every criterion has one point, so that the score of a response is the share of its criteria that are met.
    overall = {row["candidate"]: row for row in rows(tmp_path / "out" / "overall" / "overall.csv")}
    for name in ("one", "two", "three", "doctor"):
        own = [response.pk for response in study.responses() if response.candidate.name == name]
        shares = [
            fmean(CODES[outcome] for (response, _c), outcome in study.outcomes["J"].items() if response == pk)
            for pk in own
        ]
        assert float(overall[name]["rubric_accuracy"]) == pytest.approx(100 * fmean(shares))


def test_a_second_time_the_reports_are_used_again_until_the_data_change(study: Study, tmp_path: Path) -> None:
    replicate(study, tmp_path / "out")
    reports = set(Report.objects.values_list("public_id", flat=True))
    # Calibration, scores, agreement, fidelity of each judge and of both, comparison, composition, cohort.
    assert len(reports) == 9
    replicate(study, tmp_path / "out")
    assert set(Report.objects.values_list("public_id", flat=True)) == reports
    decision = Decision.objects.filter(assignment__batch__group__name="A", outcome="met").order_by("pk")[0]
    Decision.objects.filter(pk=decision.pk).update(outcome="not_met")
    replicate(study, tmp_path / "out")
    assert Report.objects.count() == 9 + 7  # composition and cohort rest on no decision
    assert reports.isdisjoint(by_artefact(tmp_path / "out")["fidelity"]["reports"].split())
    assert assert_same_as_reports(tmp_path / "out", "clinconsensus") == N_TABLES


def test_what_is_missing_is_named_with_the_next_step(tmp_path: Path) -> None:
    study = make_study(cases=3, points=(1, 1))
    study.group("A", coin(1, "met", "not_met"))
    replicate(study, tmp_path / "out")
    table = by_artefact(tmp_path / "out")
    assert table["fidelity"]["state"] == "lacks data"
    assert table["fidelity"]["missing"] == "No judge has a finished run."
    assert f"manage.py judge --benchmark {study.benchmark.slug} --judge JUDGE" in table["fidelity"]["next_step"]
    assert table["groups"]["missing"] == "Only one expert group has submitted work; two are needed."
    assert table["calibration"]["missing"] == "No physician has written responses."
    assert table["overall"]["state"] == "in part"
    assert "k has been neither calibrated nor signed." in table["overall"]["missing"]
    assert Report.objects.filter(kind="scores").get().parameters["rater"] == "group:A@checked"
    assert not Report.objects.exclude(status="done").exists()


@pytest.mark.parametrize("paper", list(PAPERS))
def test_an_empty_benchmark_lacks_data_for_everything(paper: str, tmp_path: Path) -> None:
    benchmark = BenchmarkFactory()
    call_command(
        *("replicate", "--benchmark", benchmark.slug, "--paper", paper, "--out", str(tmp_path / "out")),
        stdout=StringIO(),
    )
    table = by_artefact(tmp_path / "out")
    assert all(row["missing"] for row in table.values())
    for artefact in PAPERS[paper].artefacts:
        state = "lacks data" if artefact.is_made_here else "not made from data"
        assert table[artefact.key]["state"] == state
        if artefact.is_made_here:
            assert table[artefact.key]["next_step"]
    assert not Report.objects.exists()


def test_a_report_that_fails_says_why_and_leaves_the_lists(tmp_path: Path) -> None:
    study = make_study(cases=3, points=(1, 1))
    physician = CandidateFactory(benchmark=study.benchmark, name="doctor", kind="physician")
    study.group("A", coin(1, "met", "not_met"))  # before there is a response of a physician: nobody has graded it
    ResponseFactory(case=study.benchmark.cases.order_by("pk")[0], candidate=physician, writing_mode="unaided")
    replicate(study, tmp_path / "out")
    own = by_artefact(tmp_path / "out")["calibration"]
    assert own["state"] == "lacks data"
    assert own["missing"].startswith("The report could not be computed: ")
    assert "A group must grade them in full" in own["next_step"]
    failed = Report.objects.get(kind="calibration")
    assert failed.status == "failed"
    assert failed.archived_at is not None
    assert own["missing"].startswith(f"The report could not be computed: {failed.error}")


def test_options_choose_judges_groups_and_the_threshold(study: Study, tmp_path: Path) -> None:
    replicate(study, tmp_path / "out", "--judge=K", "--group=B", "--group=A", "--k=2", "--seed=5")
    scores = Report.objects.get(kind="scores")
    assert (scores.parameters["rater"], scores.parameters["k"], scores.seed) == ("K", 2, 5)
    assert scores.parameters["also"] == ["group:B@checked", "group:A@checked"]
    fidelity = Report.objects.get(kind="fidelity")
    assert (fidelity.parameters["judge"], fidelity.parameters["group_a"]) == ("K", "group:B@checked")
    assert by_artefact(tmp_path / "out")["dual-judge"]["missing"] == (
        "Only one judge has a finished run; two are needed."
    )
    for option, text in (
        ("--judge=nobody", "--judge: "),
        ("--judge=group:A", "--judge: “group:A” is not a judge."),
        ("--group=Z", "--group: "),
        ("--candidate=one", "--candidate: “one” is not a candidate of the kind physician."),
        ("--k=-1", "--k: "),
    ):
        with pytest.raises(CommandError, match=text):
            replicate(study, tmp_path / "other", option)
    assert not (tmp_path / "other").exists()


def test_a_folder_with_other_files_is_left_alone(study: Study, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    with pytest.raises(CommandError, match="has other files"):
        replicate(study, out)
    assert [path.name for path in out.iterdir()] == ["notes.txt"]
    assert not Report.objects.exists()
    assert not Replication.objects.exists()
    replicate(study, out, "--overwrite")
    assert (out / "notes.txt").read_text() == "mine"
    with pytest.raises(CommandError, match="has other files"):
        replicate(study, out, paper="healthbench")
    # The same paper again replaces its own files, and removes those that it does not make any more.
    assert (out / "dual-judge" / "dual-judge.csv").exists()
    replicate(study, out, "--judge=J")
    assert not (out / "dual-judge" / "dual-judge.csv").exists()
    assert (out / "fidelity" / "fidelity.csv").exists()
    assert (out / "notes.txt").read_text() == "mine"


def test_published_values_stand_beside_ours(study: Study, tmp_path: Path) -> None:
    published = tmp_path / "published.csv"
    published.write_text(
        "artefact,row,column,value,source\n"
        'fidelity,J / all,mf1_ceiling,0.5,"Table 9"\n'
        "overall,two,cacs_at_k,30,\n"
        "overall,seven,cacs_at_k,31.5,somewhere\n"
    )
    replicate(study, tmp_path / "out", f"--published={published}")
    beside = {(row["artefact"], row["row"]): row for row in rows(tmp_path / "out" / "published.csv")}
    fidelity = next(
        row
        for row in rows(tmp_path / "out" / "fidelity" / "fidelity.csv")
        if (row["judge"], row["slice"]) == ("J", "all")
    )
    own = beside["fidelity", "J / all"]
    assert own["ours"] == fidelity["mf1_ceiling"]
    assert float(own["difference"]) == pytest.approx(float(fidelity["mf1_ceiling"]) - 0.5)
    assert (own["published"], own["source"], own["note"]) == ("0.5", "Table 9", "")
    missing = beside["overall", "seven"]
    assert (missing["ours"], missing["difference"], missing["note"]) == ("", "", "no row of this name here")
    # Without a file, the values of the last time stay.
    replicate(study, tmp_path / "out")
    assert len(rows(tmp_path / "out" / "published.csv")) == 3


def test_bad_lines_of_published_values_are_named_by_line_and_field(study: Study, tmp_path: Path) -> None:
    published = tmp_path / "published.csv"
    published.write_text(
        "artefact,row,column,value,source\n"
        "nothing,one,cacs_at_k,1,\n"
        "overall,one,kappa,1,\n"
        "overall,one,cacs_at_k,many,\n"
        "overall,one,pass_at_k,0.5,\n"
        "overall,one,pass_at_k,0.6,\n"
        "prompt,all,n,3,\n"
        "overall,,cacs_at_k,nan,\n"
    )
    with pytest.raises(CommandError) as refused:
        replicate(study, tmp_path / "out", f"--published={published}")
    text = str(refused.value)
    for part in (
        "line 2, artefact:",
        "line 3, column:",
        "line 4, value: This is not a number.",
        "line 6, row: Line 5 has a value of the same row and column.",
        "line 7, artefact:",
        "line 8, row:",
        "line 8, value:",
    ):
        assert part in text
    assert "line 5," not in text
    assert not (tmp_path / "out").exists()
    assert not Replication.objects.exists()
    published.write_text("artefact,column,value\n")
    with pytest.raises(CommandError, match="line 1, row: This column is not in the header"):
        replicate(study, tmp_path / "out", f"--published={published}")


def test_published_values_are_in_the_unit_of_their_column(study: Study, tmp_path: Path) -> None:
    published = tmp_path / "published.csv"
    header = "artefact,row,column,value\n"
    published.write_text(
        header + "overall,one,pass_at_k,71\n"
        "overall,one,cacs_at_k,0.71\n"
        "overall,two,cacs_at_k,710\n"
        "overall,two,n,71%\n"
        "fidelity,J / all,mf1_ceiling,171%\n"
        "fidelity,J / all,mf1_mean_low,-1.5\n"
    )
    with pytest.raises(CommandError) as refused:
        replicate(study, tmp_path / "out", f"--published={published}")
    for part in (
        "line 2, value: This column is on a scale of 1: write 0.71, or 71%.",
        "line 3, value: This column is on a scale of 100: write 71, or 0.71% if that is meant.",
        "line 4, value: A value of this column is at most 100.",
        "line 5, value: A value of this column is not a percentage.",
        "line 6, value: A value of this column is at most 100%.",
        "line 7, value: This column is on a scale of 1: write -0.015, or -1.5%.",
    ):
        assert part in str(refused.value)
    published.write_text(
        header + "overall,one,pass_at_k,71%\n"
        "overall,one,cacs_at_k,0.71%\n"
        "overall,two,cacs_at_k,71 %\n"
        "overall,two,rubric_accuracy,0\n"
        "overall,two,n,710\n"
    )
    replicate(study, tmp_path / "out", f"--published={published}")
    beside = rows(tmp_path / "out" / "published.csv")
    assert [row["published"] for row in beside] == ["0.71", "0.71", "71.0", "0.0", "710.0"]


def test_values_that_come_with_the_product_name_their_sources(study: Study, tmp_path: Path) -> None:
    for candidate in study.candidates[:1]:
        type(candidate).objects.filter(pk=candidate.pk).update(name="o3")
    replicate(study, tmp_path / "out", paper="healthbench")
    beside = {row["row"]: row for row in rows(tmp_path / "out" / "published.csv") if row["artefact"] == "overall"}
    assert beside["o3"]["published"] == "0.6"
    ours = {row["candidate"]: row for row in rows(tmp_path / "out" / "overall" / "overall.csv")}["o3"]["rubric_score"]
    assert beside["o3"]["ours"] == ours
    assert all("arXiv" in row["source"] for row in beside.values())


def test_the_time_of_the_replication_is_kept(study: Study, tmp_path: Path) -> None:
    before = timezone.now()
    replicate(study, tmp_path / "out")
    replication = Replication.objects.get()
    assert replication.status == "done"
    assert replication.finished_at is not None
    assert before < replication.finished_at
    assert set(Report.objects.values_list("replication", flat=True)) == {replication.pk}


def test_nothing_is_read_twice_to_see_whether_reports_are_up_to_date(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replicate(study, tmp_path / "out")
    queries: list[str] = []
    keep = Reads.keep
    monkeypatch.setattr(Reads, "keep", lambda reads, query, arrays: queries.append(query) or keep(reads, query, arrays))
    replicate(study, tmp_path / "out")
    assert sum("annotation_decision" in query for query in queries) >= 2  # one of each group at least
    assert len(queries) == len(set(queries))
