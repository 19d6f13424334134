"""`agreement_file --themes`: themes by a map and by names of clusters, by hand; and what is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command


def written(folder: Path) -> dict[str, list[dict[str, str]]]:
    return {path.stem: list(csv.DictReader(io.StringIO(path.read_text("utf-8")))) for path in folder.iterdir()}


def label(item: str, category: str, *votes: bool) -> dict:
    return {
        "item_id": item,
        "binary_labels": list(votes),
        "anonymized_physician_ids": [f"p{number}" for number in range(len(votes))],
        "category": category,
    }


def files(folder: Path) -> tuple[Path, Path]:
    """Four items: two of a cluster with a theme in its name, two of clusters without one."""
    rows = [
        label("1", "cluster:hedging_x", True, True),
        label("2", "cluster:hedging_x", False, False),
        label("3", "cluster:own", True, False),
        label("4", "other", False, True),
    ]
    (folder / "labels.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    verdicts = [{"item_id": item, "criteria_met": item in "14"} for item in "1234"]
    (folder / "j.jsonl").write_text("\n".join(map(json.dumps, verdicts)), "utf-8")
    return folder / "labels.jsonl", folder / "j.jsonl"


def by_hand(folder: Path, map_file: str | None, **options: object) -> dict[str, list[dict[str, str]]]:
    labels, judge = files(folder)
    given: object = ""
    if map_file is not None:
        given = folder / "map.csv"
        Path(str(given)).write_text(map_file, "utf-8")
    call_command(
        "agreement_file", labels, judge=judge, themes=given, out=folder / "out", stdout=io.StringIO(), **options
    )
    return written(folder / "out")


def test_a_map_names_the_themes_and_the_names_of_clusters_do_where_it_is_silent(tmp_path: Path) -> None:
    tables = by_hand(tmp_path, "cluster,theme\ncluster:own,mine\n", minimum_pairs=2)
    assert [(row["theme"], row["n_pairs"]) for row in tables["themes"]] == [
        *(("all", "8"), ("hedging", "4"), ("mine", "2"), ("no theme", "2"), ("weighted", "4"))
    ]
    # The judge gives one answer alone in “mine”, so that it has no balanced F1; “no theme” is none.
    assert tables["themes"][-1]["note"].endswith("; 1 theme excluded: undefined")
    # In hedging the judge and both physicians agree throughout: the judge is equal to both, 100 · (0 + 2/2) / 2.
    hedging = tables["percentiles"][1]
    assert (hedging["f1_balanced"], hedging["percentile"], hedging["n_physicians"]) == ("1.0", "50.0", "2")
    assert {row["judge"] for name in ("themes", "percentiles") for row in tables[name]} == {"j"}


def test_without_a_map_only_the_names_of_clusters_count(tmp_path: Path) -> None:
    tables = by_hand(tmp_path, None)
    assert [row["theme"] for row in tables["themes"]] == ["all", "hedging", "no theme", "weighted"]
    assert tables["percentiles"][1]["note"] == "percentile: 0 of the 2 physicians needed have a figure"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("cluster,topic\na,b\n", "theme"),
        ("cluster,theme\na,b\ncluster:a,c\n", "line 3"),
        ("cluster,theme\na,\n", "line 2"),
    ],
)
def test_a_map_with_a_fault_is_refused_and_nothing_is_written(tmp_path: Path, content: str, fault: str) -> None:
    with pytest.raises(CommandError, match=fault):
        by_hand(tmp_path, content)
    assert not (tmp_path / "out").exists()


def test_what_themes_need(tmp_path: Path) -> None:
    labels, judge = files(tmp_path)
    out = tmp_path / "out"
    with pytest.raises(CommandError, match="needs a judge"):
        call_command("agreement_file", labels, "--themes", out=out)
    with pytest.raises(CommandError, match="about the percentiles"):
        call_command("agreement_file", labels, judge=judge, minimum_pairs=3, out=out)
    with pytest.raises(CommandError, match="1 or more"):
        call_command("agreement_file", labels, "--themes", judge=judge, minimum_pairs=0, out=out)
    assert not out.exists()
