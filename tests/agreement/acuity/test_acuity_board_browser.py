"""The report on acuity with runs, a judge and physicians, and the leaderboard, in a browser at each width and theme."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from agreement import services
from annotation.labels.advice import ReadTerms
from annotation.models import LabelTask
from rubrics.models import AcuityScale, Benchmark, Case
from scoring.acuity.read_advice import make_read_batch
from scoring.models import GeneratedResponse, JudgeRunItem, PipelineStep
from tests.agreement.acuity.stored import LEVELS, import_files, reported, sign, write_lines
from tests.agreement.acuity.test_acuity_of_judges import judge_of, read, submit
from tests.agreement.acuity.test_acuity_of_runs import asking_run, call_of, choose, prices
from tests.factories import (
    BenchmarkRoleFactory,
    CandidateFactory,
    ExpertGroupFactory,
    JudgeRunFactory,
    ResponseFactory,
)
from tests.scoring.acuity.test_acuity_browser import WIDTHS, look_at

pytestmark = pytest.mark.django_db(transaction=True)
N = 24
# Made up: of 24 cases in turn of the four levels, what each candidate chooses and advises, by how far from the level.
ERRORS = {
    "Aspen 70B": ([0] * 22 + [1, 0], [0, -1, -1, -1, 0, 0] * 4),
    "Birch mini": ([0, 0, -1, -1, 1, 0] * 4, [0] * 20 + [0, 0, 1, -1]),
    "Cedar": ([1, 0, 1, -2] * 6, [1, 0, 0, -1] * 6),
}


def made_up(benchmark: Benchmark, folder: Path) -> None:
    """Forced choices and advice of three candidates from runs with calls, read by a judge and partly by physicians."""
    lines = [f"c{i:02},Imported,qa,0,{LEVELS[max(0, i % 4 - i % 2)]},{LEVELS[i % 4]}" for i in range(N)]
    scale: AcuityScale = import_files(benchmark, write_lines(folder, "i.csv", lines), dataset="one")
    sign(scale)
    judge_run = JudgeRunFactory(judge=judge_of(scale, "levels"), purpose="acuity")
    cases = list(Case.with_stubs.filter(benchmark=benchmark).order_by("key"))

    def level(i: int, error: int) -> int:
        return min(3, max(0, i % 4 + error))

    for place, (name, (chosen, advised)) in enumerate(ERRORS.items()):
        candidate = CandidateFactory(benchmark=benchmark, name=name)
        totals = {"calls": N + place, "tokens_in": 9_000 * (3 - place), "tokens_out": 1_500 * (3 - place)}
        run = asking_run(scale, candidate, **totals, config=prices(3, 15), asks=[name])
        levels = [level(i, error) for i, error in enumerate(chosen)]
        choose(run, levels, [call_of(run, (3 - place) * 400 + 10 * i) for i in range(N)])
        chat = asking_run(scale, candidate, "responses", **totals, asks=[name])
        for i, (case, error) in enumerate(zip(cases, advised, strict=True)):
            response = ResponseFactory(
                case=case, candidate=candidate, setting="chat", sample=0, text="Advice, made up."
            )
            call = call_of(chat, (3 - place) * 1_500 + 40 * i)
            step = PipelineStep.objects.create(
                run=chat, case=case, stage="response", key="0", state="done", output={}, call=call
            )
            GeneratedResponse.objects.create(step=step, response=response)
            JudgeRunItem.objects.create(run=judge_run, response=response)
            read(judge_run, response, level(i, error), escalation=3 if i % 3 else None)
    group = ExpertGroupFactory(benchmark=benchmark, annotators=1)
    make_read_batch(group=group, run=judge_run, terms=ReadTerms("Read", 1, 60, 1), by=None, at=timezone.now())
    tasks = list(LabelTask.objects.filter(response__isnull=False).select_related("case").order_by("pk"))
    submit(tasks, lambda task: LEVELS[max(0, int(task.case.key[1:]) % 4 - (task.pk % 5 == 0))])


def shoot(page: Page, name: str) -> None:
    """Keep pictures where a folder for them is named."""
    folder = os.environ.get("CONSILIUM_PICTURES")
    if not folder:
        return
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=f"{folder}/{name}-{scheme}-{width}.png", full_page=True)


def test_report_and_leaderboard(new_page: Callable[..., Page], benchmark: Benchmark, tmp_path: Path) -> None:
    made_up(benchmark, tmp_path)
    report = reported(benchmark)
    formats = services.create_report(benchmark=benchmark, kind="acuity_formats", parameters={}, at=timezone.now())
    services.run(report_id=formats.pk, clock=timezone.now)
    user = BenchmarkRoleFactory(benchmark=benchmark, role="researcher").user
    for language in ("zh-hans", "en"):
        user.language = language
        user.save()
        page = new_page(user)
        for name, address in (
            ("report", f"/b/{benchmark.slug}/acuity/{report.public_id}/"),
            ("formats", f"/b/{benchmark.slug}/acuity/{formats.public_id}/"),
            ("leaderboard", f"/b/{benchmark.slug}/acuity/leaderboard/"),
        ):
            page.goto(address)
            expect(page.locator("#report-freshness .legend, #report-freshness .notice").first).to_be_visible()
            shoot(page, f"{name}-{language}")
            look_at(page)
    page.goto(f"/b/{benchmark.slug}/acuity/")
    page.get_by_role("link", name="Leaderboard").click()
    rows = page.locator("#leaderboard tbody tr")
    expect(rows.first.locator("th")).to_have_text("Aspen 70B")
    page.get_by_role("link", name="Advice to a patient").click()
    expect(rows.first.locator("th")).to_have_text("Birch mini")
    page.get_by_role("link", name="QWK", exact=True).click()
    expect(page.get_by_role("heading", name="QWK")).to_be_visible()
    # The order is in the address, so that it can be passed on.
    assert "sort=qwk" in page.url
    assert "format=chat" in page.url
