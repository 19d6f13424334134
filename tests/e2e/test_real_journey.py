"""The whole road in a real browser, on real cases: from a file to the figure that a paper would print."""

from __future__ import annotations

import csv
import itertools
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db.models import Count
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from annotation.models import Adjudication, Assignment, Decision, Ruling
from rubrics.models import Case
from scoring.judges.services import create_trained_judge
from scoring.models import JudgeRun, TrainedModel, Verdict
from scoring.trained.fitting import fit
from tests.factories import BenchmarkRoleFactory, UserFactory
from tests.processes import Worker
from tests.scoring.conftest import learnable

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]
REAL_DATA = Path(os.environ["CONSILIUM_REAL_DATA"])
SLUG = "healthbench"
JUDGE = "Learned elsewhere"
GROUPS = {
    "North": {"annotator": ["n1", "n2"], "checker": ["nc"], "adjudicator": ["na"]},
    "South": {"annotator": ["s1", "s2"], "checker": ["sc"], "adjudicator": ["sa"]},
}
# What each annotator presses, again and again: mostly alike, so that there is agreement as well as conflict.
HABITS = {"n1": "mmnmnmm", "n2": "mmnmmmn", "s1": "mmnnnmm", "s2": "mnnmnmm"}


def person(key: str) -> User:
    return User.objects.get(email=f"{key}@example.org")


def make_benchmark(admin: Page) -> None:
    """Create it, and import the cases through the page and the worker."""
    admin.goto("/benchmarks/new/")
    admin.get_by_label("Title").fill("HealthBench sample")
    admin.get_by_label("Short name").fill(SLUG)
    admin.get_by_role("button", name=re.compile("Make|Create")).click()
    admin.wait_for_url(f"**/b/{SLUG}/")
    admin.goto(f"/b/{SLUG}/imports/")
    admin.locator("input[type=file]").set_input_files(REAL_DATA / "healthbench_sample.jsonl")
    admin.get_by_role("button", name="Import", exact=True).click()
    expect(admin.get_by_text("Done").first).to_be_visible(timeout=120_000)
    expect(admin.locator("main")).to_contain_text("1,413")


def make_group(admin: Page, name: str) -> None:
    admin.goto(f"/b/{SLUG}/groups/")
    admin.get_by_label("Name").fill(name)
    admin.get_by_role("button", name="Create group").click()
    for role, keys in GROUPS[name].items():
        for key in keys:
            admin.locator("#id_email").fill(f"{key}@example.org")
            admin.locator("#id_name").fill(f"Dr. {key.upper()}")
            admin.get_by_label("Role").select_option(role)
            admin.get_by_role("button", name="Add", exact=True).click()
            expect(admin.get_by_role("row").filter(has_text=f"{key}@example.org")).to_be_visible()


def make_batch(admin: Page, group: str, cases: list[str], criteria: int) -> None:
    admin.goto(f"/b/{SLUG}/batches/new/")
    admin.get_by_label("Title").fill(f"Round one, {group}")
    admin.get_by_label("Expert group").select_option(label=group)
    admin.get_by_label("Physician", exact=True).check()
    admin.get_by_role("textbox", name="Cases").fill(", ".join(cases))
    admin.get_by_label("Annotators per response").fill("2")
    admin.get_by_label("Also assign work to invited people").check()
    expect(admin.locator("#preview .tile dd").nth(1)).to_have_text(str(2 * criteria))
    admin.get_by_role("button", name="Create batch").click()
    expect(admin.get_by_role("heading", level=1)).to_contain_text(f"Round one, {group}")


def grade_everything(page: Page, key: str, responses: int) -> None:
    """From My work to the last submit, without the mouse."""
    habit = itertools.cycle(HABITS[key])
    page.goto("/work/")
    page.get_by_role("link", name=re.compile("^Start with response 1 of")).press("Enter")
    for number in range(1, responses + 1):
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Response {number} of {responses}")
        expect(page.locator(".criterion.current")).to_have_count(1)  # the page's script has started
        for _ in range(page.locator(".criterion").count()):
            page.keyboard.press(next(habit))
        page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/work/$"))


def check_everything(page: Page, pieces: int) -> None:
    """Accept each piece; the first with one amendment."""
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").press("Enter")
    expect(page.locator(".criterion.current")).to_have_count(1)
    was_met = page.locator(".criterion.current").get_attribute("data-outcome") == "met"
    page.keyboard.press("n" if was_met else "m")
    page.keyboard.type("The statement is read more strictly here.")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_have_text("1 amended")
    for number in range(pieces):
        url = page.url
        page.keyboard.press("Control+Enter")
        if number < pieces - 1:
            expect(page).not_to_have_url(url)
            expect(page.locator(".criterion.current")).to_have_count(1)
    expect(page).to_have_url(re.compile("/work/checks/$"))


def adjudicate_everything(page: Page) -> int:
    """Rule on each conflict; returns how many there were. The next response opens by itself until none is left."""
    ruled = 0
    page.goto("/work/adjudications/")
    page.get_by_role("button", name="Claim next").press("Enter")
    while True:
        expect(page.locator(".criterion.current")).to_have_count(1)
        url = page.url
        conflicts = int(page.locator("#graded").get_attribute("max") or 0)
        for number in range(conflicts):
            page.keyboard.press("mn"[ruled % 2])
            ruled += 1
            expect(page.locator("#graded-text")).to_have_text(f"{number + 1} / {conflicts}")
        page.keyboard.press("Control+Enter")
        expect(page).not_to_have_url(url)
        if page.url.endswith("/work/adjudications/"):
            return ruled


