"""The scoreboard of any slice, and the sections below it: against arithmetic over the same decisions, done naively."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone

from agreement import services, tasks
from agreement.kinds import kind_of
from agreement.kinds.scores_tables import compute
from agreement.models import NamedSlice, Report
from agreement.reports.changes import changes_since
from agreement.reports.methods import methods_of
from agreement.reports.stored import table_of
from agreement.reports.tables import Result
from consilium.statistics.bootstrap import CaseBootstrap
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule, PercentileBootstrap
from rubrics.models import Case, Response
from tests.agreement.study import Study, coin, make_study, noisy
from tests.factories import CaseFactory, ResponseFactory
from tests.statistics.by_hand import difference_ends, less_mean, logit_jackknife, rank_ranges

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
K = 3
CRITERIA = 5
NAMES = ("alpha", "beta", "gamma", "delta")


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=24, points=(1,) * CRITERIA, candidates=NAMES)
    for n, case in enumerate(Case.objects.filter(benchmark=study.benchmark).order_by("pk")):
        register = "professional" if n % 2 else "lay"
        tags = [*case.tags, f"specialty:{('neurology', 'cardiology', 'dermatology')[n % 3]}"]
        Case.objects.filter(pk=case.pk).update(register=register, language=("en", "zh")[n // 12], tags=tags)
    study.benchmark.maps = {"specialty": {"neurology": "brain", "cardiology": "inner", "dermatology": "inner"}}
    study.benchmark.save(update_fields=["maps"])
    study.group("A", coin(3, "met", "met", "not_met"))
    study.group("B", noisy(study, "A", 4, 0.2))
    study.judge("J", noisy(study, "A", 5, 0.3))
    return study


def result(study: Study, also: tuple[str, ...] = ("J", "group:B"), rule: IntervalRule = DEFAULT_RULE) -> Result:
    return compute(study.benchmark, rater="group:A", k=K, also=also, rule=rule, seed=7)


def hits(study: Study, rater: str) -> dict[int, int]:
    """How many criteria of each response ``rater`` said are met."""
    hits_by_response: dict[int, int] = {}
    for (response, _criterion), outcome in study.outcomes[rater].items():
        hits_by_response[response] = hits_by_response.get(response, 0) + (outcome == "met")
    return hits_by_response


def figures(given: list[int]) -> dict[str, float]:
    """The figures of responses with so many of five criteria met, by their definitions."""
    return {
        "rubric_accuracy": 100 * sum(given) / (CRITERIA * len(given)),
        "cacs_at_k": 100 * sum(max(0, s - K + 1) / (CRITERIA - K + 1) for s in given) / len(given),
        "pass_at_k": sum(s >= K for s in given) / len(given),
        "rubric_score": sum(given) / (CRITERIA * len(given)),
    }


def of(study: Study, candidate: str, inside: Callable[[Case], bool] = lambda case: True) -> list[int]:
    met = hits(study, "A")
    rows = Response.objects.filter(case__benchmark=study.benchmark, candidate__name=candidate).select_related("case")
    return [met[response.pk] for response in rows if inside(response.case)]


def row(rows: list[dict[str, Any]], **conditions: Any) -> dict[str, Any]:
    (match,) = [row for row in rows if all(row[name] == value for name, value in conditions.items())]
    return match


def test_every_slice_has_its_figures(study: Study) -> None:
    rows = result(study).tables["scoreboard_slices"].dicts()
    inner = {"specialty:cardiology", "specialty:dermatology"}
    for name, inside in {
        "overall_score": lambda case: True,
        "theme:even": lambda case: "theme:even" in case.tags,
        "register:lay": lambda case: case.register == "lay",
        "language:zh": lambda case: case.language == "zh",
        "specialty_group:inner": lambda case: bool(inner & set(case.tags)),
    }.items():
        expected = {candidate: figures(of(study, candidate, inside)) for candidate in NAMES}
        for candidate, values in expected.items():
            own = row(rows, slice=name, candidate=candidate)
            for figure, value in values.items():
                assert own[figure] == pytest.approx(value, abs=1e-9), (name, candidate, figure)
                # One response a case.
                assert own[f"{figure}_effective"] == pytest.approx(len(of(study, candidate, inside)))
                assert own[f"{figure}_low"] <= value + 1e-9
                assert value - 1e-9 <= own[f"{figure}_high"]
                assert own[f"{figure}_low"] < own[f"{figure}_high"]
                if value in (0, 1, 100):
                    # At a bound, as where nobody reaches k.
                    assert "without one case the figure is at its limit" in own["note"]
                rank = 1 + sum(other[figure] > value + 1e-9 for other in expected.values())
                assert own[f"{figure}_rank"] == rank
                assert 1 <= own[f"{figure}_rank_low"] <= rank <= own[f"{figure}_rank_high"] <= len(NAMES)
    few = row(rows, slice="specialty:neurology", candidate="alpha")  # 8 of 24 cases
    assert few["cacs_at_k_rank"] is not None
    percentile = result(study, rule=PercentileBootstrap(7))
    drawn = percentile.tables["scoreboard_slices"].dicts()
    few = row(drawn, slice="specialty:neurology", candidate="alpha")
    assert few["cacs_at_k_rank"] is None
    assert "no rank: 8 of the 10 cases needed" in few["note"]


def test_worst_at_k_is_bounded_by_the_least_scores_of_the_cases_used() -> None:
    # Six cases of two responses, whose least score is -1, and four of one, whose least is 0: worst-at-2 has the six.
    mixed = make_study(cases=0, points=(), candidates=("alpha",))
    met: dict[int, int] = {}
    for n in range(10):
        case = CaseFactory(benchmark=mixed.benchmark, rubric=[1, 1, -2] if n < 6 else [1, 1])
        for sample in range(2 if n < 6 else 1):
            response = ResponseFactory(case=case, candidate=mixed.candidates[0], sample=sample)
            met[response.pk] = (n + sample) % 3
    place = {criterion: n for criteria in mixed.criteria.values() for n, criterion in enumerate(criteria)}
    mixed.group("A", lambda pair: "met" if place[pair[1]] < met[pair[0]] else "not_met")
    board = compute(mixed.benchmark, rater="group:A", k=1, seed=0)
    own = row(board.tables["scoreboard"].dicts(), candidate="alpha")
    # The lesser of n mod 3 and (n + 1) mod 3 of two criteria.
    worst = [0.0, 0.5, 0.0, 0.0, 0.5, 0.0]
    without = [(sum(worst) - score) / 5 for score in worst]
    expected = logit_jackknife(without, sum(worst) / 6, [1] * 6, -1.0, 1.0)
    assert own["worst_k"] == 2
    assert own["worst_at_k"] == pytest.approx(sum(worst) / 6)
    assert own["worst_at_k_high"] == pytest.approx(expected[1])


def test_ranges_of_ranks_are_those_of_paired_comparisons() -> None:
    apart = make_study(cases=12, points=(1,) * CRITERIA, candidates=NAMES)
    rng = random.Random(5)
    skill = dict(zip(NAMES, (0.25, 0.5, 0.55, 0.9), strict=True))
    candidate_of = {response.pk: response.candidate.name for response in apart.responses()}
    apart.group("A", lambda pair: "met" if rng.random() < skill[candidate_of[pair[0]]] else "not_met")
    met = hits(apart, "A")
    by_case: dict[str, list[int]] = {}
    for response in sorted(apart.responses(), key=lambda response: NAMES.index(candidate_of[response.pk])):
        by_case.setdefault(response.case.key, []).append(met[response.pk])
    expected = rank_ranges(list(by_case.values()), [CRITERIA] * len(by_case))
    board = compute(apart.benchmark, rater="group:A", k=K, seed=7).tables["scoreboard"].dicts()
    for name, place in zip(NAMES, expected, strict=True):
        own = row(board, candidate=name)
        assert tuple(own[f"rubric_accuracy_rank{end}"] for end in ("", "_low", "_high")) == place
    assert [high - low for _rank, low, high in expected] != [3] * 4


def test_candidates_on_other_cases_are_not_compared() -> None:
    """One has all criteria of its 12 cases, the other none of its 12: their figures differ as far as they can."""
    apart = make_study(cases=24, points=(1,) * CRITERIA, candidates=("alpha", "beta"))
    cases = list(Case.objects.filter(benchmark=apart.benchmark).order_by("pk"))
    Response.objects.filter(case__in=cases[:12], candidate__name="beta").delete()
    Response.objects.filter(case__in=cases[12:], candidate__name="alpha").delete()
    good = set(Response.objects.filter(candidate__name="alpha").values_list("pk", flat=True))
    apart.group("A", lambda pair: "met" if pair[0] in good else "not_met")
    for rule in (DEFAULT_RULE, PercentileBootstrap(1)):
        board = compute(apart.benchmark, rater="group:A", k=K, rule=rule, seed=7).tables["scoreboard"].dicts()
        for name, place in (("alpha", (1, 1, 2)), ("beta", (2, 1, 2))):
            own = row(board, candidate=name)
            assert tuple(own[f"cacs_at_k_rank{end}"] for end in ("", "_low", "_high")) == place
            assert "range not narrowed by 1 candidate with which it has no shared case" in own["note"]
    report = services.create_report(
        benchmark=apart.benchmark, kind="scores", parameters={"rater": "group:A", "k": K}, seed=0, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    client = Client()
    client.force_login(apart.admin)
    page = " ".join(client.get(f"/b/{apart.benchmark.slug}/scores/{report.public_id}/").content.decode().split())
    assert "Candidates that share no case, or too few cases, are not compared with each other." in page


def test_a_figure_and_differences_by_hand(study: Study) -> None:
    scoreboard = result(study)
    met = hits(study, "A")
    rows = Response.objects.filter(case__benchmark=study.benchmark, candidate__name="beta").select_related("case")
    by_case = {response.case.key: (met[response.pk], response.case) for response in rows}

    def scored(name: str, inside: Callable[[Case], bool]) -> tuple[tuple[float, float, float], dict[str, float]]:
        """The figure with its ends over the cases that are inside, and its deviations without each of them."""
        chosen = {key: s for key, (s, case) in by_case.items() if inside(case)}
        value = figures(list(chosen.values()))[name]
        without = [figures([s for other, s in chosen.items() if other != key])[name] for key in chosen]
        most = 1.0 if name in ("pass_at_k", "rubric_score") else 100.0
        ends = logit_jackknife(without, value, [1] * len(chosen), 0.0, most)
        return (value, *ends), dict(zip(chosen, less_mean(without), strict=True))

    def apart(
        first: tuple[tuple[float, float, float], dict[str, float]],
        second: tuple[tuple[float, float, float], dict[str, float]],
    ) -> tuple[float, float]:
        deviations = [(first[1].get(key, 0.0), second[1].get(key, 0.0)) for key in {**first[1], **second[1]}]
        return difference_ends(first[0], second[0], deviations)

    def ends(own: dict[str, Any], name: str) -> tuple[float, float]:
        return own[f"{name}_low"], own[f"{name}_high"]

    accuracy, cacs = (scored(name, lambda case: True) for name in ("rubric_accuracy", "cacs_at_k"))
    whole = row(scoreboard.tables["scoreboard"].dicts(), candidate="beta")
    assert ends(whole, "cacs_at_k") == pytest.approx(cacs[0][1:], abs=1e-9)
    assert ends(whole, "worst_at_k") == pytest.approx(ends(whole, "rubric_score"))  # of one sample a case
    gap = row(scoreboard.tables["gap"].dicts(), slice="overall_score", candidate="beta")
    assert ends(gap, "gap_cacs") == pytest.approx(apart(accuracy, cacs), abs=1e-9)
    even = scored("cacs_at_k", lambda case: "theme:even" in case.tags)
    family = row(scoreboard.tables["families"].dicts(), family="theme:even", candidate="beta")
    assert ends(family, "cacs_at_k_deviation") == pytest.approx(apart(even, cacs), abs=1e-9)
    registers = [
        scored("rubric_score", lambda case, kind=kind: case.register == kind) for kind in ("lay", "professional")
    ]  # type: ignore[misc]
    register = row(scoreboard.tables["registers"].dicts(), candidate="beta")
    # The two have no case in common.
    assert ends(register, "rubric_score_difference") == pytest.approx(apart(*registers), abs=1e-9)
    assert register["rubric_score_difference_effective"] == pytest.approx(12)


def test_percentile_differences_take_their_intervals_from_joint_resamples(study: Study) -> None:
    scoreboard = result(study, rule=PercentileBootstrap(7))
    cases = list(Case.objects.filter(benchmark=study.benchmark).order_by("pk"))
    met = hits(study, "A")
    rows = Response.objects.filter(case__benchmark=study.benchmark, candidate__name="beta").order_by("case")
    by_case = [met[response.pk] for response in rows]
    drawn = {"gap": [], "family": [], "register": []}  # type: ignore[var-annotated]
    for weights in np.concatenate(list(CaseBootstrap(24, 7).weight_blocks())).astype(int):
        taken = [(s, case) for s, case, times in zip(by_case, cases, weights, strict=True) for _ in range(times)]
        whole = figures([s for s, _case in taken])
        even = figures([s for s, case in taken if "theme:even" in case.tags])
        lay, other = ([s for s, case in taken if case.register == register] for register in ("lay", "professional"))
        drawn["gap"].append(whole["rubric_accuracy"] - whole["cacs_at_k"])
        drawn["family"].append(even["cacs_at_k"] - whole["cacs_at_k"])
        drawn["register"].append(figures(lay)["pass_at_k"] - figures(other)["pass_at_k"])
    gap = row(scoreboard.tables["gap"].dicts(), slice="overall_score", candidate="beta")
    family = row(scoreboard.tables["families"].dicts(), family="theme:even", candidate="beta")
    register = row(scoreboard.tables["registers"].dicts(), candidate="beta")
    for own, name, replicates in (
        (gap, "gap_cacs", drawn["gap"]),
        (family, "cacs_at_k_deviation", drawn["family"]),
        (register, "pass_at_k_difference", drawn["register"]),
    ):
        low, high = np.quantile(replicates, [0.025, 0.975])
        assert (own[f"{name}_low"], own[f"{name}_high"]) == pytest.approx((low, high), abs=1e-9)
    everything = figures(by_case)
    assert gap["gap_cacs"] == pytest.approx(everything["rubric_accuracy"] - everything["cacs_at_k"], abs=1e-9)
    assert gap["gap_pass"] == pytest.approx(everything["rubric_accuracy"] - 100 * everything["pass_at_k"], abs=1e-9)
    assert (register["n_lay"], register["n_cases_professional"]) == (12, 12)
    assert scoreboard.facts["family_kind"] == "theme"


def test_a_report_keeps_the_rule_that_it_was_asked_for(study: Study) -> None:
    tables = {}
    for interval in ("jackknife", "percentile"):
        report = services.create_report(
            benchmark=study.benchmark,
            kind="scores",
            parameters={"rater": "group:A", "k": K, "also": []},
            interval=interval,
            at=timezone.now(),
        )
        tasks.run_report(report.pk)
        report.refresh_from_db()
        assert report.result["facts"]["interval"] == interval
        assert report.result["facts"].get("resamples") == (1000 if interval == "percentile" else None)
        tables[interval] = row(table_of(report, "scoreboard").dicts(), candidate="beta")
    jackknife, percentile = tables["jackknife"], tables["percentile"]
    assert jackknife["cacs_at_k"] == percentile["cacs_at_k"]
    assert jackknife["cacs_at_k_low"] != percentile["cacs_at_k_low"]
    assert "cacs_at_k_effective" in percentile


def test_a_gap_says_how_many_responses_only_rubric_accuracy_counts() -> None:
    study = make_study(cases=10, points=(1, 1, 1), candidates=("alpha",))
    for n in range(2):
        case = CaseFactory(benchmark=study.benchmark, key=f"short-{n}", rubric=[1, 1])
        ResponseFactory(case=case, candidate=study.candidates[0])
    study.group("A", coin(3, "met", "not_met"))
    tables = compute(study.benchmark, rater="group:A", k=3, also=(), rule=DEFAULT_RULE, seed=1).tables
    gap = row(tables["gap"].dicts(), slice="overall_score")
    assert (gap["n"], gap["note"]) == (12, "2 responses with fewer than k positive criteria")
    assert gap["gap_cacs_low"] < gap["gap_cacs"] < gap["gap_cacs_high"]


def test_other_graders_are_those_of_scipy_on_shared_responses(study: Study) -> None:
    from scipy.stats import kendalltau, spearmanr

    scoreboard = result(study)
    values, accuracies = [], []
    for rater in ("A", "J"):
        met = hits(study, rater)
        rows = Response.objects.filter(case__benchmark=study.benchmark).values_list("pk", "candidate__name")
        made_of = [[met[pk] for pk, name in rows if name == candidate] for candidate in NAMES]
        values.append([round(figures(own)["cacs_at_k"], 9) for own in made_of])  # ties must stay ties
        accuracies.append([figures(own)["rubric_accuracy"] for own in made_of])
    own = row(scoreboard.tables["robustness"].dicts(), other="J", setting="cacs_at_k")
    assert own["spearman"] == pytest.approx(spearmanr(*values).statistic, abs=1e-9)
    assert own["kendall"] == pytest.approx(kendalltau(*values).statistic, abs=1e-9)
    assert own["mean_absolute_difference"] == pytest.approx(np.abs(np.subtract(*values)).mean(), abs=1e-9)
    assert (own["n_responses"], own["n_candidates"], own["top5"]) == (96, 4, None)
    assert "top5: only 4 candidates: all are in the top 5" in own["note"]
    accuracy = row(scoreboard.tables["robustness"].dicts(), other="J", setting="rubric_accuracy")
    expected = np.abs(np.subtract(*accuracies)).mean()
    assert accuracy["mean_absolute_difference"] == pytest.approx(expected, abs=1e-9)
    theirs = row(scoreboard.tables["graders"].dicts(), other="J", setting="cacs_at_k", candidate="gamma")
    assert theirs["other_value"] == pytest.approx(values[1][2], abs=1e-9)


def test_physicians_are_counted_beside_their_agreement_and_length_beside_scores(study: Study) -> None:
    from scipy.stats import pearsonr
    from sklearn.metrics import f1_score

    scoreboard = result(study)
    whole, alpha = scoreboard.tables["counts"].dicts()[:2]
    outcomes_by_group = [[outcome == "met" for outcome in study.outcomes[name].values()] for name in ("A", "B")]
    assert whole["mf1"] == pytest.approx(f1_score(*outcomes_by_group, average="macro"), abs=1e-9)
    assert whole["mf1_low"] < whole["mf1"] < whole["mf1_high"]
    assert (whole["n_annotators"], whole["n_checkers"], whole["n_decisions"]) == (2, 0, 2 * 96 * CRITERIA)
    assert (alpha["slice"], alpha["n_responses"], alpha["n_decisions"]) == ("candidate:alpha", 24, 2 * 24 * CRITERIA)
    met = hits(study, "A")
    texts = Response.objects.filter(case__benchmark=study.benchmark).values_list("pk", "text")
    lengths = [len(text) for _pk, text in texts]
    length = scoreboard.tables["length"].dicts()[0]
    assert length["mean_length"] == pytest.approx(np.mean(lengths))
    if len(set(lengths)) > 1:
        expected = pearsonr(lengths, [met[pk] for pk, _text in texts]).statistic
        assert length["hits_pearson"] == pytest.approx(expected, abs=1e-9)
        assert length["hits_spearman_low"] < length["hits_spearman"] < length["hits_spearman_high"]
        assert length["hits_spearman_effective"] == pytest.approx(24)
    else:
        assert "hits_pearson" in length["note"]


def test_the_same_inputs_give_the_same_bytes_and_other_labels_another_digest(study: Study) -> None:
    first, again = result(study), result(study)
    for name, table in first.tables.items():
        assert "".join(table.csv()) == "".join(again.tables[name].csv()), name
        assert "nan" not in "".join(table.csv()).lower()
    assert first.digest == again.digest
    study.benchmark.maps = {"specialty": {"neurology": "brain"}}
    assert result(study).digest != first.digest


def client_of(study: Study) -> Client:
    client = Client()
    client.force_login(study.admin)
    return client


def report_of(study: Study) -> Report:
    report = services.create_report(
        benchmark=study.benchmark, kind="scores", parameters={"rater": "group:A", "k": K}, at=timezone.now()
    )
    tasks.run_report(report.pk)
    report.refresh_from_db()
    return report


def test_a_slice_is_drawn_up_kept_and_chosen(study: Study) -> None:
    client, place = client_of(study), f"/b/{study.benchmark.slug}/scores/slices/"
    form = {"rule": "hard", "n": "11", "rater": "group:A@checked", "candidates": ["alpha", "beta"]}
    preview = client.get(f"{place}preview", form).content.decode()
    assert ">11<" in re.sub(r"\s", "", preview)
    assert client.get(f"{place}preview", {**form, "n": ""}).content.decode().count("hardest cases") == 1
    assert not NamedSlice.objects.exists()
    refused = client.post(place, {**form, "title": "Hard", "candidates": []})
    assert refused.status_code == 422
    assert client.post(place, {**form, "title": "Hard eleven"}).status_code == 302
    kept = NamedSlice.objects.get()
    # HealthBench's rule again, on the mean of two candidates: every case here has a candidate above 0 or is dropped.
    met = hits(study, "A")
    rows = Response.objects.filter(case__benchmark=study.benchmark, candidate__name__in=["alpha", "beta"])
    means: dict[tuple[str, int], list[int]] = {}
    for response in rows.select_related("case"):
        means.setdefault((response.case.key, response.case_id), []).append(met[response.pk])
    left = sorted((sum(both), key, pk) for (key, pk), both in means.items() if max(both) > 0)
    assert kept.case_ids == sorted(pk for _sum, _key, pk in left[:11])
    assert (kept.slug, kept.parameters["candidates"]) == ("hard-eleven", ["alpha", "beta"])
    assert client.post(place, {**form, "title": "Hard eleven"}).status_code == 409
    csv = b"".join(client.get(f"{place}hard-eleven.csv").streaming_content).decode()
    assert csv.count("\n") == 12

    report = report_of(study)
    page = f"/b/{study.benchmark.slug}/scores/{report.public_id}/"
    chosen = client.get(page, {"slice": "subset:hard-eleven"})
    html = chosen.content.decode()
    assert "Scoreboard: Hard eleven" in html
    expected = figures(of(study, "alpha", lambda case: case.pk in kept.case_ids))
    own = row(chosen.context["scoreboard"], candidate="alpha")
    assert own["cacs_at_k"] == pytest.approx(expected["cacs_at_k"], abs=1e-9)
    behind = client.get(own["url"])
    assert sum(behind.context["counts"].values()) == 11 * CRITERIA
    assert client.get(f"{page}decisions/", {"slice": "subset:nothing"}).status_code == 404
    assert client.get(page, {"slice": "no such slice"}).context["part"] == "overall_score"

    assert client.post(f"{place}hard-eleven/retire").status_code == 302
    given = {"rater": "group:A", "k": K}
    assert kind_of(report).complete(study.benchmark, given)["subsets"] == []
    assert client.get(own["url"]).status_code == 200  # the report that names it stands, and so do its parameters
    assert kind_of(report).complete(study.benchmark, report.parameters)["subsets"] == ["hard-eleven"]


def test_slices_by_the_api(study: Study) -> None:
    client, place = client_of(study), f"/api/v1/benchmarks/{study.benchmark.slug}/slices/"
    payload = {"rule": "above_zero", "rater": "group:A", "candidates": ["alpha"]}
    drawn = client.post(f"{place}preview/", payload, content_type="application/json").json()
    assert drawn["n_taken"] + drawn["n_without_positive"] == drawn["n_cases"] == 24
    assert client.post(place, {**payload, "rule": "x"}, content_type="application/json").status_code == 400
    response = client.post(place, {**payload, "title": "Some", "slug": "some"}, content_type="application/json")
    assert response.status_code == 201
    assert response.json()["cases"] == drawn["cases"]
    assert client.get(f"{place}some/").json()["n_cases"] == drawn["n_taken"]
    assert client.post(f"{place}some/retire/").json()["retired_at"]
    assert client.post(f"{place}some/retire/").status_code == 409
    assert [case_slice["slug"] for case_slice in client.get(place).json()] == ["some"]


def test_the_page_says_whether_k_is_signed_and_links_every_row(study: Study) -> None:
    report = report_of(study)
    assert report.parameters["also"] == ["group:B@checked", "J"]
    # The judge beside is no news: its run is one of those that went in.
    assert "newer_run" not in {change.what for change in changes_since(report, report.started_at)}
    methods = methods_of(report).text
    assert "J: version 1, run" in methods
    assert "96 of 96 responses have a rubric score" in methods  # 24 cases, 4 candidates
    assert "and 0 on which the annotators of a group were divided" in methods
    client, page = client_of(study), f"/b/{study.benchmark.slug}/scores/{report.public_id}/"
    html = client.get(page, {"sort": "rubric_accuracy", "slice": "theme:even"}).content.decode()
    assert "k = 3 is not signed" in html
    # Of the slice: every second case, each with as many criteria.
    assert "12 effective cases support these figures" in html
    assert "one large case, with many of the responses or decisions counted, counts less than" in " ".join(html.split())
    assert "Base a claim on at least 30" in html and "a threshold that is rarely reached, need 100" in html
    assert "rubric_score_se in the files" in methods and "HealthBench’s bootstrap_std" in methods
    assert "Rank by Rubric Accuracy among 4" in html
    assert 'aria-sort="descending"' in html
    for name in ("families", "registers", "ranks-1", "length", "coverage"):
        assert f'id="figure-{name}"' in html, name
    addresses = sorted(set(re.findall(r'href="(/b/[^"]*decisions/\?slice=[^"]*)"', html)))
    for address in addresses[:: len(addresses) // 4]:
        assert client.get(address.replace("&amp;", "&")).status_code == 200, address
