"""Cost and quality: from decisions, attributes and recorded tokens to the tables, figures and page of a report."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
from django.test import Client
from django.utils import timezone
from scipy import stats

from agreement import services
from agreement.frontier.inputs import read_inputs
from agreement.models import Report
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from rubrics.models import CandidateAttributes, Response
from scoring.models import GeneratedResponse, PipelineRun
from scoring.models.pipelines import EndpointCall, PipelineStep
from tests.agreement.study import Study, make_study
from tests.regions import region_names

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

NAMES = ("fern", "moss high", "moss low", "oak", "pine", "willow")
# How many of a response's four criteria are met in case n, so that scores differ from case to case.
MET: dict[str, Callable[[int], int]] = {
    "fern": lambda n: 1 + n % 2,
    "moss high": lambda n: 3 + (n % 3 == 0),
    "moss low": lambda n: 1 + (n % 4 != 0),
    "oak": lambda n: n % 3,
    "pine": lambda n: 2 + n % 2,
    "willow": lambda n: 4 - n % 2,
}
# Tokens in and out of the response to case n.
TOKENS: dict[str, Callable[[int], dict[str, Any]]] = {
    "fern": lambda n: {"tokens_in": 100 + n, "tokens_out": 50},
    "moss high": lambda n: {"usage": {"prompt_tokens": 100, "completion_tokens": 900 + 10 * n}},
    "moss low": lambda n: {"usage": {"input_tokens": 100, "output_tokens": 200}},
    "oak": lambda n: {"tokens_in": "100", "tokens_out": "400"},
    "pine": lambda n: {"tokens_in": 100, "tokens_out": -5},
    "willow": lambda n: {"tokens_in": 1000, "tokens_out": 1000} if n < 9 else {"tokens_in": True, "tokens_out": 7},
}
PRICES = {"fern": (1, 2), "moss high": (2, 8), "moss low": (2, 8), "oak": (1, 4), "pine": (3, 15), "willow": (10, None)}
DATES = {"fern": "2024-03-01", "moss high": "2025-02-01", "moss low": "2025-02-01", "oak": "2024-06-01",
         "pine": "2025-05-01", "willow": None}  # fmt: skip
FAMILIES = {"fern": "Green", "moss high": "Green", "moss low": "Green", "oak": "Tree", "pine": "Tree", "willow": ""}
N_CASES = 12


@pytest.fixture
def study() -> Study:
    study = make_study(cases=N_CASES, points=(1, 1, 1, 1), candidates=NAMES)
    for candidate in study.candidates:
        name = candidate.name
        price_in, price_out = PRICES[name]
        is_moss = name.startswith("moss")
        CandidateAttributes.objects.create(
            candidate=candidate,
            family=FAMILIES[name],
            release_date=DATES[name],
            price_in=price_in,
            price_out=price_out,
            currency="USD",
            price_date="2025-06-01",
            base_model="moss" if is_moss else "",
            effort=name.split()[1] if is_moss else "",
            size_total=None if is_moss else len(name),
        )
    for response in study.responses():
        response.metadata = TOKENS[response.candidate.name](number_of(response))
        response.save(update_fields=["metadata"])
    return study


def number_of(response: Response) -> int:
    return int(response.case.key.removeprefix("case-"))


def by_hand(study: Study) -> Callable[[tuple[int, int]], str]:
    """The outcome of each pair: as many criteria are met as `MET` says, the first ones of the rubric."""
    responses = {response.pk: response for response in study.responses()}

    def outcome(pair: tuple[int, int]) -> str:
        response = responses[pair[0]]
        place = study.criteria[response.case_id].index(pair[1])
        return "met" if place < MET[response.candidate.name](number_of(response)) else "not_met"

    return outcome


def ask(study: Study, **parameters: Any) -> Report:
    report = services.create_report(
        benchmark=study.benchmark, kind="frontier", parameters={"rater": "group:A", **parameters}, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def rows_of(report: Report, table: str, key: str = "candidate") -> dict[str, Row]:
    return {row[key]: row for row in table_of(report, table).dicts()}


def scores(name: str) -> list[float]:
    return [MET[name](n) / 4 for n in range(N_CASES)]


def test_costs_rest_on_recorded_tokens_and_listed_prices_and_are_never_made_up(study: Study) -> None:
    study.group("A", by_hand(study))
    rows = rows_of(ask(study), "cost_frontier")
    assert [*rows] == sorted(NAMES)
    for name, row in rows.items():
        assert row["score"] == pytest.approx(np.mean(scores(name)))
        assert row["score_low"] < row["score"] < row["score_high"]
    # Mean tokens in: 100 + (0 + … + 11) / 12 = 105.5; out 50. Prices of a million: 1 and 2.
    assert rows["fern"]["cost"] == pytest.approx((105.5 * 1 + 50 * 2) / 1e6)
    assert rows["moss high"]["cost"] == pytest.approx((100 * 2 + (900 + 55) * 8) / 1e6)
    assert rows["moss low"]["cost"] == pytest.approx((100 * 2 + 200 * 8) / 1e6)
    assert rows["oak"]["cost"] == pytest.approx((100 * 1 + 400 * 4) / 1e6)
    assert {rows[name]["cost_basis"] for name in ("fern", "moss high", "moss low", "oak")} == {"tokens"}
    assert (rows["fern"]["n_costed"], rows["fern"]["cost_currency"]) == (12, "USD")
    # A negative number is none; and nine of willow's responses have tokens, but no output price is listed.
    assert (rows["pine"]["cost"], rows["pine"]["n_costed"]) == (None, 0)
    assert "cost: no tokens are recorded with these responses" in rows["pine"]["note"]
    assert (rows["willow"]["cost"], rows["willow"]["n_costed"]) == (None, 9)
    assert "cost: the attributes do not have the prices of input and output tokens" in rows["willow"]["note"]
    assert "price_out: the attributes do not have the price of output tokens" in rows["willow"]["note"]
    # fern 0.375 at 206e-6, moss high 0.833 at 7840e-6, moss low 0.4375 at 1800e-6, oak 0.25 at 1700e-6.
    marks = {name: (row["frontier"], row["dominated_by"], row["family_frontier"]) for name, row in rows.items()}
    assert marks == {
        "fern": (True, None, True),
        "moss high": (True, None, True),
        "moss low": (True, None, True),
        "oak": (False, "fern", True),
        "pine": (None, None, None),
        "willow": (None, None, None),
    }
    # By price of output: fern 2, oak 4, moss 8 (the better one), pine 15 with 0.625.
    assert {name: row["price_frontier"] for name, row in rows.items()} == {
        "fern": True, "moss high": True, "moss low": False, "oak": False, "pine": False, "willow": None,
    }  # fmt: skip
    assert rows["pine"]["price_dominated_by"] == rows["moss low"]["price_dominated_by"] == "moss high"


def test_the_best_so_far_is_the_cumulative_maximum_by_date(study: Study) -> None:
    study.group("A", by_hand(study))
    table = table_of(ask(study, measure="rubric_accuracy"), "progress").dicts()
    assert [row["candidate"] for row in table] == ["fern", "oak", "moss high", "moss low", "pine"]
    frame = pd.DataFrame({"day": [DATES[row["candidate"]] for row in table],
                          "score": [100 * np.mean(scores(row["candidate"])) for row in table]})  # fmt: skip
    best = frame.groupby("day")["score"].max().cummax()
    assert [row["best_so_far"] for row in table] == pytest.approx([best[day] for day in frame["day"]])
    assert [row["new_best"] for row in table] == [True, False, True, True, False]
    steps = {row["candidate"]: (row["step_from"], row["step"], row["n_shared_cases"]) for row in table}
    # The best of the family before that day; those of the same day do not count.
    for name, former in (("moss high", "fern"), ("moss low", "fern"), ("pine", "oak")):
        own = 100 * np.mean(scores(name)) - 100 * np.mean(scores(former))
        assert steps[name] == (former, pytest.approx(own), N_CASES)
    assert (steps["fern"], steps["oak"]) == ((None, None, None), (None, None, None))
    assert "step: no earlier candidate of the family" in table[0]["note"]


def test_settings_are_compared_on_the_cases_of_both(study: Study) -> None:
    # Two cases have no response of the high setting: they are in no difference.
    high = study.candidates[NAMES.index("moss high")]
    Response.objects.filter(candidate=high, case__key__in=["case-00", "case-01"]).delete()
    study.group("A", by_hand(study))
    report = ask(study)
    settings = table_of(report, "settings").dicts()
    assert [(row["base_model"], row["effort"], row["candidate"]) for row in settings] == [
        ("moss", "low", "moss low"), ("moss", "high", "moss high"),
    ]  # fmt: skip
    (row,) = table_of(report, "setting_differences").dicts()
    apart = np.subtract(scores("moss high")[2:], scores("moss low")[2:])
    assert (row["first"], row["second"], row["n_cases"]) == ("moss low", "moss high", 10)
    assert row["difference"] == pytest.approx(apart.mean())
    assert row["difference_low"] < row["difference"] < row["difference_high"]
    # With a response a case this is close to Student's interval of the paired differences.
    low, high_end = stats.t.interval(0.95, 9, loc=apart.mean(), scale=stats.sem(apart))
    assert row["difference_high"] - row["difference_low"] == pytest.approx(high_end - low, rel=0.35)
    # Cases 2 to 11 of the high setting, all of the low one.
    cost = {"high": (100 * 2 + (900 + 65) * 8) / 1e6, "low": (100 * 2 + 200 * 8) / 1e6}
    assert row["cost_ratio"] == pytest.approx(cost["high"] / cost["low"])
    lengths = {name: np.mean([len(r.text) for r in study.responses() if r.candidate.name == f"moss {name}"])
               for name in ("low", "high")}  # fmt: skip
    assert row["length_ratio"] == pytest.approx(lengths["high"] / lengths["low"])


def test_families_name_their_best_and_cheapest(study: Study) -> None:
    study.group("A", by_hand(study))
    rows = rows_of(ask(study, measure="cacs_at_k", k=2), "model_families", "family")
    columns = ("n_candidates", "best_candidate", "cheapest_candidate", "n_frontier")
    assert [tuple(rows[name][column] for column in columns) for name in ("Green", "Tree")] == [
        (3, "moss high", "fern", 3), (2, "pine", "oak", 0),
    ]  # fmt: skip
    assert (rows["Green"]["first_date"], rows["Green"]["last_date"]) == ("2024-03-01", "2025-02-01")
    # CACS@2 of s hits of 4: 100 · max(0, s − 1) / 3.
    best = [100 * max(0, MET["pine"](n) - 1) / 3 for n in range(N_CASES)]
    assert rows["Tree"]["score"] == pytest.approx(np.mean(best))


def test_several_currencies_are_not_compared_and_a_change_of_attributes_makes_it_stale(
    study: Study, client: Client
) -> None:
    study.group("A", by_hand(study))
    before = ask(study)
    client.force_login(study.admin)
    address = f"/b/{study.benchmark.slug}/scores/{before.public_id}/"
    page = client.get(address).content.decode()
    assert before.input_digest in page
    for words in ("on the frontier", "new best", "Settings side by side", "fern is at least as good and costs no more"):
        assert words in " ".join(page.split()), words
    for figure in ("cost_frontier", "price_frontier", "progress", "settings", "size"):
        assert f'id="figure-{figure}"' in page
    names = region_names(page)
    assert "Figure: Cost and quality" in names and len(set(names)) == len(names) > 5
    CandidateAttributes.objects.filter(candidate__name="pine").update(family="Needle")
    assert read_inputs(study.benchmark, rater="group:A", k=1).digest != before.input_digest
    CandidateAttributes.objects.filter(candidate__name="pine").update(family="Tree")
    assert read_inputs(study.benchmark, rater="group:A", k=1).digest == before.input_digest
    CandidateAttributes.objects.filter(candidate__name="oak").update(currency="EUR", price_date=date(2025, 7, 1))
    after = ask(study)
    assert after.input_digest != before.input_digest
    rows = rows_of(after, "cost_frontier")
    assert {row["frontier"] for row in rows.values()} == {None}
    for name in ("frontier", "price_frontier"):
        assert f"{name}: prices in several currencies: EUR, USD" in rows["fern"]["note"]
    families = table_of(after, "model_families").dicts()
    assert families[1]["cheapest_candidate"] == "oak"
    assert {row["n_frontier"] for row in families} == {None}
    assert client.get(f"/b/{study.benchmark.slug}/scores/{after.public_id}/").status_code == 200


def test_without_any_attribute_the_page_says_what_is_missing(client: Client) -> None:
    study = make_study(cases=3, points=(1, 1, 1, 1), candidates=NAMES)
    study.group("A", by_hand(study))
    report = ask(study)
    client.force_login(study.admin)
    page = " ".join(client.get(f"/b/{study.benchmark.slug}/scores/{report.public_id}/").content.decode().split())
    for words in (
        "No candidate with a score has a release date among its attributes.",
        "No two candidates have the same base model among their attributes.",
        "No candidate has a family among its attributes.",
        "No tokens are recorded with these responses",
    ):
        assert words.lower() in page.lower(), words
    assert {row["cost"] for row in table_of(report, "cost_frontier").dicts()} == {None}


def test_an_unknown_measure_is_refused(study: Study) -> None:
    from agreement.reports.parameters import WrongParameters

    study.group("A", by_hand(study))
    with pytest.raises(WrongParameters, match="must be one of"):
        ask(study, measure="worst")


def generated(study: Study, name: str, model: str, *, calls: int, tokens_in: int, tokens_out: int) -> PipelineRun:
    """A run that asked ``model`` for all responses of a candidate; each answer has a call of its own."""
    candidate = study.candidates[NAMES.index(name)]
    now = timezone.now()
    run = PipelineRun.objects.create(
        kind="responses", benchmark=study.benchmark, candidate=candidate, status="finished", created_at=now,
        asks=[f"https://models.example.org/v1 {model}"], calls=calls, tokens_in=tokens_in, tokens_out=tokens_out,
    )  # fmt: skip
    for response in Response.objects.filter(candidate=candidate):
        call = EndpointCall.objects.create(
            benchmark=study.benchmark, run=run, request_hash=f"{response.pk}", endpoint="https://models.example.org/v1",
            model=model, request=b"{}", answer=b"{}", tokens_in=1, tokens_out=1, latency_ms=1, created_at=now,
        )  # fmt: skip
        step = PipelineStep.objects.create(
            run=run, case=response.case, key="0", stage="response", state="done", output={}, call=call
        )
        GeneratedResponse.objects.create(step=step, response=response)
    return run


def test_responses_that_runs_asked_for_cost_what_their_calls_cost(study: Study) -> None:
    # 15 calls for 12 answers: three were repeated or failed, and cost as well.
    for name, model in (("fern", "fern-1"), ("pine", "pine-1"), ("willow", "willow-1")):
        generated(study, name, model, calls=15, tokens_in=24_000, tokens_out=6_000)
    PipelineRun.objects.create(
        kind="classify", benchmark=study.benchmark, candidate=study.candidates[0], status="finished",
        asks=["https://models.example.org/v1 fern-1"], config={"price_in": 5, "price_out": 20, "currency": "CHF"},
        created_at=timezone.now(),
    )  # fmt: skip
    study.group("A", by_hand(study))
    report = ask(study)
    rows = rows_of(report, "cost_frontier")
    # The price of another run that asked the same model at the same endpoint, not the listed one.
    assert (rows["fern"]["cost_basis"], rows["fern"]["cost_currency"]) == ("calls", "CHF")
    assert rows["fern"]["cost"] == pytest.approx((24_000 * 5 + 6_000 * 20) / 1e6 / 12)
    # No run has a price: the listed ones, 3 and 15.
    assert (rows["pine"]["cost_basis"], rows["pine"]["cost_currency"]) == ("calls_listed", "USD")
    assert rows["pine"]["cost"] == pytest.approx((24_000 * 3 + 6_000 * 15) / 1e6 / 12)
    assert (rows["pine"]["tokens_in"], rows["pine"]["tokens_out"], rows["pine"]["n_costed"]) == (2_000, 500, 12)
    # Neither runs nor attributes have a price.
    assert (rows["willow"]["cost"], rows["willow"]["cost_basis"]) == (None, "")
    assert "cost: no price of the tokens is known" in rows["willow"]["note"]
    assert rows["moss low"]["cost_basis"] == "tokens"
