"""Whether criteria can guide an improvement, on real cases in a real browser: of the physicians' criteria of each case
one half guides and the other grades. The endpoint that follows rules plans, edits and judges, so all figures are made
up, and the pages say so. Expected figures are counted here from stored rows and from the file of the cases, without
the code of the report.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from rubrics.models import Response
from scoring.models import JudgeRun, JudgeRunItem, PipelineStep, Verdict
from tests.e2e.validity_world import (
    BAND,
    EXACT,
    HOME,
    MODEL,
    SLUG,
    WAIT_MS,
    RuleEndpoint,
    Table,
    begin,
    command,
    differing,
    files_of,
    fill,
    real_cases,
    replayed_elsewhere,
    report,
    row,
    rows_of,
)
from validation.models import RefinementRun

pytestmark = pytest.mark.django_db(transaction=True)
N_DRAWN, N_CASES = 32, 30  # the other drawn cases have no response of physicians, or may not be sent
ARMS = ("self", "gold half", "gold")
JUDGE = "Judge by rules"
NEW_DOSE = "750 mg"


def order(admin: Page, endpoint: RuleEndpoint, *, model: str, cases: int, arms: tuple[str, ...], shown: str) -> None:
    """A run over responses of physicians, by page, from the order to its end."""
    admin.goto(f"{HOME}/refinement/new/")
    admin.locator("#id_candidate").select_option("physician")
    for name in arms:
        admin.locator(f"#id_{name}").check()
    fill(admin, cases=str(cases), draw_seed="0")
    begin(admin, endpoint, shown, model=model)


def make_judge(admin: Page, endpoint: RuleEndpoint) -> None:
    admin.goto(f"{HOME}/judges/")
    admin.get_by_role("link", name="New chat judge").first.click()
    fill(admin, name=JUDGE, endpoint=endpoint.url, model=MODEL, concurrency="16")
    admin.get_by_role("button", name="Create judge").click()
    expect(admin.get_by_role("heading", level=1)).to_contain_text(JUDGE)


def grade(admin: Page, run: RefinementRun, responses: int) -> JudgeRun:
    """From the page of a run to the run of a judge over its texts and their bases, and to its end."""
    admin.goto(f"{HOME}/refinement/{run.public_id}/")
    admin.get_by_role("link", name="Grade with a judge").click()
    expect(admin.locator("#size .tile").first).to_contain_text(str(responses))
    admin.get_by_role("button", name="Start run").click()
    expect(admin.locator("#run-progress")).to_contain_text("Finished", timeout=WAIT_MS)
    expect(admin.locator("main")).to_contain_text(BAND)
    return JudgeRun.objects.get(purpose=JudgeRun.Purpose.GRADE)


# Expected figures -------------------------------------------------------------------------------------------------


def gold_of(key: str) -> dict[str, int]:
    """The criteria of a case and their points, as the file of the cases has them."""
    (case,) = (own for own in real_cases() if own["prompt_id"] == key)
    return {own["criterion"]: own["points"] for own in case["rubrics"]}


def check_halves(run: RefinementRun) -> None:
    """What guides and what grades are disjoint, and together all criteria of the case."""
    for case in run.config["cases"]:
        guide, grade_by = ({own[0] for own in case["arms"][1]}, set(case["graded_by"]))
        assert guide and grade_by
        assert not guide & grade_by
        assert guide | grade_by == set(gold_of(case["key"]))
        assert case["arms"][0] == []  # self-critique has no criteria
        assert {own[0] for own in case["arms"][2]} == set(gold_of(case["key"]))


def score(graded: JudgeRun, response: Response, half: set[str]) -> float | None:
    """Points met of the half, over what can be gained by it, times 100."""
    met = Verdict.objects.filter(run=graded, response=response, criterion__text__in=half)
    points = gold_of(response.case.key)
    verdicts = dict(met.values_list("criterion__text", "outcome"))
    assert verdicts.keys() == half
    possible = sum(points[text] for text in half if points[text] > 0)
    return 100 * sum(points[text] for text in half if verdicts[text] == "met") / possible if possible else None


def scores_of(run: RefinementRun, graded: JudgeRun, arm: int) -> Iterator[tuple[float, float]]:
    """Before and after of each case that has both."""
    for case in run.config["cases"]:
        refined = Response.objects.select_related("case", "derived_from__case").get(
            candidate__name=run.derived_names[arm], case__key=case["key"]
        )
        assert refined.derived_from is not None
        assert refined.derived_from.public_id == case["base_id"]
        half = set(case["graded_by"])
        before, after = score(graded, refined.derived_from, half), score(graded, refined, half)
        if before is not None and after is not None:
            yield before, after


def check_report(tables: dict[str, Table], run: RefinementRun, graded: JudgeRun) -> None:
    pairs = [list(scores_of(run, graded, arm)) for arm in range(len(ARMS))]
    gains = [mean(after - before for before, after in own) for own in pairs]
    for arm, own in enumerate(pairs):
        shown = row(tables["refinement"], arm=ARMS[arm], slice="all")
        base, refined = (mean(values) for values in zip(*own, strict=True))
        relative = [(after - before) / before for before, after in own if before > 0]
        expected = {
            "n": len(own),
            "base": base,
            "refined": refined,
            "gain": gains[arm],
            "relative": gains[arm] / base,
            "headroom": gains[arm] / (100 - base),
            "relative_of_cases": mean(relative),
            "n_relative": len(relative),
            "of_upper_bound": gains[arm] / gains[2],
            "improved": sum(after > before for before, after in own),
            "same": sum(after == before for before, after in own),
            "worse": sum(after < before for before, after in own),
            "new_numbers": 0,
        }
        assert {name: float(shown[name]) for name in expected} == pytest.approx(expected, **EXACT)
    # The rules add the sentences of what guides: those that also grade gain most, and no criteria gain nothing.
    assert gains[2] > gains[1] > gains[0] == 0
    assert len(pairs[0]) == N_CASES
    stored = PipelineStep.objects.filter(run=run, stage="edit").values_list("key", "findings")
    counts = Counter((ARMS[int(arm)], own["kind"]) for arm, each in stored for own in each if own["kind"] != "size")
    assert counts == Counter((own["arm"], own["kind"]) for own in tables["refinement_findings"])


# Journeys ---------------------------------------------------------------------------------------------------------


def refinement_files(slug: str, run: str, folder: Path, *more: str) -> dict[str, bytes]:
    command("refinement", "--benchmark", slug, "--run", run, "--out", str(folder), *more)
    return files_of(folder)


def test_halves_of_real_criteria_guide_and_grade_and_are_replayed_elsewhere(
    admin: Page, rule_endpoint: RuleEndpoint, tmp_path: Path
) -> None:
    arms = ("split", "self_critique", "gold")
    order(admin, rule_endpoint, model=MODEL, cases=N_DRAWN, arms=arms, shown=f"{3 * N_CASES} texts, {N_CASES} cases")
    (run,) = RefinementRun.objects.all()
    assert (run.status, run.endpoint_kind) == ("finished", "rules")
    assert run.arm_names == list(ARMS)
    check_halves(run)
    make_judge(admin, rule_endpoint)
    graded = grade(admin, run, 4 * N_CASES)
    # The refined texts and their bases alone, each by all criteria of its case.
    items = JudgeRunItem.objects.filter(run=graded)
    kinds = Counter(items.values_list("response__candidate__name", flat=True))
    assert kinds == {"physician": N_CASES, **dict.fromkeys(run.derived_names, N_CASES)}
    tables = report(admin, "refinement", tmp_path / "refinement.zip")
    expect(admin.locator("main")).to_contain_text(f"{JUDGE} graded texts that its own model planned or edited")
    check_report(tables, run, graded)

    before = refinement_files(SLUG, run.public_id, tmp_path / "here")
    assert rows_of(before["refinement.csv"]) == tables["refinement"]
    n_requests = rule_endpoint.requests
    replay = replayed_elsewhere(run, tmp_path)
    assert not Response.objects.filter(case__benchmark__slug="elsewhere").exists()
    grades = tmp_path / "here" / "refinement_grades.csv"
    elsewhere = refinement_files("elsewhere", replay, tmp_path / "there", "--grades", str(grades))
    assert len(before) == 7
    assert differing(before, elsewhere) == []
    assert rule_endpoint.requests == n_requests


def test_a_new_dose_in_real_responses_is_seen_at_one_look(
    admin: Page, rule_endpoint: RuleEndpoint, tmp_path: Path
) -> None:
    order(admin, rule_endpoint, model="rules-new-dose", cases=8, arms=("gold",), shown=" texts")
    (run,) = RefinementRun.objects.all()
    n_dosed = run.steps.filter(stage="edit", call__isnull=False).count()  # a plan without edits is carried out as it is
    assert n_dosed >= 5
    admin.set_viewport_size({"width": 1280, "height": 720})
    admin.goto(f"{HOME}/refinement/{run.public_id}/")
    notice = admin.locator(".notice", has_text=f"{n_dosed} new numbers with a unit appear in refined texts")
    assert_on_first_screen(admin, notice)
    make_judge(admin, rule_endpoint)
    grade(admin, run, 2 * run.terms["cases"])
    tables = report(admin, "refinement", tmp_path / "refinement.zip")
    shown = row(tables["refinement"], arm="gold", slice="all")
    assert shown["new_numbers"] == str(n_dosed)
    assert Counter(own["text"] for own in tables["refinement_findings"] if own["kind"] == "new_number") == {
        NEW_DOSE: n_dosed
    }
    assert_on_first_screen(admin, admin.locator(".notice", has_text=f"{n_dosed} numbers with a unit occur in"))


def assert_on_first_screen(page: Page, notice: Any) -> None:
    """Seen without scrolling."""
    expect(notice).to_be_visible()
    page.evaluate("scrollTo(0, 0)")
    box = notice.bounding_box()
    assert box is not None and box["y"] + box["height"] <= 720, json.dumps(box)
