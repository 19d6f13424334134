"""Reports on failures that judges marked, beside physicians and alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from sklearn.metrics import cohen_kappa_score

from agreement import services
from agreement.failures.inputs import book_called
from agreement.models import Report
from agreement.reports.files import notes_under
from agreement.reports.parameters import WrongParameters
from agreement.reports.stored import table_of
from rubrics.codes.services import carried, save_codes
from scoring.coding.choosing import CodingFrame
from scoring.coding.runs import create_run
from scoring.models import CodingRun
from tests.annotation.codes.coding_world import CodingWorld, build_coding
from tests.factories import BenchmarkRoleFactory
from tests.scoring.coding.test_coding_runs import config, work
from tests.scoring.conftest import Loopback, loopback, loopback_process  # noqa: F401  # fixtures

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
CASES = "abcdefghijkl"
# What both physicians mark, and what the reply names, by the number of the case: of twelve cases with two replies each
# the judge misses every fourth and adds every sixth.
MARKED = {key: at % 2 == 0 for at, key in enumerate(CASES)}
NAMED = {key: (MARKED[key] and at % 4 != 0) or at % 6 == 5 for at, key in enumerate(CASES)}


@pytest.fixture
def world(db: None) -> CodingWorld:
    texts = {
        f"{key} {name}": "Take ten tablets [wrong-dose]." if NAMED[key] else "Rest at home."
        for key in CASES
        for name in ("alpha", "beta")
    }
    return build_coding(cases=CASES, texts=texts)


def code_by_judge(world: CodingWorld, loopback: Loopback, model: str = "ok", **changes: Any) -> CodingRun:  # noqa: F811
    return work(
        create_run(
            benchmark=world.benchmark,
            book=world.book,
            frame=CodingFrame(),
            config=config(loopback, model, **changes),
            by=None,
            at=timezone.now(),
        )
    )


def report_of(world: CodingWorld, **parameters: Any) -> Report:
    report = services.create_report(
        benchmark=world.benchmark, kind="failures", parameters=parameters, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def row_of(report: Report, name: str, **values: str) -> dict[str, Any]:
    (row,) = [row for row in table_of(report, name).dicts() if all(row[key] == value for key, value in values.items())]
    return row


def test_a_judge_is_held_against_the_final_codes_of_physicians(
    world: CodingWorld, loopback: Loopback  # noqa: F811
) -> None:  # fmt: skip
    for name in world.responses:
        codes = ["wrong-dose"] if MARKED[name[0]] else []
        world.say(name, codes, codes)
    code_by_judge(world, loopback)
    report = report_of(world, rater_a="final", rater_b="judge:grader")
    row = row_of(report, "failures_agreement", code="wrong-dose")
    marked, named = ([values[key] for key in CASES for _ in range(2)] for values in (MARKED, NAMED))
    assert row["n_pairs"] == 24
    assert row["kappa"] == pytest.approx(cohen_kappa_score(marked, named))
    # Of twelve cases the judge names cases 2, 5, 6, 10 and 11; physicians mark the six with even numbers.
    assert (row["rate_a"], row["rate_b"]) == (pytest.approx(12 / 24), pytest.approx(10 / 24))
    assert row["n_alpha"] == 24  # of the physicians alone
    rate = row_of(report, "failures", rater="judge:grader", code="wrong-dose")
    assert (rate["n_marked"], rate["n_responses"]) == (10, 24)
    judge = row_of(report, "failures_judges")
    assert (judge["rater"], judge["model"], judge["n_responses"], judge["n_invalid"]) == ("judge:grader", "ok", 24, 0)


def test_a_judge_does_not_change_what_physicians_marked(
    world: CodingWorld, loopback: Loopback  # noqa: F811
) -> None:  # fmt: skip
    world.say("a alpha", ["overconfidence"], ["overconfidence"])
    code_by_judge(world, loopback)
    report = report_of(world, rater_a="final", rater_b="judge:grader")
    rate = row_of(report, "failures", rater="final", code="overconfidence")
    assert (rate["n_marked"], rate["n_responses"]) == (1, 1)
    assert row_of(report, "failures_agreement", code="overconfidence")["n_pairs"] == 1
    facts = report.result["facts"]
    assert (facts["n_responses"], facts["n_cases"], facts["n_graded"]) == (1, 1, 0)  # of the final codes
    report = report_of(world, rater_a="final", rater_b="judge:grader", counted="judge:grader")
    assert report.result["facts"]["n_responses"] == 24


def test_two_judges_need_no_physician(world: CodingWorld, loopback: Loopback) -> None:  # noqa: F811
    code_by_judge(world, loopback)
    code_by_judge(world, loopback, "code-misquotes", judge="other")
    report = report_of(world, rater_a="judge:grader", rater_b="judge:other")
    assert report.parameters["counted"] == "judge:grader"
    assert row_of(report, "failures_candidates", candidate="alpha", code="wrong-dose")["n_marked"] == 5
    alpha = row_of(report, "failures_agreement", code="wrong-dose")
    assert alpha["n_alpha"] == 0 and alpha["alpha_all"] is None


def test_invalid_answers_code_nothing_and_are_counted(world: CodingWorld, loopback: Loopback) -> None:  # noqa: F811
    world.say("a alpha", ["wrong-dose"], [])
    code_by_judge(world, loopback, "code-prose")
    first, second = sorted(
        row["rater"]
        for row in table_of(report_of(world, rater_a="final", rater_b="judge:grader"), "failures").dicts()
        if row["rater"].startswith("physician:") and row["code"] == "any"
    )
    report = report_of(world, rater_a=first, rater_b="judge:grader")
    assert row_of(report, "failures_agreement", code="wrong-dose")["n_pairs"] == 0
    judge = row_of(report, "failures_judges")
    assert (judge["n_responses"], judge["n_invalid"]) == (0, 24)
    assert second.startswith("physician:")


def test_the_newest_version_is_that_by_which_physicians_coded(
    world: CodingWorld, loopback: Loopback  # noqa: F811
) -> None:  # fmt: skip
    world.say("a alpha", ["wrong-dose"], [])
    codes = [replace(code, title_en=f"{code.title_en}, reworded") for code in carried(world.book)]
    book = save_codes(benchmark=world.benchmark, codes=codes, by=world.admin, at=timezone.now())
    assert book.version == 2
    run = create_run(
        benchmark=world.benchmark, book=book, frame=CodingFrame(), config=config(loopback), by=None, at=timezone.now()
    )
    assert book_called(world.benchmark, None) == world.book
    work(run)
    assert book_called(world.benchmark, None) == world.book
    assert book_called(world.benchmark, "2") == book
    client = Client()
    client.force_login(BenchmarkRoleFactory(benchmark=world.benchmark, role="admin").user)
    assert client.get("/b/ward/coding/").context["book"] == world.book


def test_an_unknown_judge_is_refused(world: CodingWorld, loopback: Loopback) -> None:  # noqa: F811
    code_by_judge(world, loopback)
    with pytest.raises(WrongParameters, match="Known are: judge:grader"):
        report_of(world, rater_a="judge:grader", rater_b="judge:nobody")


def test_a_new_run_makes_the_report_outdated(world: CodingWorld, loopback: Loopback) -> None:  # noqa: F811
    world.say("a alpha", ["wrong-dose"], [])
    code_by_judge(world, loopback)
    report = report_of(world, rater_a="final", rater_b="judge:grader")
    client = Client()
    client.force_login(BenchmarkRoleFactory(benchmark=world.benchmark, role="researcher").user)
    page = client.get(f"/b/ward/agreement/{report.public_id}/").content.decode()
    assert "Judges that code" in page and "Judge grader" in page
    code_by_judge(world, loopback, "code-prose")
    changes = client.get(f"/b/ward/agreement/{report.public_id}/freshness").content.decode()
    assert "1 coding run finished" in changes


def test_the_command_writes_the_table_of_judges(
    world: CodingWorld, loopback: Loopback, tmp_path: Any  # noqa: F811
) -> None:  # fmt: skip
    world.say("a alpha", ["wrong-dose"], [])
    code_by_judge(world, loopback)
    parameters = ["--param", "rater_a=final", "--param", "rater_b=judge:grader"]
    call_command("report", "--benchmark", "ward", "--kind", "failures", *parameters, "--out", str(tmp_path))
    lines = next(tmp_path.rglob("failures_judges.csv")).read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == "rater,model,language,prompt_hash,run,finished_at,n_responses,n_invalid,n_failed,endpoint_kind"
    assert lines[1].startswith("judge:grader,ok,en,")


def test_a_printed_table_names_raters_of_codes(world: CodingWorld, loopback: Loopback) -> None:  # noqa: F811
    for name in world.responses:
        world.say(name, ["wrong-dose"] if MARKED[name[0]] else [], [])
    code_by_judge(world, loopback)
    report = report_of(world, rater_a="final", rater_b="judge:grader")
    notes = notes_under(report, table_of(report, "failures_agreement"))
    assert notes == ["A is the final codes of physicians; B is the judge grader"]


def test_a_count_leads_to_its_responses(world: CodingWorld, loopback: Loopback) -> None:  # noqa: F811
    world.say("b alpha", ["overconfidence"], ["wrong-dose"])
    run = code_by_judge(world, loopback)
    report = report_of(world, rater_a="final", rater_b="judge:grader", counted="judge:grader")
    client = Client()
    client.force_login(BenchmarkRoleFactory(benchmark=world.benchmark, role="researcher").user)
    page = client.get(f"/b/ward/agreement/{report.public_id}/").content.decode()
    address = "/b/ward/coding/1/failures/wrong-dose/"
    assert f'href="{address}"' in page
    assert f'href="/b/ward/coding/judges/{run.public_id}/"' in page
    rows = client.get(address).context["rows"]
    # The judge names cases c, f, g, k and l, two responses each; a physician marked one to b.
    marked = [(row["response"].case.key, [mark.kind for mark in row["marks"]]) for row in rows]
    assert marked == [("b", ["physician"]), *((key, ["judge"]) for key in "cfgkl" for _ in range(2))]
    assert rows[1]["marks"][0].quotes == ("Take ten tablets [wrong-dose].",)
    assert b"No one has marked it" in client.get("/b/ward/coding/1/failures/fabrication/").content
    assert client.get("/b/ward/coding/1/failures/no-such-code/").status_code == 404
