"""Several judges in one report of fidelity, on the pairs that all of them share."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from sklearn.metrics import cohen_kappa_score, f1_score

from agreement import services
from agreement.judged.fidelity import read_judges
from agreement.models import Report
from agreement.reports.freshness import freshness_of
from agreement.reports.parameters import WrongParameters
from agreement.reports.stored import table_names, table_of
from scoring.models import JudgeRun, JudgeRunItem, Verdict
from scoring.selectors.raters import UnknownRater
from tests.agreement.study import Pair, Study, coin, make_study, noisy
from tests.factories import JudgeRunFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

CODES = {"not_met": 0, "met": 1}
JUDGES = ("good", "poor", "part")


def ask(study: Study, *judges: str, **given: object) -> Report:
    report = services.create_report(
        benchmark=study.benchmark,
        kind="fidelity",
        parameters={"judges": list(judges or JUDGES), "group_a": "group:A", "group_b": "group:B", **given},
        by=study.admin,
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def rows(report: Report, table: str) -> list[dict[str, object]]:
    return table_of(report, table).dicts()


def place_of(study: Study, report: Report) -> str:
    return f"/b/{study.benchmark.slug}/agreement/{report.public_id}/"


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=14, candidates=("one", "two", "three"))
    study.group("A", coin(1, "met", "not_met", "met", "not_met", "cannot_assess"))
    study.group("B", noisy(study, "A", 2, 0.15))
    good = noisy(study, "A", 3, 0.05)
    broken = coin(4, *[""] * 9, "invalid")
    study.judge("good", lambda pair: broken(pair) or good(pair))
    study.judge("poor", noisy(study, "A", 5, 0.6))
    # It was never to judge the third candidate, and some of its verdicts never came.
    late, own, third = coin(6, *["come"] * 9, ""), noisy(study, "B", 7, 0.1), of_the_third(study)
    run = study.judge("part", lambda pair: own(pair) if late(pair) and pair[0] not in third else "")
    JudgeRunItem.objects.filter(run=run, response__in=third).delete()
    return study


def of_the_third(study: Study) -> set[int]:
    """The ids of the responses of the third candidate."""
    return {response.pk for response in study.responses() if response.candidate.name == "three"}


def shared_pairs(study: Study) -> list[Pair]:
    """The pairs that both groups answered and that all three judges were to decide: two candidates of three."""
    names = {response.pk: response.candidate.name for response in study.responses()}
    a, b = study.outcomes["A"], study.outcomes["B"]
    return [
        pair for pair in a if "cannot_assess" not in (a[pair], b[pair]) and names[pair[0]] != "three"
    ]  # fmt: skip


def verdicts(study: Study, judge: str, group: str, pairs: list[Pair]) -> list[int]:
    """The judge's outcomes; an invalid or missing one is the opposite of the group's."""
    return [
        CODES.get(study.outcomes[judge][pair], 1 - CODES[study.outcomes[group][pair]])
        for pair in pairs
    ]  # fmt: skip


def mean_f1(study: Study, judge: str, pairs: list[Pair]) -> float:
    return sum(
        f1_score([CODES[study.outcomes[group][pair]] for pair in pairs], verdicts(study, judge, group, pairs),
                 average="macro")
        for group in ("A", "B")
    ) / 2  # fmt: skip


def test_every_judge_and_group_is_that_of_scikit_learn_on_the_shared_pairs(study: Study) -> None:
    report, pairs = ask(study), shared_pairs(study)
    by_raters = {(row["rater"], row["reference"]): row for row in rows(report, "fidelity_groups")}
    assert len(by_raters) == 3 * 2 + 1
    for judge, group in itertools.product(JUDGES, ("A", "B")):
        row = by_raters[judge, f"group:{group}@checked"]
        reference = [CODES[study.outcomes[group][pair]] for pair in pairs]
        judged = verdicts(study, judge, group, pairs)
        assert row["n_pairs"] == len(pairs)
        assert row["mf1"] == pytest.approx(f1_score(reference, judged, average="macro"), abs=1e-12)
        assert row["f1_met"] == pytest.approx(f1_score(reference, judged), abs=1e-12)
        assert row["f1_not_met"] == pytest.approx(f1_score(reference, judged, pos_label=0), abs=1e-12)
        valid = [pair for pair in pairs if study.outcomes[judge][pair] in CODES]
        own, others = ([CODES[study.outcomes[name][pair]] for pair in valid] for name in (judge, group))
        assert (row["n_valid"], row["n_invalid"]) == (len(valid), len(pairs) - len(valid))
        assert row["kappa"] == pytest.approx(cohen_kappa_score(own, others), abs=1e-12)
        assert row["raw"] == pytest.approx(sum(x == y for x, y in zip(own, others, strict=True)) / len(valid))
        assert row["prevalence_b"] == pytest.approx(sum(own) / len(own))
        assert row["mf1_low"] < row["mf1"] < row["mf1_high"]
    a, b = ([CODES[study.outcomes[group][pair]] for pair in pairs] for group in ("A", "B"))
    ceiling = by_raters["group:B@checked", "group:A@checked"]
    assert ceiling["mf1"] == pytest.approx(f1_score(a, b, average="macro"), abs=1e-12)
    for row in rows(report, "fidelity_judges"):
        mean = mean_f1(study, str(row["judge"]), pairs)
        assert row["mf1_mean"] == pytest.approx(mean, abs=1e-12)
        assert row["mf1_gap"] == pytest.approx(mean - ceiling["mf1"], abs=1e-12)
        assert row["mf1_ceiling"] == ceiling["mf1"]
        for name in ("mean", "gap", "ceiling"):
            assert row[f"mf1_{name}_low"] < row[f"mf1_{name}"] < row[f"mf1_{name}_high"]
    names = {response.pk: response.candidate.name for response in study.responses()}
    by_slice = {(row["judge"], row["slice"]): row for row in rows(report, "fidelity")}
    assert set(by_slice) == {(judge, name) for judge in JUDGES for name in ("all", "candidate:one", "candidate:two")}
    for judge, name in itertools.product(JUDGES, ("one", "two")):
        own_pairs = [pair for pair in pairs if names[pair[0]] == name]
        assert by_slice[judge, f"candidate:{name}"]["n_pairs"] == len(own_pairs)
        assert by_slice[judge, f"candidate:{name}"]["mf1_mean"] == pytest.approx(mean_f1(study, judge, own_pairs))
    odd = {response.pk for response in study.responses() if "theme:odd" in response.case.tags}
    themed = {row["judge"]: row for row in rows(report, "fidelity_slices") if row["slice"] == "theme:odd"}
    for judge in JUDGES:
        own_pairs = [pair for pair in pairs if pair[0] in odd]
        assert themed[judge]["mf1_mean"] == pytest.approx(mean_f1(study, judge, own_pairs))


def test_pairs_that_only_some_judges_were_to_decide_are_in_no_figure_and_are_counted(study: Study) -> None:
    report = ask(study)
    shared = len(shared_pairs(study))
    a, b = study.outcomes["A"], study.outcomes["B"]
    everything = sum("cannot_assess" not in (a[pair], b[pair]) for pair in a)
    assert everything > shared
    own = {row["judge"]: row["n_own"] for row in rows(report, "fidelity_judges")}
    assert own == {"good": everything, "poor": everything, "part": shared}
    notes = {row["judge"]: str(row["note"]) for row in rows(report, "fidelity_judges")}
    words = f"{everything - shared} pairs excluded: another of the judges was not assigned them"
    assert words in notes["good"] and words in notes["poor"] and words not in notes["part"]
    missing = [pair for pair in shared_pairs(study) if not study.outcomes["part"][pair]]
    assert {row["judge"]: row["n_missing"] for row in rows(report, "fidelity_judges")}["part"] == len(missing) > 0
    # Without it the others are compared on all of their pairs.
    assert {row["n_pairs"] for row in rows(ask(study, "good", "poor"), "fidelity_judges")} == {everything}


def test_the_order_of_the_judges_changes_no_number(study: Study) -> None:
    def read(report: Report) -> dict[str, dict[tuple[object, ...], dict[str, object]]]:
        keys = {
            "fidelity_judges": ("judge",),
            "fidelity": ("judge", "slice"),
            "fidelity_slices": ("judge", "slice"),
            "fidelity_groups": ("rater", "reference"),
            "non_inferiority": ("judge", "slice"),
            "robustness": ("raters",),
        }
        return {
            name: {tuple(row[key] for key in given): row for row in rows(report, name)} for name, given in keys.items()
        }

    def differences(report: Report) -> dict[frozenset[object], tuple[float, ...]]:
        """By the two judges, signed as of the first by name."""
        result = {}
        for row in rows(report, "fidelity_pairwise"):
            names, ends = (row["judge_a"], row["judge_b"]), (row["difference_low"], row["difference_high"])
            value, (low, high) = row["difference"], ends
            if names[0] > names[1]:
                value, low, high = -value, -high, -low
            result[frozenset(names)] = (value, low, high, row["p"], row["p_adjusted"])
        return result

    first = ask(study)
    for order in (("part", "good", "poor"), ("poor", "part", "good")):
        other = ask(study, *order)
        assert [row["judge"] for row in rows(other, "fidelity_judges")] == list(order)
        assert read(other) == read(first)
        own, theirs = differences(first), differences(other)
        assert own.keys() == theirs.keys()
        for two, numbers in own.items():
            assert theirs[two] == pytest.approx(numbers, abs=1e-9)


def test_each_judge_alone_has_the_numbers_that_it_has_among_several_with_the_same_pairs(study: Study) -> None:
    both = ask(study, "good", "poor")
    for judge in ("good", "poor"):
        alone = ask(study, judge)
        for name in ("fidelity", "fidelity_slices", "non_inferiority"):
            own = [{**row} for row in rows(both, name) if row.pop("judge") == judge]
            assert own == rows(alone, name)


def test_a_list_of_one_judge_is_a_report_on_one_judge(study: Study) -> None:
    report = ask(study, "good")
    assert report.parameters == {
        "judge": "good", "group_a": "group:A@checked", "group_b": "group:B@checked", "margin": 0.05,
    }  # fmt: skip
    assert table_of(report, "fidelity").columns[0] == "slice"
    assert "fidelity_judges" not in table_names(report)
    named = services.create_report(
        benchmark=study.benchmark,
        kind="fidelity",
        parameters={"judge": "good", "group_a": "group:A", "group_b": "group:B"},
        at=timezone.now(),
    )
    services.run(report_id=named.pk, clock=timezone.now)
    named.refresh_from_db()
    assert named.input_digest == report.input_digest
    assert rows(named, "fidelity") == rows(report, "fidelity")


def by_holm(p: list[float]) -> list[float]:
    """Each p adjusted: the largest of those not above it, each times the number of those not below it."""
    return [min(1.0, max(other * sum(any_p >= other for any_p in p) for other in p if other <= own)) for own in p]


def test_holm_is_over_the_judges_and_over_their_pairs(study: Study) -> None:
    """A p agrees with the interval, and is corrected as `by_holm` does."""
    report = ask(study, margin=0.1)
    judges = rows(report, "fidelity_judges")
    p = [row["p"] for row in judges]
    assert [row["p_adjusted"] for row in judges] == pytest.approx(by_holm(p))
    for row in judges:
        assert (row["p"] <= 0.025) == (row["mf1_gap_low"] > -0.1)
        assert row["non_inferior"] is (row["p_adjusted"] <= 0.025)
    assert {row["judge"]: row["non_inferior"] for row in judges}["poor"] is False
    pairwise = rows(report, "fidelity_pairwise")
    assert [(row["judge_a"], row["judge_b"]) for row in pairwise] == list(itertools.combinations(JUDGES, 2))
    corrected = by_holm([row["p"] for row in pairwise])
    assert [row["p_adjusted"] for row in pairwise] == pytest.approx(corrected)
    means = {row["judge"]: row["mf1_mean"] for row in judges}
    for row in pairwise:
        assert row["difference"] == pytest.approx(means[row["judge_a"]] - means[row["judge_b"]], abs=1e-12)
        assert (row["p"] <= 0.05) == (row["difference_low"] > 0 or row["difference_high"] < 0)
    by_value = sorted(means, key=lambda judge: -means[judge])
    for row in judges:
        assert row["rank"] == 1 + by_value.index(row["judge"])
        assert row["rank_low"] <= row["rank"] <= row["rank_high"]
    best, worst = by_value[0], by_value[-1]
    assert worst == "poor"
    assert {row["judge"]: row["rank_low"] for row in judges}[worst] > 1
    assert {row["judge"]: row["rank_low"] for row in judges}[best] == 1


def test_few_cases_have_no_p_no_rank_and_say_so(client: Client) -> None:
    study = make_study(cases=3, points=(1, 1, 1))
    study.group("A", coin(1, "met", "not_met"))
    study.group("B", noisy(study, "A", 2, 0.2))
    for seed, name in enumerate(("good", "poor")):
        study.judge(name, noisy(study, "A", 3 + seed, 0.2))
    report = ask(study, "good", "poor")
    for row in rows(report, "fidelity_judges"):
        assert (row["p"], row["p_adjusted"], row["non_inferior"], row["rank"], row["finding"]) == (*[None] * 4, "")
        assert "p: no interval" in str(row["note"]) and "rank: no rank: 3.0 of the 5 effective cases" in str(
            row["note"]
        )
    for row in rows(report, "fidelity_pairwise"):
        assert row["p"] is None and "difference, p: " in str(row["note"])
    client.force_login(study.admin)
    html = client.get(place_of(study, report)).content.decode()
    assert "No conclusion can be drawn about non-inferiority at a margin of 0.05: " in html
    assert "There are no intervals; the table notes explain why." in html


@pytest.mark.parametrize("interval", ["jackknife", "percentile"])
def test_both_interval_rules_make_the_report(study: Study, interval: str) -> None:
    report = services.create_report(
        benchmark=study.benchmark,
        kind="fidelity",
        parameters={"judges": list(JUDGES), "group_a": "group:A", "group_b": "group:B"},
        interval=interval,
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    for row in rows(report, "fidelity_judges"):
        assert row["p"] is not None and 0 < row["p"] <= 1


def test_the_page_has_the_judges_the_figure_and_the_decisions_behind_each(study: Study, client: Client) -> None:
    report, n = ask(study), len(shared_pairs(study))
    client.force_login(study.admin)
    html = client.get(place_of(study, report)).content.decode()
    for words in ("Judges and groups", "Differences between judges", "good minus poor", "Own pairs", "human ceiling"):
        assert words in html
    for judge in JUDGES:
        assert f"{judge}, n = {n}" in html
    assert "good, poor, part compared with the human ceiling" in html
    for side, expected in (
        ("judge_a:poor", ("A", "poor")),
        ("judge_b:part", ("B", "part")),
        ("ceiling", ("A", "B")),
    ):
        decisions = client.get(f"{place_of(study, report)}decisions/", {"slice": "all", "side": side})
        assert decisions.context["total"] == n
        assert (decisions.context["rater_a"], decisions.context["rater_b"]) == expected
        assert decisions.context["side"] == side
    assert "poor and A" in decisions.content.decode()
    for name in table_names(report):
        text = b"".join(client.get(f"{place_of(study, report)}tables/{name}.csv").streaming_content).decode()
        assert next(csv.reader(io.StringIO(text))) == list(table_of(report, name).columns)
    methods = " ".join(client.get(f"{place_of(study, report)}methods.txt").content.decode().split())
    assert "judge good, the judge poor and the judge part were each measured against group A" in methods
    assert "Holm’s correction over the 3 judges tested (Holm 1979)" in methods
    assert "Holm 1979: A simple sequentially rejective" in methods


def test_the_form_takes_several_judges_and_says_what_is_wrong(study: Study, client: Client) -> None:
    client.force_login(study.admin)
    address = f"/b/{study.benchmark.slug}/agreement/"
    sent = {
        "kind": "fidelity",
        "fidelity-judges": ["good", "poor"],
        "fidelity-group_a": "group:A@checked",
        "fidelity-group_b": "group:B@checked",
        "fidelity-margin": "0.05",
        "fidelity-seed": "0",
    }
    assert client.post(address, {**sent, "fidelity-judges": []}).status_code == 422
    refused = client.post(address, {**sent, "fidelity-group_b": "group:A@first"})
    assert refused.status_code in (400, 409, 422)
    assert client.post(address, sent).status_code == 302
    report = Report.objects.filter(kind="fidelity").latest("pk")
    assert report.parameters["judges"] == ["good", "poor"]


def test_the_api_takes_one_judge_or_several(study: Study, client: Client) -> None:
    client.force_login(study.admin)
    address = f"/api/v1/benchmarks/{study.benchmark.slug}/reports/"
    groups = {"group_a": "group:A", "group_b": "group:B"}

    def post(**given: object) -> object:
        body = {"kind": "fidelity", "parameters": {**groups, **given}}
        return client.post(address, body, content_type="application/json")

    several = post(judges=["good", "poor"])
    assert several.status_code in (201, 202), several.content
    assert Report.objects.get(public_id=several.json()["id"]).parameters["judges"] == ["good", "poor"]
    single = post(judge="good")
    assert Report.objects.get(public_id=single.json()["id"]).parameters["judge"] == "good"
    both = post(judge="good", judges=["poor"])
    assert 400 <= both.status_code < 500
    assert "not both" in both.content.decode()


def too_many(study: Study) -> list[str]:
    return ["good", *(f"judge {n}" for n in range(12))]


@pytest.mark.parametrize(
    ("judges", "error", "words"),
    [
        (lambda study: [], WrongParameters, "must be a list of raters"),
        (lambda study: "good", WrongParameters, "must be a list of raters"),
        (lambda study: ["good", 3], WrongParameters, "must be a list of raters"),
        (too_many, WrongParameters, "at most 12 judges"),
        (lambda study: ["good", "nobody"], UnknownRater, "nobody"),
        (lambda study: ["good", "poor", "good"], WrongParameters, "good is named twice"),
        (lambda study: ["good", "group:A"], WrongParameters, "a rater always agrees with itself"),
    ],
)
def test_unsuitable_judges_are_refused_by_name(
    study: Study, judges: Callable[[Study], object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words) as refused:
        services.create_report(
            benchmark=study.benchmark,
            kind="fidelity",
            parameters={"judges": judges(study), "group_a": "group:A", "group_b": "group:B"},
            at=timezone.now(),
        )
    assert refused.value.field == "parameters.judges"


def test_judges_without_a_pair_in_common_are_named(study: Study) -> None:
    third, own = of_the_third(study), noisy(study, "A", 8, 0.1)
    run = study.judge("third", lambda pair: own(pair) if pair[0] in third else "")
    JudgeRunItem.objects.filter(run=run).exclude(response__in=third).delete()
    report = services.create_report(
        benchmark=study.benchmark,
        kind="fidelity",
        parameters={"judges": ["part", "third"], "group_a": "group:A", "group_b": "group:B"},
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "failed"
    assert "each of these judges decided: part, third" in report.error


def test_the_command_takes_a_list_of_judges(study: Study, tmp_path) -> None:
    out = io.StringIO()
    given = ["judges=[\"good\",\"poor\"]", "group_a=group:A", "group_b=group:B"]  # fmt: skip
    call_command(
        "report", benchmark=study.benchmark.slug, kind="fidelity", param=given, out=tmp_path / "report", stdout=out
    )
    assert "good, poor compared with the human ceiling" in out.getvalue()
    written = {path.name for path in (tmp_path / "report").rglob("*")}
    assert {"fidelity_judges.csv", "fidelity_pairwise.csv", "judges.svg", "gaps.svg"} <= written
    with pytest.raises(CommandError, match="named twice"):
        call_command(
            "report",
            benchmark=study.benchmark.slug,
            kind="fidelity",
            param=['judges=["good","good"]', *given[1:]],
        )


def test_windows_of_any_size_give_the_same_outcomes_and_the_same_digest(study: Study) -> None:
    given = {"judges": JUDGES, "group_a": "group:A", "group_b": "group:B"}
    whole, parts = (read_judges(study.benchmark, **given, window=window) for window in (500_000, 20))
    assert whole.digest == parts.digest == ask(study).input_digest
    assert (whole.outcomes == parts.outcomes).all()
    assert whole.n_own(0) > len(whole.ceiling) == len(shared_pairs(study))


def test_pairs_that_a_jury_leaves_undecided_are_in_no_figure_of_any_judge(study: Study, client: Client) -> None:
    """A jury of two is undecided where they differ; where one is invalid the other decides."""
    report = ask(study, "good", "jury:good+poor")
    a, b = study.outcomes["A"], study.outcomes["B"]
    good, poor = study.outcomes["good"], study.outcomes["poor"]
    answered = [pair for pair in a if "cannot_assess" not in (a[pair], b[pair])]
    decided = [pair for pair in answered if good[pair] == poor[pair] or good[pair] == "invalid"]
    assert 0 < len(decided) < len(answered)
    own = {row["judge"]: row for row in rows(report, "fidelity_judges")}
    jury = next(row for name, row in own.items() if name != "good")
    assert {row["n_pairs"] for row in own.values()} == {len(decided)}
    assert (own["good"]["n_undecided"], jury["n_undecided"]) == (0, len(answered) - len(decided))
    assert own["good"]["n_own"] == len(answered) and jury["n_own"] == len(decided)
    assert own["good"]["mf1_mean"] == pytest.approx(mean_f1(study, "good", decided), abs=1e-12)
    client.force_login(study.admin)
    html = client.get(place_of(study, report)).content.decode()
    assert "Undecided" in html and f"{len(answered) - len(decided)}" in html


def test_a_report_is_stale_once_one_of_its_judges_has_another_run(study: Study) -> None:
    report = ask(study)
    assert freshness_of(report).fresh
    run = JudgeRun.objects.get(judge__name="poor")
    later = JudgeRunFactory(judge=run.judge, imported=True)
    item = JudgeRunItem.objects.filter(run=run).first()
    JudgeRunItem.objects.create(run=later, response=item.response, rubric=item.rubric)
    criterion = study.criteria[item.response.case_id][0]
    other = {"met": "not_met", "not_met": "met"}[study.outcomes["poor"][item.response_id, criterion]]
    Verdict.objects.create(
        run=later, response=item.response, criterion_id=criterion, outcome=other, created_at=timezone.now()
    )
    assert not freshness_of(report).fresh
