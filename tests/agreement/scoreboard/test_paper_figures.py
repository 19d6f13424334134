"""Figures of scores for a paper: worst-at-k, difficulty, values by part, single cases, and pairs around k.

Expected values are counted from the decisions of the study, with itertools, numpy and arithmetic.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone

from agreement import services, tasks
from agreement.models import Report
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from rubrics.models import Candidate, Case, Response
from tests.agreement.study import Study, coin, make_study
from tests.factories import CandidateFactory, CaseFactory, ResponseFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

K, CRITERIA, SAMPLES = 4, 6, 4


def made_study() -> Study:
    """Twelve cases in three difficulties and three themes; two models with four samples, and a physician."""
    study = make_study(cases=12, points=(1,) * CRITERIA, candidates=("alpha", "beta"))
    for n, case in enumerate(Case.objects.filter(benchmark=study.benchmark).order_by("key")):
        case.difficulty = ("low", "medium", "high")[n % 3]
        case.tags = [f"theme:{'abc'[n // 4]}"]
        case.save()
        for candidate, sample in itertools.product(study.candidates, range(1, SAMPLES)):
            ResponseFactory(case=case, candidate=candidate, sample=sample)
    written = CandidateFactory(benchmark=study.benchmark, name="doctor", kind=Candidate.Kind.PHYSICIAN)
    for case in Case.objects.filter(benchmark=study.benchmark, key__lt="case-08"):  # none of theme c
        ResponseFactory(case=case, candidate=written)
    study.group("A", coin(1, "met", "met", "not_met"))
    return study


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    return made_study()


def hits_of(study: Study) -> dict[tuple[str, str, int], int]:
    """(candidate, case, sample) → criteria met."""
    names = {
        response.pk: (response.candidate.name, response.case.key, response.sample)
        for response in Response.objects.filter(case__benchmark=study.benchmark).select_related("case", "candidate")
    }
    hits = dict.fromkeys(names.values(), 0)
    for (response, _criterion), outcome in study.outcomes["A"].items():
        hits[names[response]] += outcome == "met"
    return hits


def report_of(study: Study, **more: Any) -> Report:
    report = services.create_report(
        benchmark=study.benchmark,
        kind="scores",
        parameters={"rater": "group:A", "k": K, "also": [], **more},
        by=study.admin,
        at=timezone.now(),
    )
    tasks.run_report(report.pk)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def client_of(study: Study) -> Client:
    client = Client()
    client.force_login(study.admin)
    return client


def place(report: Report) -> str:
    return f"/b/{report.benchmark.slug}/scores/{report.public_id}/"


def rows_of(report: Report, name: str) -> list[Row]:
    return table_of(report, name).dicts()


def drawn(report: Report, study: Study, name: str) -> str:
    response = client_of(study).get(f"{place(report)}figures/{name}.svg")
    assert response.status_code == 200
    return response.content.decode()


def test_worst_at_k_is_the_mean_over_all_subsets_and_is_drawn_with_its_interval(study: Study) -> None:
    report, hits = report_of(study), hits_of(study)
    rows = {
        (row["candidate"], row["k"]): row for row in rows_of(report, "worst_at_k") if row["slice"] == "overall_score"
    }
    keys = sorted({case for _name, case, _sample in hits})
    for name, k in itertools.product(("alpha", "beta"), range(1, SAMPLES + 1)):
        by_case = [
            mean(
                min(chosen)
                for chosen in itertools.combinations([hits[name, key, n] / CRITERIA for n in range(SAMPLES)], k)
            )
            for key in keys
        ]
        row = rows[name, k]
        assert row["worst_at_k"] == pytest.approx(mean(by_case), abs=1e-12)
        assert (row["n_cases"], row["n_cases_short"], row["note"]) == (12, 0, "")
        # The rule of intervals, for a mean over cases that lies between 0 and 1: jackknife on the logit, t(11) = 2.201.
        values = np.array([(sum(by_case) - own) / 11 for own in by_case])
        logits = np.log(values / (1 - values))
        s = np.sqrt(11 / 12 * ((logits - logits.mean()) ** 2).sum())
        middle = np.log(mean(by_case) / (1 - mean(by_case)))
        ends = [1 / (1 + np.exp(-(middle + sign * 2.2009851600 * s))) for sign in (-1, 1)]
        assert [row["worst_at_k_low"], row["worst_at_k_high"]] == pytest.approx(ends, abs=1e-9)
    # The physician has one response a case, and so no second k.
    assert [k for name, k in rows if name == "doctor"] == [1]
    svg = drawn(report, study, "worst_at_k")
    row = rows["beta", 3]
    caption = (
        f"beta, 3: {row['worst_at_k']:.3f}, 95% interval {row['worst_at_k_low']:.3f} to {row['worst_at_k_high']:.3f}"
    )
    assert f"{caption}, n = 12" in svg
    assert "n = 12" in re.sub(r"<[^>]+>", " ", svg)
    short = next(row for row in rows_of(report, "worst_at_k") if row["slice"] == "theme:a" and row["k"] == 2)
    assert short["note"] == "no interval: 4.0 of the 5 effective cases needed"


def test_cases_with_too_few_samples_are_counted(db: None) -> None:
    study = make_study(cases=6, points=(1, 1), candidates=("alpha",))
    for case in Case.objects.filter(benchmark=study.benchmark, key__lt="case-04"):
        ResponseFactory(case=case, candidate=study.candidates[0], sample=1)
    study.group("A", coin(2, "met", "not_met"))
    rows = [row for row in rows_of(report_of(study), "worst_at_k") if row["slice"] == "overall_score"]
    assert [(row["k"], row["n_cases"], row["n_cases_short"]) for row in rows] == [(1, 6, 0), (2, 4, 2)]


def test_scores_by_difficulty_fall_from_the_easiest_to_the_hardest_cases(study: Study) -> None:
    report, hits = report_of(study), hits_of(study)
    level = {case.key: case.difficulty for case in Case.objects.filter(benchmark=study.benchmark)}
    values = [row for row in rows_of(report, "values") if row["kind"] == "difficulty"]
    assert list(dict.fromkeys(row["slice"].split(":")[1] for row in values)) == ["low", "medium", "high"]

    def accuracy(name: str, difficulty: str) -> float:
        own = [met for (candidate, key, _n), met in hits.items() if candidate == name and level[key] == difficulty]
        return 100 * sum(own) / (CRITERIA * len(own))

    shown = {(row["candidate"], row["slice"]): row for row in values if row["measure"] == "rubric_accuracy"}
    for name, difficulty in itertools.product(("alpha", "beta"), ("low", "medium", "high")):
        row = shown[name, f"difficulty:{difficulty}"]
        assert row["value"] == pytest.approx(accuracy(name, difficulty))
        assert (row["n"], row["n_cases"]) == (16, 4)
    fall = {(row["candidate"], row["measure"]): row for row in rows_of(report, "difficulty")}
    row = fall["alpha", "rubric_accuracy"]
    assert (row["easiest"], row["hardest"], row["n_easiest"], row["n_cases_hardest"]) == ("low", "high", 16, 4)
    assert row["drop"] == pytest.approx(accuracy("alpha", "low") - accuracy("alpha", "high"))
    assert row["note"] == "no interval: 4.0 of the 5 effective cases needed"
    svg = drawn(report, study, "difficulty-rubric_accuracy")
    assert f"alpha, Low: {accuracy('alpha', 'low'):.1f}, n = 16" in svg
    assert drawn(report, study, "difficulty-cacs_at_k") != svg
    page = client_of(study).get(place(report), {"figure": "difficulty-cacs_at_k"}).content.decode()
    assert 'id="figure-difficulty-cacs_at_k"' in page
    assert 'id="figure-difficulty-rubric_score"' not in page
    assert '<option value="difficulty-cacs_at_k" selected>' in " ".join(page.split())


def test_the_fall_has_the_interval_of_two_independent_figures() -> None:
    """Cases of two difficulties are different ones: the ends are those of a difference with correlation 0."""
    study = make_study(cases=16, points=(1,) * CRITERIA, candidates=("alpha",))
    study.group("A", coin(3, "met", "not_met", "met"))
    report = report_of(study)
    easy, hard = (
        next(
            row
            for row in rows_of(report, "values")
            if (row["slice"], row["measure"]) == (f"difficulty:{level}", "rubric_accuracy")
        )
        for level in ("low", "high")
    )
    row = next(row for row in rows_of(report, "difficulty") if row["measure"] == "rubric_accuracy")
    low = row["drop"] - np.hypot(easy["value"] - easy["low"], hard["high"] - hard["value"])
    high = row["drop"] + np.hypot(easy["high"] - easy["value"], hard["value"] - hard["low"])
    assert [row["drop_low"], row["drop_high"]] == pytest.approx([low, high])
    assert "take both sides as independent" in client_of(study).get(place(report)).content.decode()


def test_a_map_shows_each_value_with_n_and_hatches_what_is_undefined(study: Study) -> None:
    report, hits = report_of(study), hits_of(study)
    rows = {
        (row["candidate"], row["slice"]): row
        for row in rows_of(report, "values")
        if (row["kind"], row["measure"]) == ("theme", "rubric_accuracy")
    }
    svg = drawn(report, study, "values-theme-rubric_accuracy")
    text = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    for name, (theme, keys) in itertools.product(
        ("alpha", "beta"), (("a", range(4)), ("b", range(4, 8)), ("c", range(8, 12)))
    ):
        own = [hits[name, f"case-{n:02d}", sample] for n in keys for sample in range(SAMPLES)]
        assert rows[name, f"theme:{theme}"]["value"] == pytest.approx(100 * sum(own) / (CRITERIA * 16))
        assert f"{100 * sum(own) / (CRITERIA * 16):.1f}" in text
    assert text.count("n 16") == 6
    assert text.count("n 4") == 2
    empty = rows["doctor", "theme:c"]
    assert (empty["value"], empty["n"], empty["note"]) == (None, 0, "no responses")
    assert "doctor, c: undefined" in svg
    assert svg.count("undefined") == 1
    file = b"".join(client_of(study).get(f"{place(report)}tables/values.csv").streaming_content).decode()
    written = next(csv.DictReader(io.StringIO(file)))
    assert list(written) == [
        "kind", "slice", "candidate", "measure", "value", "low", "high", "effective", "n", "n_cases", "k", "note",
    ]  # fmt: skip
    page = client_of(study).get(place(report)).content.decode()
    assert 'id="figure-values-theme-rubric_score"' in page
    assert "Hatched: undefined; the table says why." in page


@pytest.mark.parametrize("look", ["width=85", "width=174", "width=85&grey=1"])
def test_every_figure_is_a_file_at_the_width_of_a_journal(study: Study, look: str) -> None:
    report = report_of(study)
    names = ("worst_at_k", "difficulty-pass_at_k", "difficulty_drop", "values-theme-cacs_at_k", "cases-varied")
    for name in names:
        answer = client_of(study).get(f"{place(report)}figures/{name}.svg?{look}")
        assert f'width="{look[6:].partition("&")[0]}.00mm"' in answer.content.decode()
    assert client_of(study).get(f"{place(report)}figures/cases-chosen.svg").status_code == 404


def test_the_hardest_and_most_varied_cases_are_chosen_by_the_models_responses(study: Study) -> None:
    report, hits = report_of(study, cases=["case-03", "case-10"]), hits_of(study)
    by_models: dict[str, list[int]] = {}
    for (name, key, _sample), met in hits.items():
        if name != "doctor":
            by_models.setdefault(key, []).append(met)
    rows = {row["case"]: row for row in rows_of(report, "case_hits")}
    for key, own in by_models.items():
        row = rows[key]
        assert (row["n"], row["n_reached"], row["least"], row["most"]) == (
            8, sum(met >= K for met in own), min(own), max(own),
        )  # fmt: skip
        assert (row["mean"], row["sd"]) == (pytest.approx(mean(own)), pytest.approx(stdev(own)))
        assert [row["q1"], row["median"], row["q3"]] == pytest.approx(np.quantile(own, [0.25, 0.5, 0.75]).tolist())
        assert row["physician_mean"] == (hits["doctor", key, 0] if key < "case-08" else None)
    hardest = sorted(by_models, key=lambda key: (mean(by_models[key]), key))
    varied = sorted(by_models, key=lambda key: (-stdev(by_models[key]), key))
    assert sorted(rows, key=lambda key: rows[key]["hardest"]) == hardest
    assert sorted(rows, key=lambda key: rows[key]["most_varied"]) == varied
    svg = drawn(report, study, "cases-hardest")
    assert f"{hardest[0]} (n = 8): {np.median(by_models[hardest[0]]):.3g} (" in svg
    assert svg.count("written by a physician") == 8
    assert f"k = {K}" in re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    chosen = drawn(report, study, "cases-chosen")
    assert set(re.findall(r"case-\d\d", chosen)) == {"case-03", "case-10"}
    page = client_of(study).get(place(report), {"figure": "cases-varied"}).content.decode()
    assert "with the largest standard deviation of the share of positive criteria met" in page
    decisions = client_of(study).get(f"{place(report)}decisions/", {"slice": "case:case-03"})
    assert sum(decisions.context["counts"].values()) == 9 * CRITERIA


def test_with_fewer_than_eight_responses_each_is_a_dot() -> None:
    study = make_study(cases=2, points=(1,) * CRITERIA, candidates=("alpha", "beta", "gamma"))
    study.group("A", coin(3, "met", "not_met"))
    report = report_of(study)
    svg = drawn(report, study, "cases-hardest")
    assert svg.count('aria-roledescription="point"') == 6
    assert 'aria-roledescription="area mark"' not in svg
    # Equal numbers of hits are above one another: no two dots at one place.
    places = re.findall(r'aria-roledescription="point"[^>]*transform="translate\(([^)]*)\)', svg)
    assert len(places) == len(set(places)) == 6


def test_pairs_around_k_are_the_nearest_of_each_case(study: Study) -> None:
    report, hits = report_of(study), hits_of(study)
    expected = []
    for key in sorted({key for _name, key, _n in hits}):
        own = [(met, name, n) for (name, other, n), met in hits.items() if other == key]
        above = min(((met, name, n) for met, name, n in own if met >= K), default=None)
        below = min(((-met, name, n) for met, name, n in own if met < K), default=None)
        if above and below:
            expected.append((above[0] + below[0], key, above, (-below[0], *below[1:])))
    expected.sort()
    rows = rows_of(report, "both_sides")
    assert [
        (
            row["distance"],
            row["case"],
            (row["hits_above"], row["candidate_above"], row["sample_above"]),
            (row["hits_below"], row["candidate_below"], row["sample_below"]),
        )
        for row in rows
    ] == expected
    assert len(expected) > 5
    for row in rows:
        assert row["rubric_accuracy_difference"] == pytest.approx(100 * row["distance"] / CRITERIA)
        # CACS@4 of 6: 0 below 4; 4, 5 and 6 hits are one, two and three thirds.
        assert row["cacs_at_k_difference"] == pytest.approx(100 * (row["hits_above"] - K + 1) / (CRITERIA - K + 1))
    page = client_of(study).get(place(report)).content.decode()
    assert page.count("/both-sides/") == 5 + 1


def test_two_responses_are_beside_each_other_with_what_each_meets(study: Study) -> None:
    report, client = report_of(study), client_of(study)
    row = rows_of(report, "both_sides")[1]
    address = f"{place(report)}both-sides/{row['response_above']}/"
    listed = client.get(f"{place(report)}both-sides/").content.decode()
    assert address in listed
    page = client.get(address)
    ids = {side: Response.objects.get(public_id=row[f"response_{side}"]) for side in ("above", "below")}
    two = page.context["two"]
    criteria = study.criteria[ids["above"].case_id]
    for side, response in ids.items():
        outcomes = [study.outcomes["A"][response.pk, criterion] for criterion in criteria]
        assert [criterion.outcomes[side] for criterion in two.criteria] == outcomes
        assert outcomes.count("met") == row[f"hits_{side}"]
    html = " ".join(page.content.decode().split())
    assert f"{row['hits_above']} / {CRITERIA}" in html
    assert f"{100 * row['hits_below'] / CRITERIA:.1f}" in html
    assert all(ids[side].text[:20] in html for side in ids)
    # Another response below k of the same case.
    other = next(option for option in two.options["below"] if option.response != ids["below"])
    chosen = client.get(address, {"below": other.response.public_id})
    assert chosen.context["two"].below.response == other.response
    # One of the other side, or of another case, is refused.
    assert client.get(address, {"below": row["response_above"]}).status_code == 404
    file = b"".join(client.get(f"{address}pair.csv").streaming_content).decode()
    written = list(csv.DictReader(io.StringIO(file)))
    assert [line["outcome_above"] for line in written] == [criterion.outcomes["above"] for criterion in two.criteria]
    assert {(line["case"], line["k"], line["hits_below"]) for line in written} == {
        (row["case"], str(K), str(row["hits_below"]))
    }
    tex = b"".join(client.get(f"{address}pair.tex").streaming_content).decode()
    assert f"Two responses to {row['case']} on both sides of k = {K}" in tex
    assert f"{row['hits_above']} of {CRITERIA} positive criteria met" in tex
    assert client.get(f"{address}pair.md").status_code == 200
    assert client.get(f"{address}pair.xlsx").status_code == 404
    client.force_login(UserFactory())
    assert client.get(address).status_code == client.get(f"{address}pair.csv").status_code == 404


def test_two_responses_of_one_candidate_and_sample_in_two_settings_keep_their_own_figures() -> None:
    study = make_study(cases=1, points=(1,) * CRITERIA, candidates=("alpha",))
    (chat,) = study.responses()
    api = ResponseFactory(case=chat.case, candidate=chat.candidate, setting="api", sample=chat.sample)
    first_two = study.criteria[chat.case_id][:2]
    study.group("A", lambda pair: "met" if pair[0] == chat.pk or pair[1] in first_two else "not_met")
    report, client = report_of(study), client_of(study)
    (row,) = rows_of(report, "both_sides")
    page = client.get(f"{place(report)}both-sides/{row['response_above']}/")
    assert page.status_code == 200
    two = page.context["two"]
    assert (two.above.response, two.above.hits) == (chat, CRITERIA)
    assert (two.below.response, two.below.hits) == (api, 2)
    assert {(line["setting"], line["hits"]) for line in rows_of(report, "responses")} == {
        ("chat", CRITERIA),
        ("api", 2),
    }


def test_where_all_reach_k_the_page_has_no_pair() -> None:
    study = make_study(cases=2, points=(1,) * CRITERIA, candidates=("alpha",))
    study.group("A", lambda pair: "met")
    report = report_of(study)
    page = client_of(study).get(f"{place(report)}both-sides/").content.decode()
    assert "No such pair" in page


def test_what_figures_show_is_chosen_by_name_and_refused_beside_its_field(study: Study) -> None:
    client = client_of(study)
    report = report_of(study, show=["beta"])
    assert "alpha, 1:" not in drawn(report, study, "worst_at_k")
    assert "beta, 1:" in drawn(report, study, "worst_at_k")
    assert "1 chosen of 3 candidates are drawn" in client.get(place(report)).content.decode()
    sent = {"kind": "scores", "scores-rater": "group:A@checked", "scores-k": "4", "scores-cases": "case-01\nnone"}
    refused = client.post(f"/b/{study.benchmark.slug}/scores/", sent)
    assert refused.status_code == 422
    assert "not in this benchmark: none." in refused.content.decode()
    sent["scores-cases"], sent["scores-show"] = "case-01\n\n case-02", ["alpha"]
    client.post(f"/b/{study.benchmark.slug}/scores/", sent)
    newest = Report.objects.latest("pk")
    assert (newest.parameters["cases"], newest.parameters["show"]) == (["case-01", "case-02"], ["alpha"])


def test_a_case_without_positive_criteria_is_left_out() -> None:
    study = make_study(cases=1, points=(1, 1), candidates=("alpha", "beta"))
    case = CaseFactory(benchmark=study.benchmark, key="negative", rubric=[-1])
    ResponseFactory(case=case, candidate=study.candidates[0])
    study.group("A", coin(1, "met", "not_met"))
    assert [row["case"] for row in rows_of(report_of(study), "case_hits")] == ["case-00"]
