"""`agreement --rater --rater` from decisions in the database to agreement.csv."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from sklearn.metrics import f1_score

from annotation.models import Decision
from tests.agreement.study import Study, coin, make_study, noisy

pytestmark = pytest.mark.django_db

CODES = {"not_met": 0, "met": 1}


def command(slug: str, *raters: str, out: Path, interval: str = "jackknife", seed: int = 0) -> None:
    chosen = [part for rater in raters for part in ("--rater", rater)]
    call_command(
        "agreement", "--benchmark", slug, *chosen, "--out", str(out), "--interval", interval, "--seed", str(seed)
    )


def run(study: Study, a: str, b: str, out: Path, **options: Any) -> dict[str, dict[str, str]]:
    command(study.benchmark.slug, a, b, out=out, **options)
    with (out / "agreement.csv").open(encoding="utf-8", newline="") as file:
        return {row["slice"]: row for row in csv.DictReader(file)}


@pytest.mark.slow
def test_groups_have_the_mf1_of_scikit_learn_pooled_and_in_every_slice(tmp_path: Path) -> None:
    study = make_study()
    study.group("A", coin(1, "met", "met", "not_met", "cannot_assess"))
    study.group("B", noisy(study, "A", 2, 0.2))
    rows = run(study, "group:A", "group:B", tmp_path)
    responses = {response.pk: response for response in study.responses()}
    pairs = [
        (pair, CODES[study.outcomes["A"][pair]], CODES[study.outcomes["B"][pair]])
        for pair in study.outcomes["A"]
        if "cannot_assess" not in (study.outcomes["A"][pair], study.outcomes["B"][pair])
    ]
    assert int(rows["all"]["n_pairs"]) == len(pairs)
    assert int(rows["all"]["n_cannot"]) == len(study.outcomes["A"]) - len(pairs)
    expected = {"all": pairs}
    for pair, a, b in pairs:
        response = responses[pair[0]]
        for name in (
            f"candidate:{response.candidate.name}",
            f"response:{response.candidate.name}/{response.case.key}/0",
            f"difficulty:{response.case.difficulty}",
            f"register:{response.case.register}",
            *response.case.tags,
            "axis:accuracy",
        ):
            expected.setdefault(name, []).append((pair, a, b))
    assert rows.keys() == expected.keys()
    for name, chosen in expected.items():
        a, b = [row[1] for row in chosen], [row[2] for row in chosen]
        value = f1_score(a, b, average="macro", labels=sorted({*a, *b}), zero_division=0)
        assert float(rows[name]["mf1"]) == pytest.approx(value, abs=1e-9)
        assert int(rows[name]["n_pairs"]) == len(chosen)
    assert rows["all"]["mf1_low"] < rows["all"]["mf1"] < rows["all"]["mf1_high"]
    alone = next(row for name, row in rows.items() if name.startswith("response:"))
    assert "1.0 of the 5 effective cases needed" in alone["note"]
    drawn = run(study, "group:A", "group:B", tmp_path / "drawn", interval="percentile")
    alone = next(row for name, row in drawn.items() if name.startswith("response:"))
    assert "1 of the 10 cases needed" in alone["note"]


@pytest.mark.slow
def test_a_judge_that_breaks_is_worse_off_than_one_that_answers(tmp_path: Path) -> None:
    """Invalid and missing verdicts count as the opposite, the figure on valid pairs stands beside."""
    study = make_study(cases=10)
    study.group("A", coin(1, "met", "not_met"))
    rights = dict(study.outcomes["A"])
    broken = dict.fromkeys(sorted(rights)[::10], "invalid") | dict.fromkeys(sorted(rights)[5::20], "")
    study.judge("right", rights.__getitem__)
    study.judge("breaks", lambda pair: broken.get(pair, rights[pair]))
    assert run(study, "group:A", "right", tmp_path)["all"]["mf1"] == "1.0"
    row = run(study, "group:A", "breaks", tmp_path)["all"]
    assert int(row["n_invalid"]) == len(broken)
    flipped = {"met": 0, "not_met": 1}
    a = [CODES[rights[pair]] for pair in rights]
    b = [flipped[rights[pair]] if pair in broken else CODES[rights[pair]] for pair in rights]
    assert float(row["mf1"]) == pytest.approx(f1_score(a, b, average="macro"), abs=1e-9)
    assert f"mf1 on the {len(rights) - len(broken)} pairs with a valid verdict: 1.000000" in row["note"]
    assert row["raw"] == "1.0"


@pytest.mark.slow
def test_the_same_inputs_give_the_same_bytes_and_a_seed_only_other_percentiles(tmp_path: Path) -> None:
    study = make_study(cases=11)
    study.group("A", coin(1, "met", "not_met"))
    study.group("B", noisy(study, "A", 2, 0.3))
    first = run(study, "group:A", "group:B", tmp_path / "1")
    second = run(study, "group:A@checked", "group:B@first", tmp_path / "2")
    assert (tmp_path / "1/agreement.csv").read_bytes() == (tmp_path / "2/agreement.csv").read_bytes()
    third = run(study, "group:A", "group:B", tmp_path / "3", seed=4)
    assert third == first  # nothing is drawn
    drawn = [
        run(study, "group:A", "group:B", tmp_path / f"drawn{seed}", interval="percentile", seed=seed)["all"]
        for seed in (0, 4)
    ]
    assert drawn[0]["mf1_low"] != drawn[1]["mf1_low"] != first["all"]["mf1_low"]
    assert drawn[0]["mf1"] == drawn[1]["mf1"] == second["all"]["mf1"]


@pytest.mark.slow
def test_raters_without_anything_in_common_get_a_row_that_says_so(tmp_path: Path) -> None:
    study = make_study(cases=2)
    group = study.group("A", coin(1, "met"))
    study.judge("echo", coin(1, "met"))
    Decision.objects.filter(assignment__batch__group=group).update(outcome=None)
    row = run(study, "echo", "group:A", tmp_path)["all"]
    assert row["mf1"] == row["kappa"] == row["raw"] == ""
    assert row["n_pairs"] == "0"
    assert "share no pair" in row["note"]


def test_what_cannot_be_compared_is_refused_in_words(tmp_path: Path) -> None:
    study = make_study(cases=1)
    study.group("A", coin(1, "met"))
    with pytest.raises(CommandError, match=r"no expert group “B”.*Groups: A"):
        run(study, "group:A", "group:B", tmp_path)
    with pytest.raises(CommandError, match="There is no benchmark “nowhere”"):
        command("nowhere", "group:A", "group:B", out=tmp_path)
    with pytest.raises(CommandError, match="twice"):
        command(study.benchmark.slug, "group:A", out=tmp_path)
    assert not (tmp_path / "agreement.csv").exists()
