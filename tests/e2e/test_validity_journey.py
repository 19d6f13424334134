"""How good rubric sets are, on the 120 public cases in a real browser: coverage, near-miss pairs, and both elsewhere.

The endpoint that follows rules answers over HTTP, and what physicians decide is drawn from a hash: all figures are made
up, and the pages say so. Expected figures are counted here from the stored answers, without the code of the reports.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from accounts.models import User
from rubrics.models import Case, Response
from tests.e2e.validity_world import (
    EXACT,
    GENERIC,
    GOLD,
    HALF,
    HOME,
    MODEL,
    PHYSICIANS,
    SLUG,
    NewPage,
    RuleEndpoint,
    Table,
    begin,
    command,
    differing,
    drawn,
    files_of,
    fill,
    replayed_elsewhere,
    report,
    row,
)
from validation.models import CoverageDecision, CoverageRun, MakingRun, NearMissPair, PairJudgement, TrialRun

pytestmark = pytest.mark.django_db(transaction=True)
N_CRITERIA = 1413
N_REFERENCES, N_PAIRS = 60, 40  # 40 of the 60 drawn responses of physicians may be sent and hold a number
BY_KEYS = 12  # questions that are decided in the browser


# Physicians -------------------------------------------------------------------------------------------------------


def decide(new_page: NewPage) -> None:
    """A fifth of the questions: some by keys alone, the others through the same page."""
    (run,) = CoverageRun.objects.all()
    questions = CoverageDecision.objects.filter(run=run)
    n = -(-questions.count() // 5)
    assert n > 5 * BY_KEYS
    physician = User.objects.get(email=f"{PHYSICIANS[0]}@example.org")
    page = new_page(physician)
    page.goto("/")
    page.locator("a[href$='/rubric-coverage/decide/']").first.click()
    page.wait_for_url("**/rubric-coverage/decide/*/")
    for number in range(BY_KEYS):
        expect(page.get_by_text(f"{number} of {questions.count():,} decided")).to_be_visible()
        page.wait_for_load_state()  # keys do nothing before
        public_id = page.url.rstrip("/").rpartition("/")[2]
        stage = questions.get(public_id=public_id).stage
        page.keyboard.press(str(_answers(stage).index(_answer(public_id, stage)) + 1))
    expect(page.get_by_text(f"{BY_KEYS} of {questions.count():,} decided")).to_be_visible()
    client = Client()
    client.force_login(physician)
    address = page.url.removeprefix(page.url[: page.url.index("/b/")])
    for _ in range(n - BY_KEYS):
        public_id = address.rstrip("/").rpartition("/")[2]
        answer = _answer(public_id, questions.get(public_id=public_id).stage)
        sent = client.post(address, {"answer": answer})
        assert sent.status_code == 302
        address = client.get(sent["Location"])["Location"]
    assert questions.decided().count() == n
    for public_id, stage, answer in questions.decided().values_list("public_id", "stage", "answer"):
        assert answer == _answer(public_id, stage)


def _answers(stage: str) -> tuple[str, ...]:
    """The answers as the page has them, from key 1 on."""
    if stage == "coverage_back":
        return "needed", "needless", "wrong", "ungradable"
    return "full", "partly", "none"


def _answer(public_id: str, stage: str) -> str:
    return drawn(public_id, _answers(stage))


def confirm_pairs(new_page: NewPage) -> None:
    """Two physicians look at every pair, and call each dangerous; the first three of each by keys alone."""
    for name in PHYSICIANS:
        physician = User.objects.get(email=f"{name}@example.org")
        page = new_page(physician)
        page.goto(f"{HOME}/pairs/judge/")
        for number in range(3):
            expect(page.get_by_text(f"{number} of {N_PAIRS} judged")).to_be_visible()
            page.wait_for_load_state()
            page.keyboard.type("137s")
        expect(page.get_by_text(f"3 of {N_PAIRS} judged")).to_be_visible()
        client = Client()
        client.force_login(physician)
        while (shown := client.get(f"{HOME}/pairs/judge/")).status_code == 302:
            sent = client.post(shown["Location"], {"single": "yes", "harm": "dangerous", "flaw": "no", "note": ""})
            assert sent.status_code == 302
    judgements = Counter(PairJudgement.objects.values_list("pair", flat=True))
    assert set(judgements.values()) == {2} and len(judgements) == N_PAIRS
    assert set(NearMissPair.objects.values_list("state", "grade")) == {("confirmed", "dangerous")}


# Expected figures -------------------------------------------------------------------------------------------------


def check_coverage(tables: dict[str, Table]) -> None:
    """CIA and its controls, counted from the stored answers."""
    (run,) = CoverageRun.objects.filter(replay=False, benchmark__slug=SLUG)
    series: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    matched: dict[str, list[bool]] = defaultdict(list)
    for case, stage, key, output in run.steps.values_list("case__key", "stage", "key", "output"):
        assert output is not None
        own = key.partition(".")[0]
        if stage == "coverage":
            series[own].append((case, output["extent"] == "full"))
        else:
            matched[own].append(output["extent"] == "full")
    assert {len(own) for own in series.values()} == {N_CRITERIA}

    def cia(own: str) -> float:
        return mean(is_full for _case, is_full in series[own])

    names = run.set_names
    assert sorted(names) == sorted([GENERIC, HALF])
    for place, name in enumerate(names):
        shown = row(tables["coverage"], set=name, slice="all")
        assert (shown["n_points"], shown["n_cases"]) == (str(N_CRITERIA), "120")
        by_case = defaultdict(list)
        for case, is_full in series[str(place)]:
            by_case[case].append(is_full)
        expected = {
            "cia": cia(str(place)),
            "cia_mean_of_cases": mean(mean(own) for own in by_case.values()),
            "precision": mean(matched[str(place)]),
        }
        assert {name: float(shown[name]) for name in expected} == pytest.approx(expected, **EXACT)
        shifted = row(tables["coverage_controls"], control="shifted", set=name, slice="all")
        assert float(shifted["cia"]) == pytest.approx(cia(f"s{place}"), **EXACT)
    itself = row(tables["coverage_controls"], control="itself", slice="all")
    assert float(itself["cia"]) == pytest.approx(cia("g"), **EXACT)
    # Every other criterion is covered by itself; what is generic covers little more than a neighbour's criteria do.
    half, generic = (names.index(name) for name in (HALF, GENERIC))
    assert cia("g") > 0.99 and cia(str(half)) > 0.5 > cia(f"s{half}")
    assert cia(str(half)) > cia(str(generic))
    decided = Counter(
        (key.partition(".")[0], extent, answer)
        for key, extent, answer in CoverageDecision.objects.decided()
        .filter(run=run, stage="coverage")
        .values_list("step__key", "step__output__extent", "answer")
    )
    shown_counts = {
        (str(names.index(own["set"])), own["judge"], own["physicians"]): int(own["n"])
        for own in tables["coverage_confusion"]
        if int(own["n"])
    }
    assert shown_counts == dict(decided)


def check_making() -> None:
    """Each reference with a number other than zero has a pair with its first one doubled; the others have none."""
    (run,) = MakingRun.objects.all()
    steps = dict(run.steps.values_list("case__key", "state"))
    texts = dict(
        Response.objects.filter(candidate__name="physician", case__key__in=steps).values_list("case__key", "text")
    )
    assert {key: "done" if re.search("[1-9]", text) else "failed" for key, text in texts.items()} == steps
    pairs = {pair.case.key: pair for pair in NearMissPair.objects.select_related("case")}
    assert len(pairs) == N_PAIRS and pairs.keys() == {key for key, state in steps.items() if state == "done"}
    for key, pair in pairs.items():
        changed, instead = (
            pair.reference[pair.start : pair.reference_end],
            pair.candidate[pair.start : pair.candidate_end],
        )
        assert pair.reference == texts[key]
        assert pair.candidate == pair.reference[: pair.start] + instead + pair.reference[pair.reference_end :]
        assert changed != instead


def check_pairs(tables: dict[str, Table]) -> None:
    """Wins, Δ and noticed errors, counted from the stored answers: all trials of a pair are in, as none is missing."""
    (run,) = TrialRun.objects.filter(replay=False, benchmark__slug=SLUG)
    trials: dict[str, dict[tuple[str, str], list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for case, key, output in run.steps.values_list("case__key", "key", "output"):
        assert output is not None
        series, pair, _order, _number = key.split(".")
        trials[series][case, pair].append(output)
    names = {**{str(place): name for place, name in enumerate(run.set_names)}, "n": "(no rubric)"}
    assert trials.keys() == names.keys()
    for series, pairs in trials.items():
        shown = row(tables["pairs"], set=names[series], slice="all")
        assert (shown["n_pairs"], shown["n_undecided"]) == (str(N_PAIRS), "0")
        deltas = [
            mean(trial["total_reference"] - trial["total_candidate"] for trial in each) for each in pairs.values()
        ]
        signs = [
            Counter(
                (trial["total_reference"] > trial["total_candidate"])
                - (trial["total_reference"] < trial["total_candidate"])
                for trial in each
            )
            for each in pairs.values()
        ]
        # The sign that more trials have than each of the others.
        ranked = [[*each.most_common(), (0, 0)] for each in signs]
        decisions = [first if n > n_next else 0 for (first, n), (_next, n_next), *_rest in ranked]
        expected = {
            "win": decisions.count(1) / N_PAIRS,
            "tie": decisions.count(0) / N_PAIRS,
            "loss": decisions.count(-1) / N_PAIRS,
            "mean_delta": mean(deltas),
            "auroc_paired": mean((delta > 0) + 0.5 * (delta == 0) for delta in deltas),
        }
        assert {name: float(shown[name]) for name in expected} == pytest.approx(expected, **EXACT)
        if series == "n":
            continue
        noticed = 0
        for each in pairs.values():
            met = [list(zip(trial["met_reference"], trial["met_candidate"], strict=True)) for trial in each]
            # The trials of each criterion in which the reference alone meets it, and those with the candidate alone.
            apart = [max(own.count((True, False)), own.count((False, True))) for own in zip(*met, strict=True)]
            noticed += any(2 * n > len(each) for n in apart)
        assert row(tables["mutation"], set=names[series], slice="all")["noticed"] == str(noticed)


def coverage_files(slug: str, run: str, folder: Path) -> dict[str, bytes]:
    sets = ("--set", HALF, "--against", GENERIC, "--judge", MODEL)
    command("coverage", "--benchmark", slug, *sets, "--run", run, "--out", str(folder))
    return files_of(folder)


def pair_files(slug: str, run: str, folder: Path) -> dict[str, bytes]:
    command("pairs", "--benchmark", slug, "--run", run, "--out", str(folder))
    return files_of(folder)


# Journeys ---------------------------------------------------------------------------------------------------------


def test_coverage_of_real_cases_is_measured_and_replayed_elsewhere(
    admin: Page, new_page: NewPage, rule_endpoint: RuleEndpoint, tmp_path: Path
) -> None:
    admin.goto(f"{HOME}/rubric-coverage/new/")
    admin.locator("#id_gold").select_option(label=f"{GOLD} (120)")
    for name in (GENERIC, HALF):
        admin.get_by_label(name).check()
    begin(admin, rule_endpoint, f"{N_CRITERIA:,} gold points, 120 cases")
    (run,) = CoverageRun.objects.all()
    assert (run.status, run.endpoint_kind) == ("finished", "rules")
    # Nobody has decided yet, as elsewhere, where no decisions are.
    before = coverage_files(SLUG, run.public_id, tmp_path / "here")
    admin.get_by_role("button", name="Ask physicians").click()
    expect(admin.get_by_text("questions for physicians to decide.")).to_be_visible()
    decide(new_page)
    check_coverage(report(admin, "coverage", tmp_path / "coverage.zip"))

    n_requests = rule_endpoint.requests
    replay = replayed_elsewhere(run, tmp_path)
    assert differing(before, coverage_files("elsewhere", replay, tmp_path / "there")) == []
    assert rule_endpoint.requests == n_requests


def test_pairs_of_real_cases_are_judged_and_replayed_elsewhere(
    admin: Page, new_page: NewPage, rule_endpoint: RuleEndpoint, tmp_path: Path
) -> None:
    admin.goto(f"{HOME}/pair-making/new/")
    fill(admin, group="Made by rules", cases=str(N_REFERENCES), draw_seed="0")
    admin.locator("#id_judgements").select_option("2")
    admin.locator("#id_candidate").select_option("physician")
    begin(admin, rule_endpoint, "58 cases")
    check_making()
    confirm_pairs(new_page)
    admin.goto(f"{HOME}/pair-runs/new/")
    admin.get_by_label("Made by rules").check()
    for name in (GENERIC, HALF):
        admin.get_by_label(name).check()
    admin.get_by_label("Also test without a rubric").check()
    begin(admin, rule_endpoint, f"{N_PAIRS} pairs")
    (run,) = TrialRun.objects.all()
    assert (run.status, run.endpoint_kind) == ("finished", "rules")
    assert run.steps.count() == N_PAIRS * 3 * 6
    check_pairs(report(admin, "pairs", tmp_path / "pairs.zip"))

    before, n_requests = pair_files(SLUG, run.public_id, tmp_path / "here"), rule_endpoint.requests
    replay = replayed_elsewhere(run, tmp_path)
    assert differing(before, pair_files("elsewhere", replay, tmp_path / "there")) == []
    assert rule_endpoint.requests == n_requests
    assert not NearMissPair.objects.filter(group__benchmark__slug="elsewhere").exists()
    assert 0 < Case.objects.filter(benchmark__slug="elsewhere").count() <= N_PAIRS
