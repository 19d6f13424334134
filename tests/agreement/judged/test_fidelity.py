"""A judge beside the human ceiling: all three comparisons on the same pairs."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils import timezone
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import f1_score

from agreement import services
from agreement.models import Report, ReportTable
from agreement.reports.parameters import WrongParameters
from agreement.reports.stored import table_of
from tests.agreement.study import Pair, Study, coin, make_study, noisy

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

CODES = {"not_met": 0, "met": 1}
FLIPPED = {"not_met": 1, "met": 0}


def ask(study: Study, **given: object) -> Report:
    report = services.create_report(
        benchmark=study.benchmark,
        kind="fidelity",
        parameters={"judge": "echo", "group_a": "group:A", "group_b": "group:B", **given},
        by=study.admin,
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def rows(report: Report, table: str) -> list[dict[str, object]]:
    return table_of(report, table).dicts()


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=12, candidates=("one", "two", "three", "four"))
    study.group("A", coin(1, "met", "not_met", "met", "not_met", "cannot_assess"))
    study.group("B", noisy(study, "A", 2, 0.15))
    study.group("C", coin(5, "met"))
    own = noisy(study, "A", 3, 0.25)
    broken = coin(4, *[""] * 9, "invalid")
    study.judge("echo", lambda pair: broken(pair) or own(pair))
    return study


def test_judge_ceiling_and_gap_are_those_of_scikit_learn_on_the_common_pairs(study: Study) -> None:
    report = ask(study)
    names = {response.pk: response.candidate.name for response in study.responses()}
    common = [
        pair
        for pair in study.outcomes["A"]
        if "cannot_assess" not in (study.outcomes["A"][pair], study.outcomes["B"][pair])
    ]
    expected = {"all": common}
    for name in ("one", "two", "three", "four"):
        expected[f"candidate:{name}"] = [pair for pair in common if names[pair[0]] == name]
    rows_by_slice = {row["slice"]: row for row in rows(report, "fidelity")}
    assert rows_by_slice.keys() == expected.keys()
    responses = {response.pk: response.case for response in study.responses()}
    expected["difficulty:low"] = [pair for pair in common if responses[pair[0]].difficulty == "low"]
    expected["theme:odd"] = [pair for pair in common if "theme:odd" in responses[pair[0]].tags]
    rows_by_slice |= {row["slice"]: row for row in rows(report, "fidelity_slices")}
    for name, pairs in expected.items():
        a, b = ([CODES[study.outcomes[group][pair]] for pair in pairs] for group in ("A", "B"))
        judged = [study.outcomes["echo"][pair] for pair in pairs]
        # An invalid verdict is the opposite of whichever group it is held against.
        with_a = [
            CODES.get(outcome, FLIPPED[study.outcomes["A"][pair]]) for outcome, pair in zip(judged, pairs, strict=True)
        ]
        with_b = [
            CODES.get(outcome, FLIPPED[study.outcomes["B"][pair]]) for outcome, pair in zip(judged, pairs, strict=True)
        ]
        values = {
            "judge_a": f1_score(a, with_a, average="macro"),
            "judge_b": f1_score(b, with_b, average="macro"),
            "ceiling": f1_score(a, b, average="macro"),
        }
        values["mean"] = (values["judge_a"] + values["judge_b"]) / 2
        values["gap"] = values["mean"] - values["ceiling"]
        row = rows_by_slice[name]
        assert row["n_pairs"] == len(pairs)
        assert row["n_invalid"] == judged.count("invalid")
        for key, value in values.items():
            assert row[f"mf1_{key}"] == pytest.approx(value, abs=1e-12), (name, key)
            if row[f"mf1_{key}_effective"] >= 5:
                assert row[f"mf1_{key}_low"] < row[f"mf1_{key}"] < row[f"mf1_{key}_high"]
            else:
                assert row[f"mf1_{key}_low"] is None and "of the 5 effective cases needed" in row["note"]
        assert row["met_a"] == pytest.approx(sum(a) / len(a))
        assert row["met_b"] == pytest.approx(sum(b) / len(b))
        valid = [CODES[outcome] for outcome in judged if outcome in CODES]
        assert row["met_judge"] == pytest.approx(sum(valid) / len(valid))


def test_the_numbers_of_one_judge_are_those_of_before_there_could_be_several(study: Study) -> None:
    """The figures of this study as version 0.1.0 computed them while a report had one judge."""
    report = ask(study, margin=0.1)
    assert set(report.parameters) == {"judge", "group_a", "group_b", "margin"}
    assert table_of(report, "fidelity").columns[:3] == ("slice", "n_pairs", "n_cases")
    before = {
        "judge_a": (0.7386363636363636, 0.6884788883879913, 0.7832603980664689),
        "judge_b": (0.6340428058301422, 0.5603311112866973, 0.7019695230733912),
        "mean": (0.686339584733253, 0.6335991207563848, 0.7346676037792289),
        "ceiling": (0.8413368618239125, 0.7550386096396532, 0.9012106593073744),
        "gap": (-0.15499727709065958, -0.21329840790533394, -0.07842190729195841),
    }
    row = rows(report, "fidelity")[0]
    for name, (value, low, high) in before.items():
        assert (row[f"mf1_{name}"], row[f"mf1_{name}_low"], row[f"mf1_{name}_high"]) == pytest.approx(
            (value, low, high), abs=1e-12
        )
    margin = rows(report, "non_inferiority")[0]
    assert (margin["finding"], margin["bound"]) == ("open", pytest.approx(-0.21329840790533394, abs=1e-12))


def test_a_report_of_before_has_its_page_without_the_table_of_two_raters(study: Study, client: Client) -> None:
    report = ask(study)
    client.force_login(study.admin)
    place = f"/b/{study.benchmark.slug}/agreement/{report.public_id}/"
    assert "Agreement of each two raters" in client.get(place).content.decode()
    table = ReportTable.objects.get(report=report, name="fidelity_groups")
    table.pieces.all().delete()
    table.delete()
    html = client.get(place).content.decode()
    assert "Judge minus ceiling" in html and "Agreement of each two raters" not in html


@pytest.mark.parametrize(
    ("a", "b", "words", "field"),
    [
        ("group:A@checked", "group:A@first", "two stages of the same group", "group_b"),
        ("group:A", "second", "second is not a physician rater", "group_b"),
        ("second", "group:A", "second is not a physician rater", "group_a"),
    ],
)
def test_one_group_or_a_judge_makes_no_human_ceiling(study: Study, a: str, b: str, words: str, field: str) -> None:
    study.judge("second", noisy(study, "A", 9, 0.2))
    with pytest.raises(WrongParameters, match=words) as refused:
        services.create_report(
            benchmark=study.benchmark,
            kind="fidelity",
            parameters={"judge": "echo", "group_a": a, "group_b": b},
            at=timezone.now(),
        )
    assert refused.value.field == f"parameters.{field}"


def test_rank_agreement_of_the_graders_is_that_of_scipy(study: Study) -> None:
    report = ask(study)
    names = {response.pk: response.candidate.name for response in study.responses()}
    a, b, judge = (study.outcomes[name] for name in ("A", "B", "echo"))
    common = [pair for pair in a if "cannot_assess" not in (a[pair], b[pair])]
    valid = [pair for pair in common if judge[pair] in CODES]
    assert len(valid) < len(common)

    def rates(outcomes: dict[Pair, str], pairs: list[Pair]) -> list[float]:
        """The share met of each candidate, over the pairs that both graders decided."""
        own = [
            [CODES[outcomes[pair]] for pair in pairs if names[pair[0]] == name] for name in sorted(set(names.values()))
        ]
        return [sum(codes) / len(codes) for codes in own]

    for row, (first, second, pairs) in zip(
        rows(report, "robustness"), ((judge, a, valid), (judge, b, valid), (a, b, common)), strict=True
    ):
        x, y = rates(first, pairs), rates(second, pairs)
        assert row["spearman"] == pytest.approx(spearmanr(x, y).statistic)
        assert row["kendall"] == pytest.approx(kendalltau(x, y).statistic)
        assert row["mean_absolute_difference"] == pytest.approx(
            100 * sum(abs(p - q) for p, q in zip(x, y, strict=True)) / 4
        )
        assert row["top5"] is None
        assert "top5: only 4 candidates" in str(row["note"])


def test_the_page_has_the_figure_and_leads_to_each_comparison(study: Study) -> None:
    report = ask(study)
    client = Client()
    client.force_login(study.admin)
    place = f"/b/{study.benchmark.slug}/agreement/{report.public_id}/"
    html = client.get(place).content.decode()
    assert "Judge minus ceiling" in html
    assert "A and B: the human ceiling" in html
    n = rows(report, "fidelity")[0]["n_pairs"]
    for side in ("judge_a", "judge_b", "ceiling"):
        decisions = client.get(f"{place}decisions/?slice=all&side={side}")
        assert decisions.context["total"] == n
        raters = (decisions.context["rater_a"], decisions.context["rater_b"])
        assert (
            raters
            == {
                "judge_a": ("A", "echo"),
                "judge_b": ("B", "echo"),
                "ceiling": ("A", "B"),
            }[side]
        )


def test_rows_of_the_figure_have_their_n_and_slices_their_words(study: Study) -> None:
    report = ask(study)
    client = Client()
    client.force_login(study.admin)
    place = f"/b/{study.benchmark.slug}/agreement/{report.public_id}/"
    html = client.get(place).content.decode()
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", html)
    for row in rows(report, "fidelity"):
        name = "All" if row["slice"] == "all" else str(row["slice"]).removeprefix("candidate:")
        assert f"{name}, n = {row['n_pairs']}" in texts
    assert "difficulty:low" in {row["slice"] for row in rows(report, "fidelity_slices")}
    assert "Difficulty: Low" in html and "difficulty:low<" not in html
    low = client.get(f"{place}decisions/?slice=difficulty:low").content.decode()
    assert "Difficulty: Low" in low and ">difficulty:low" not in low


def test_non_inferiority_is_what_the_joint_interval_says_at_the_margin(study: Study, client: Client) -> None:
    wide = ask(study, margin=0.5)
    for report, margin in ((ask(study), 0.05), (wide, 0.5)):
        figures = {row["slice"]: row for name in ("fidelity", "fidelity_slices") for row in rows(report, name)}
        for row in rows(report, "non_inferiority"):
            low, high = (figures[row["slice"]][f"mf1_gap_{end}"] for end in ("low", "high"))
            assert (row["margin"], row["bound"]) == (margin, low)
            assert row["difference"] == figures[row["slice"]]["mf1_gap"]
            if low is None:
                assert row["finding"] == "" and "of the 10 cases needed" in row["note"]
                continue
            by_hand = "inferior" if high < -margin else "non-inferior" if low > -margin else "open"
            assert row["finding"] == ("superior" if low > 0 else by_hand)
    # A judge that errs on a quarter where the groups differ on 15% falls short by less than 0.5.
    client.force_login(study.admin)
    page = client.get(f"/b/{study.benchmark.slug}/agreement/{wide.public_id}/").content.decode()
    assert "echo is not inferior to the human ceiling at a margin of 0.5" in page
    with pytest.raises(WrongParameters, match="margin"):
        ask(study, margin=1)