def train_elsewhere(admin: User) -> None:
    """A judge, trained on the decisions of another benchmark."""
    taught = learnable("taught", ["a", "b", "c", "d", "e"])
    BenchmarkRoleFactory(benchmark=taught, user=admin, role="researcher")
    judge = create_trained_judge(benchmark=taught, name=JUDGE, group="A", by=admin, at=timezone.now(), enqueue=False)
    fit(TrainedModel.objects.get(judge=judge).pk, clock=timezone.now)


def run_judge(admin: Page) -> None:
    """The judge that was trained on another benchmark, over the North batch, by the worker."""
    admin.goto(f"/b/{SLUG}/judges/runs/new/")
    judge = admin.get_by_label("Judge").locator("option").filter(has_text=JUDGE).get_attribute("value")
    batch = admin.get_by_label("Batch").locator("option").filter(has_text="North").get_attribute("value")
    admin.get_by_label("Judge").select_option(judge)
    admin.get_by_label("Batch").select_option(batch)
    admin.get_by_role("button", name="Start run").click()
    expect(admin.locator("#run-progress")).to_contain_text("Finished", timeout=60_000)


def report(admin: Page, first: str, second: str, folder: Path) -> dict[str, dict[str, str]]:
    """Make a report of two raters, wait for it, download its CSV; rows by slice."""
    admin.goto(f"/b/{SLUG}/agreement/")
    form = admin.locator("form").filter(has=admin.locator("[name=agreement-rater_a]"))
    form.locator("[name=agreement-rater_a]").select_option(first)
    form.locator("[name=agreement-rater_b]").select_option(second)
    form.get_by_role("button", name="Compute").click()
    link = admin.get_by_role("link", name="agreement.csv").first
    expect(link).to_be_visible(timeout=60_000)
    with admin.expect_download() as download:
        link.click()
    path = folder / "agreement.csv"
    download.value.save_as(path)
    with path.open(newline="") as file:
        return {row["slice"]: row for row in csv.DictReader(file)}


def final_decisions(group: str) -> dict[tuple[int, int], bool]:
    """What the group decided in the end, put together row by row: its annotators where they agree, else the ruling."""
    votes: dict[tuple[int, int], list[str]] = {}
    for row in Assignment.objects.filter(batch__group__name=group, status="accepted"):
        amended = {
            amendment.criterion_id: amendment.outcome
            for check in row.checks.filter(round=row.round)
            for amendment in check.amendments.all()
        }
        for decision in Decision.objects.filter(assignment=row, round=row.round):
            outcome = amended.get(decision.criterion_id, decision.outcome)
            assert outcome is not None
            votes.setdefault((row.response_id, decision.criterion_id), []).append(outcome)
    rulings = {
        (ruling.adjudication.response_id, ruling.criterion_id): ruling.outcome
        for ruling in Ruling.objects.filter(adjudication__group__name=group).select_related("adjudication")
    }
    return {
        pair: (outcomes[0] if len(set(outcomes)) == 1 else rulings[pair]) == "met" for pair, outcomes in votes.items()
    }


def macro_f1(a: dict[tuple[int, int], bool], b: dict[tuple[int, int], bool]) -> float:
    from sklearn.metrics import f1_score

    assert set(a) == set(b)
    pairs = sorted(a)
    return float(f1_score([a[pair] for pair in pairs], [b[pair] for pair in pairs], average="macro"))


def test_from_a_file_to_a_figure(new_page: NewPage, celery_worker: Worker, tmp_path: Path) -> None:
    user = UserFactory(is_staff=True)
    train_elsewhere(user)
    admin = new_page(user)
    make_benchmark(admin)
    few = (
        Case.objects.filter(benchmark__slug=SLUG, responses__candidate__kind="physician")
        .annotate(size=Count("criteria", distinct=True)).order_by("size", "key")[:3]
    )  # fmt: skip
    cases, criteria = [case.key for case in few], sum(case.size for case in few)
    for group in GROUPS:
        make_group(admin, group)
        make_batch(admin, group, cases, criteria)
    for group in GROUPS.values():
        for key in group["annotator"]:
            grade_everything(new_page(person(key)), key, responses=3)
        for key in group["checker"]:
            check_everything(new_page(person(key)), pieces=6)
        for key in group["adjudicator"]:
            assert adjudicate_everything(new_page(person(key))) > 0
    assert set(Adjudication.objects.filter(group__benchmark__slug=SLUG).values_list("status", flat=True)) == {"done"}

    north, south = final_decisions("North"), final_decisions("South")
    assert len(north) == criteria
    rows = report(admin, "group:North@final", "group:South@final", tmp_path)
    assert int(rows["all"]["n_pairs"]) == criteria
    assert float(rows["all"]["mf1"]) == pytest.approx(macro_f1(north, south), abs=1e-12)

    run_judge(admin)
    run = JudgeRun.objects.get(benchmark__slug=SLUG)
    verdicts = {(row.response_id, row.criterion_id): row.outcome == "met" for row in Verdict.objects.filter(run=run)}
    rows = report(admin, "group:North@final", JUDGE, tmp_path)
    assert float(rows["all"]["mf1"]) == pytest.approx(macro_f1(north, verdicts), abs=1e-12)
