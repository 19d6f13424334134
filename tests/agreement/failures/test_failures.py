"""Reports on failures: rates, agreement, pairs of codes and low coverage, against other libraries."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from typing import Any

import krippendorff
import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from scipy.stats.contingency import odds_ratio, relative_risk
from sklearn.metrics import cohen_kappa_score, f1_score, jaccard_score, matthews_corrcoef

from agreement import services
from agreement.models import Report
from agreement.reports.parameters import WrongParameters
from agreement.reports.stored import table_of
from agreement.writers.headings import heading_of
from annotation.codes.batches import CodingTerms, make_coding_batch
from annotation.codes.rulings import request_code_rulings, rule_on_codes
from annotation.models import Adjudication, CodeRuling, Physician, Ruling
from rubrics.models import Rubric
from scoring.models import Judge
from tests.annotation.codes.coding_world import CodingWorld, build_coding
from tests.factories import JudgeFactory, JudgeRunFactory, VerdictFactory, decide, make_batch

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
CODES = ("wrong-dose", "overconfidence", "unsafe-advice")
CASES = "abcdefghijklmn"


@pytest.fixture
def coded() -> tuple[CodingWorld, dict[str, dict[str, set[str]]]]:
    """Fourteen cases with two candidates; what each of two coders marks, by response, drawn by a seed."""
    world = build_coding(cases=CASES)
    drawn = random.Random(7)
    given: dict[str, dict[str, set[str]]] = {"first": {}, "second": {}}
    for name in world.responses:
        share = 0.5 if name.endswith("alpha") else 0.25
        first = {code for code in CODES if drawn.random() < share}
        second = {code for code in CODES if (code in first) != (drawn.random() < 0.2)}
        given["first"][name], given["second"][name] = first, second
        world.say(name, sorted(first), sorted(second))
    return world, given


def labels_of(world: CodingWorld) -> tuple[str, str]:
    names = dict(Physician.objects.filter(benchmark=world.benchmark).values_list("user_id", "pseudonym"))
    people = [world.task("a alpha", 0, place).annotator_id for place in (0, 1)]
    first, second = (f"physician:{names[person]}" for person in people)
    return first, second


def report_of(world: CodingWorld, **parameters: Any) -> Report:
    first, second = labels_of(world)
    report = services.create_report(
        benchmark=world.benchmark,
        kind="failures",
        parameters={"rater_a": first, "rater_b": second, **parameters},
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def rows(report: Report, name: str, **values: str) -> list[dict[str, Any]]:
    return [row for row in table_of(report, name).dicts() if all(row[key] == value for key, value in values.items())]


def row_of(report: Report, name: str, **values: str) -> dict[str, Any]:
    (row,) = rows(report, name, **values)
    return row


Coded = tuple[CodingWorld, dict[str, dict[str, set[str]]]]


def test_agreement_on_each_code_is_that_of_scikit_learn_and_krippendorff(coded: Coded) -> None:
    world, given = coded
    report = report_of(world)
    for code in CODES:
        a, b = ([code in given[who][name] for name in world.responses] for who in ("first", "second"))
        row = row_of(report, "failures_agreement", code=code)
        assert row["n_pairs"] == 28
        assert row["kappa"] == pytest.approx(cohen_kappa_score(a, b))
        assert row["f1_present"] == pytest.approx(f1_score(a, b))
        assert row["raw"] == pytest.approx(np.mean(np.array(a) == np.array(b)))
        share = (np.mean(a) + np.mean(b)) / 2  # Gwet 2008
        chance = 2 * share * (1 - share)
        assert row["ac1"] == pytest.approx((row["raw"] - chance) / (1 - chance))
        assert (row["rate_a"], row["rate_b"]) == (pytest.approx(np.mean(a)), pytest.approx(np.mean(b)))
        alpha = krippendorff.alpha(np.array([a, b], dtype=float), level_of_measurement="nominal")
        assert row["alpha_all"] == pytest.approx(alpha)
        for name in ("raw", "kappa", "ac1", "f1_present", "alpha_all"):
            if row[f"{name}_low"] is None:
                assert name in row["note"]  # and says why
            else:
                assert row[f"{name}_low"] < row[name] < row[f"{name}_high"], name
        assert row["raw_low"] is not None
    never = row_of(report, "failures_agreement", code="fabrication")  # nobody marks it
    assert never["kappa"] is None
    assert "kappa" in never["note"]
    assert "f1_present: neither rater marked the code" in never["note"]


def test_rates_of_raters_candidates_and_slices_are_those_counted_by_hand(coded: Coded) -> None:
    world, given = coded
    for key, response in world.responses.items():
        case = response.case
        case.tags, case.difficulty = (["theme:dose"] if key[0] in "abc" else []), "hard" if key[0] in "ab" else ""
        type(case).objects.filter(pk=case.pk).update(tags=case.tags, difficulty=case.difficulty)
    first, _second = labels_of(world)
    report = report_of(world, counted=first)
    own = given["first"]

    def share(code: str, names: list[str]) -> tuple[int, int]:
        return sum(bool(own[name]) if code == "any" else code in own[name] for name in names), len(names)

    every = list(world.responses)
    for code in (*CODES, "any"):
        for table, values, names in (
            ("failures", {"rater": first}, every),
            ("failures_candidates", {"candidate": "alpha"}, [name for name in every if name.endswith("alpha")]),
            ("failures_slices", {"slice": "theme:dose"}, [name for name in every if name[0] in "abc"]),
            ("failures_slices", {"slice": "difficulty:hard"}, [name for name in every if name[0] in "ab"]),
        ):
            row = row_of(report, table, code=code, **values)
            marked, n = share(code, names)
            assert (row["n_marked"], row["n_responses"]) == (marked, n)
            assert row["rate"] == pytest.approx(marked / n)
    whole = row_of(report, "failures", rater=first, code="any")
    assert whole["rate_low"] < whole["rate"] < whole["rate_high"]
    assert whole["n_cases"] == 14


def test_final_codes_are_rulings_else_what_both_say_and_a_tie_is_left_out(coded: Coded) -> None:
    world, given = coded
    differ = [name for name in world.responses if given["first"][name] != given["second"][name]]
    assert len(differ) > 3
    request_code_rulings(group=world.groups[0], question=world.question, seed=1, by=world.admin, at=timezone.now())
    ruled = CodeRuling.objects.get(response=world.responses[differ[0]])
    judge = world.groups[0].people["adjudicator"][0]  # type: ignore[attr-defined]
    rule_on_codes(ruling=ruled, adjudicator=judge, codes=["wrong-dose"], note="", at=timezone.now())
    report = report_of(world)
    for code in CODES:
        settled = {
            name: code in given["first"][name]
            for name in world.responses
            if (code in given["first"][name]) == (code in given["second"][name])
        }
        settled[differ[0]] = code == "wrong-dose"
        row = row_of(report, "failures", rater="final", code=code)
        assert (row["n_marked"], row["n_responses"]) == (sum(settled.values()), len(settled))


def test_codes_that_go_together_are_those_of_scikit_learn(coded: Coded) -> None:
    world, given = coded
    first, _second = labels_of(world)
    report = report_of(world, counted=first)
    for left, right in combinations(CODES, 2):
        a, b = ([code in given["first"][name] for name in world.responses] for code in (left, right))
        (row,) = rows(report, "failures_together", code_a=left, code_b=right) or rows(
            report, "failures_together", code_a=right, code_b=left
        )
        assert row["n_both"] == sum(x and y for x, y in zip(a, b, strict=True))
        assert row["jaccard"] == pytest.approx(jaccard_score(a, b))
        assert row["phi"] == pytest.approx(matthews_corrcoef(a, b))
    never = row_of(report, "failures_together", code_a="wrong-dose", code_b="fabrication")
    assert (never["n_both"], never["phi"]) == (0, None)
    assert never["note"]


def test_low_coverage_against_the_others_is_that_of_scipy(coded: Coded) -> None:
    world, given = coded
    first, _second = labels_of(world)
    batch = make_batch(world.groups[1])
    drawn, low = random.Random(3), set()
    names = {response.pk: name for name, response in world.responses.items()}
    for work in batch.assignments.select_related("annotator"):
        name = names[work.response_id]
        is_low = drawn.random() < (0.7 if "wrong-dose" in given["first"][name] else 0.3)
        decide(work, "not_met" if is_low else "met")
        if is_low:
            low.add(name)
    report = report_of(world, counted=first, graded_by="group:B", below=50)
    units = [Counter(name[0] for name in world.responses if (name in low) is side) for side in (True, False)]
    enough = min(sum(own.values()) ** 2 / sum(n * n for n in own.values()) for own in units) >= 10
    for code in CODES:
        cells = np.zeros((2, 2), dtype=int)
        for name in world.responses:
            cells[int(name not in low), int(code not in given["first"][name])] += 1
        row = row_of(report, "failures_coverage", code=code)
        assert (row["n_covered_little"], row["marked_covered_little"]) == (cells[0].sum(), cells[0, 0])
        assert (row["n_others"], row["marked_others"]) == (cells[1].sum(), cells[1, 0])
        risk = relative_risk(cells[0, 0], cells[0].sum(), cells[1, 0], cells[1].sum())
        assert row["risk_ratio"] == pytest.approx(risk.relative_risk)
        assert row["odds_ratio"] == pytest.approx(odds_ratio(cells, kind="sample").statistic)
        for figure in ("risk_ratio", "odds_ratio"):
            if enough:
                assert row[f"{figure}_low"] < row[figure] < row[f"{figure}_high"]
            else:
                assert row[f"{figure}_low"] is None
                assert "effective cases needed on each side" in row["note"]
    assert row_of(report, "failures_coverage", code="fabrication")["risk_ratio"] is None
    # In print the two sides are low coverage and the others, not those of a threshold k of a count.
    columns = table_of(report, "failures_coverage").columns
    assert [heading_of(name) for name in columns[2:8]] == [
        *("Responses with low coverage", "Other responses", "Marked, low coverage", "Marked, other responses"),
        *("Rate, low coverage", "Rate, other responses"),
    ]


def test_coverage_counts_faulty_criteria_and_missing_verdicts_as_scores_do() -> None:
    """Alpha has 1 of 3 met, one verdict invalid, and beta 2 of 2 beside a faulty criterion."""
    world = build_coding(cases="a")
    for name in ("a alpha", "a beta"):
        world.say(name, ["wrong-dose"], ["wrong-dose"])
    judge = JudgeFactory(benchmark=world.benchmark, name="strict", kind=Judge.Kind.IMPORTED)
    run, now = JudgeRunFactory(judge=judge, imported=True, expected=6), timezone.now()
    rubric = Rubric.objects.get(case__benchmark=world.benchmark)
    criteria = list(rubric.items.order_by("position").values_list("criterion", flat=True))
    outcomes = {"a alpha": ("met", "not_met", "invalid"), "a beta": ("met", "met", "not_met")}
    for name, given in outcomes.items():
        for criterion, outcome in zip(criteria, given, strict=True):
            VerdictFactory(run=run, response=world.responses[name], criterion_id=criterion, outcome=outcome)
    times = {"created_at": now}
    adjudication = Adjudication.objects.create(
        response=world.responses["a beta"],
        rubric=rubric,
        group=world.groups[0],
        criteria=[criteria[2]],
        agreement=0.5,
        adjudicator=world.admin,
        status="done",
        finished_at=now,
        **times,
    )
    ruling = {"outcome": "faulty", "reason": "Two readings.", "final_at": now, "updated_at": now}
    Ruling.objects.create(adjudication=adjudication, criterion_id=criteria[2], **ruling, **times)
    report = report_of(world, counted="final", graded_by="strict", below=70)
    row = row_of(report, "failures_coverage", code="wrong-dose")
    assert (row["n_covered_little"], row["n_others"]) == (1, 1)


def test_the_page_its_files_and_the_command_have_the_figures(
    coded: Coded, client: Client, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    world, _given = coded
    report = report_of(world)
    client.force_login(world.admin)
    page = client.get(f"/b/ward/agreement/{report.public_id}/")
    assert page.status_code == 200
    text = page.content.decode()
    assert "Agreement on each failure" in text
    assert "Wrong dose" in text
    client.cookies["django_language"] = "zh-hans"
    assert "剂量错误" in client.get(f"/b/ward/agreement/{report.public_id}/").content.decode()
    first, second = labels_of(world)
    call_command(
        "report", "--benchmark", "ward", "--kind", "failures", "--param", f"rater_a={first}",
        "--param", f"rater_b={second}", "--out", str(tmp_path),
    )  # fmt: skip
    assert list(tmp_path.rglob("*failures_agreement.csv"))
    new = client.get("/b/ward/agreement/").content.decode()
    assert first.removeprefix("physician:") in new


def test_a_rater_is_not_compared_with_a_part_of_itself(coded: Coded) -> None:
    world, _given = coded
    first, second = labels_of(world)
    for raters in (("final", "group:A"), (first, "final"), ("group:A", first), (second, "group:A")):
        with pytest.raises(WrongParameters, match="neither of whom is a part of the other"):
            services.create_report(
                benchmark=world.benchmark, kind="failures", at=timezone.now(),
                parameters=dict(zip(("rater_a", "rater_b"), raters, strict=True)),
            )  # fmt: skip
    late = make_coding_batch(
        group=world.groups[1], book=world.book, by=world.admin, at=timezone.now(),
        terms=CodingTerms(title="B", coders=1, seed=4, size=1),
    )  # fmt: skip
    world.code(late.label_tasks.select_related("annotator", "batch", "response").get(), "wrong-dose")
    assert report_of(world, rater_a="group:B", rater_b=first)  # no member of B


def test_wrong_parameters_are_named(coded: Coded) -> None:
    world, _given = coded
    first, second = labels_of(world)
    for wrong in (
        {"code_book": "9"}, {"rater_a": "group:Z"}, {"rater_b": first}, {"below": 0}, {"below": "x"}, {"counted": "x"}
    ):  # fmt: skip
        with pytest.raises(WrongParameters):
            services.create_report(
                benchmark=world.benchmark, kind="failures",
                parameters={"rater_a": first, "rater_b": second, **wrong}, at=timezone.now(),
            )  # fmt: skip
