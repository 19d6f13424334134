"""Commands that write into one folder: none replaces a file of another, and the same command replaces its own."""

from __future__ import annotations

import ast
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.agreement.study import Study, coin, make_study, noisy

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=12, candidates=("one", "two", "three"))
    study.group("A", coin(1, "met", "not_met"))
    study.group("B", noisy(study, "A", 2, 0.2))
    study.judge("J", noisy(study, "A", 3, 0.2))
    study.judge("K", noisy(study, "A", 4, 0.3))
    return study


def write(study: Study, command: str, out: Path, *options: str) -> str:
    stdout = StringIO()
    given = {
        "agreement": ["--rater=group:A", "--rater=group:B"],
        "scores": ["--rater=J", "--k=1"],
        "compare_judges": ["--reference=group:A", "--judge=J", "--judge=K"],
        "item_analysis": ["--rater=group:A", "--rater=J"],
        "label_budget": ["--judge=J", "--reference=group:A", "--half-width=5"],
    }
    arguments = [f"--benchmark={study.benchmark.slug}", f"--out={out}", *given[command], *options]
    call_command(command, *arguments, stdout=stdout)
    return stdout.getvalue()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# Those that need no physicians with pseudonyms.
COMMANDS = ("agreement", "scores", "compare_judges", "item_analysis", "label_budget")


@pytest.mark.slow
def test_commands_that_share_a_folder_lose_no_file(study: Study, tmp_path: Path) -> None:
    before: dict[str, bytes] = {}
    for command in COMMANDS:
        write(study, command, tmp_path)
        now = contents(tmp_path)
        assert {name: now[name] for name in before} == before, f"{command} replaced a file of another command"
        assert len(now) > len(before)
        before = now
    raters = {name for name in before if name.endswith("raters.csv")}
    assert raters == {"agreement_raters.csv", "scores_raters.csv", "comparison_raters.csv", "item_raters.csv"}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_writes_its_own_files_again_and_says_so(study: Study, command: str, tmp_path: Path) -> None:
    first = write(study, command, tmp_path)
    assert "(replaced)" not in first
    again = write(study, command, tmp_path)
    named = again.rpartition("Written to")[2]
    assert named.count("(replaced)") == len(contents(tmp_path))


@pytest.mark.parametrize(
    ("command", "name"),
    [("agreement", "agreement.csv"), ("scores", "scores.csv"), ("item_analysis", "physicians.csv")],
)
def test_a_file_of_something_else_stops_the_command_before_it_writes(
    study: Study, command: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text("physician,n\nsomebody,3\n", encoding="utf-8")
    kept = contents(tmp_path)
    with pytest.raises(CommandError, match=f"Nothing was written: .*{name}.*--overwrite"):
        write(study, command, tmp_path)
    assert contents(tmp_path) == kept
    write(study, command, tmp_path, "--overwrite")
    assert contents(tmp_path)[name] != kept[name]


@pytest.mark.slow
def test_json_with_other_keys_stops_the_command(study: Study, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps({"mine": 1}), encoding="utf-8")
    with pytest.raises(CommandError, match=r"plan\.json"):
        write(study, "label_budget", tmp_path)
    (tmp_path / "plan.json").write_text("no JSON", encoding="utf-8")
    with pytest.raises(CommandError, match=r"plan\.json"):
        write(study, "label_budget", tmp_path)
    assert contents(tmp_path) == {"plan.json": b"no JSON"}


def test_labels_from_files_and_from_a_benchmark_do_not_replace_each_other(study: Study, tmp_path: Path) -> None:
    labels, judge, out = tmp_path / "labels.jsonl", tmp_path / "judge.jsonl", tmp_path / "out"
    rows = [
        {"prompt_id": f"p{i}", "item_id": f"i{i}", "category": "c", "binary_labels": [True, i % 2 == 0],
         "anonymized_physician_ids": ["x", "y"]}
        for i in range(12)
    ]  # fmt: skip
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    judge.write_text(
        "".join(json.dumps({"item_id": f"i{i}", "criteria_met": i % 3 > 0}) + "\n" for i in range(12)), encoding="utf-8"
    )
    call_command("agreement_file", str(labels), judge=judge, out=out, stdout=StringIO())
    kept = contents(out)
    for command in ("agreement", "item_analysis"):
        with pytest.raises(CommandError, match=r"agreement\.csv|physicians\.csv"):
            write(study, command, out)
    assert contents(out) == kept


@pytest.mark.slow
def test_a_report_does_not_replace_the_files_of_another(study: Study, tmp_path: Path) -> None:
    def report(kind: str, *given: str, **options: object) -> None:
        call_command(
            "report", benchmark=study.benchmark.slug, kind=kind, param=list(given), out=tmp_path / "paper",
            stdout=StringIO(), **options,
        )  # fmt: skip

    report("scores", "rater=J", "k=1")
    kept = (tmp_path / "paper" / "report.json").read_bytes()
    for other in (("agreement", "rater_a=group:A", "rater_b=J"), ("scores", "rater=K", "k=1")):
        with pytest.raises(CommandError, match="another report"):
            report(*other)
        assert (tmp_path / "paper" / "report.json").read_bytes() == kept
    report("scores", "rater=J", "k=1", seed=2)
    report("scores", "rater=K", "k=1", overwrite=True)
    assert json.loads((tmp_path / "paper" / "report.json").read_text())["parameters"]["rater"] == "K"


def test_every_command_with_a_folder_of_tables_writes_through_the_same_guard() -> None:
    """No command writes a CSV into its folder by itself; those called ``export_…`` write one file."""
    for path in ROOT.glob("*/management/commands/*.py"):
        called = {
            node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
        }
        if not path.name.startswith("export_"):
            assert "write_csv" not in called, path
        if "add_out_arguments" in called:
            assert "write_text" not in called, path


def test_the_tour_gives_each_command_a_folder_of_its_own() -> None:
    lines = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8").splitlines()
    folders = [
        line.rpartition("--out ")[2].split()[0]
        for line in lines
        if line.startswith("    manage.py") and "--out " in line
    ]
    assert len(folders) > 5 and len(set(folders)) == len(folders)
