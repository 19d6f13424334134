"""Published result files and matrices, and a made-up panel, against figures that other code computed of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.agreement.acuity.test_acuity_file import row, rows, run

pytestmark = pytest.mark.slow

DATA = Path(os.environ["CONSILIUM_REAL_DATA"]) / "acuity"
EXACT = 1e-9


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return json.loads((DATA / "expected.json").read_text("utf-8"))


def medask(folder: Path, **options: Any) -> None:
    files = [DATA / "medask" / f"semigran_{name}.jsonl" for name in ("gpt-4.5", "medask", "o4-mini", "o3-mini")]
    run(folder, *files, scheme="em-ne-sc", scale="three", **options)


def figures(own: dict[str, str], **values: float) -> None:
    assert {name: float(own[name]) for name in values} == pytest.approx(values, abs=EXACT)


def test_result_files_of_four_candidates(tmp_path: Path) -> None:
    medask(tmp_path)

    def pooled(name: str, **values: float) -> None:
        figures(row(tmp_path, "acuity", candidate=f"semigran_{name}", aggregate="pooled"), **values)

    pooled(
        "gpt-4.5", accuracy=155 / 225, over=64 / 225, under=6 / 225, macro_f1=0.665180489200451, qwk=0.7265625,
        alpha=0.7481883552342999, safety=219 / 225, cost=94 / 225, cost_normalised=94 / 1275, n_usable=225,
    )  # fmt: skip
    pooled(
        "medask", accuracy=197 / 225, over=12 / 225, under=16 / 225, qwk=0.9060402684563759, alpha=0.9057958198684002,
        safety=209 / 225, cost=92 / 225,
    )  # fmt: skip
    pooled("o4-mini", accuracy=181 / 225, over=27 / 225, under=17 / 225, qwk=0.8450704225352113, cost=112 / 225)
    pooled("o3-mini", accuracy=148 / 225, over=66 / 225, under=11 / 225, qwk=0.6577777777777778, cost=121 / 225)
    figures(row(tmp_path, "acuity", candidate="semigran_gpt-4.5", aggregate="mode"), accuracy=31 / 45, qwk=0.72)
    missed = row(tmp_path, "missed", candidate="semigran_gpt-4.5", aggregate="pooled", sent_to="")
    assert (missed["n"], missed["missed"]) == ("75", "5")
    both = {"first": "semigran_gpt-4.5", "second": "semigran_medask"}
    figures(
        row(tmp_path, "pairs", **both, aggregate="mode", measure="accuracy"), only_first=2, only_second=10,
        p_exact=0.03857421875, bowker=12.0, bowker_df=2, bowker_p=0.0024787521766663, stuart_maxwell=12.0,
        stuart_maxwell_df=2,
        # The smallest of six: times 6.
        p_holm=6 * 0.03857421875,
    )  # fmt: skip
    # 5 of 75 by Wilson (Newcombe 1998, method 3).
    assert (float(missed["low"]), float(missed["high"])) == pytest.approx((0.0288101, 0.1467506), abs=1e-6)


def test_percentile_intervals_of_other_code(tmp_path: Path) -> None:
    """Of 20,000 resamples elsewhere; ours has 1,000, for which 0.03 is allowed, and 0.08 for a cost."""
    medask(tmp_path, interval="percentile", seed=1)
    own = row(tmp_path, "acuity", candidate="semigran_gpt-4.5", aggregate="pooled")
    for name, ends in {"accuracy": (0.556, 0.813), "qwk": (0.594, 0.834), "under": (0.0, 0.076)}.items():
        assert [float(own[f"{name}{end}"]) for end in ("_low", "_high")] == pytest.approx(ends, abs=0.03), name
    # The published differences are those of the second less the first.
    both = {"first": "semigran_gpt-4.5", "second": "semigran_medask", "aggregate": "pooled"}
    for name, value, ends, near in (
        ("accuracy", 0.1867, (0.058, 0.320), 0.03),
        ("qwk", 0.1795, (0.074, 0.295), 0.03),
        ("cost", -0.009, (-0.284, 0.347), 0.08),
    ):
        pair = row(tmp_path, "pairs", **both, measure=name)
        assert -float(pair["difference"]) == pytest.approx(value, abs=1e-3)
        assert [-float(pair[f"difference_{end}"]) for end in ("high", "low")] == pytest.approx(ends, abs=near)


def test_published_matrices(tmp_path: Path) -> None:
    run(tmp_path, DATA / "matrices.csv")
    figures(
        row(tmp_path, "acuity", candidate="consumer-assistant", aggregate="pooled"), n_cases=480, accuracy=0.6625,
        over=119 / 480, under=43 / 480, severe_over=13 / 480, qwk=0.7676300578034683, alpha=0.8060139486247704,
        macro_f1=0.6164241740351476, cost=347 / 480,
    )  # fmt: skip
    lowest = row(tmp_path, "levels", candidate="consumer-assistant", aggregate="pooled", level="self-care")
    figures(lowest, over=0.6484375)
    for name, accuracy, over, under, severe_under, qwk, cost in (
        ("model-5m-qa", 0.7817836812144212, 26, 89, 10, 0.8826739840365061, 1.0227703984819734),
        ("model-5m-chat", 0.6925996204933587, 12, 150, 47, 0.7121426230490293, 2.1840607210626186),
    ):
        figures(
            row(tmp_path, "acuity", candidate=name, aggregate="pooled"), accuracy=accuracy, over=over / 527,
            under=under / 527, severe_under=severe_under / 527, qwk=qwk, cost=cost,
        )  # fmt: skip
    for name, missed, n in (("consumer-assistant", 33, 64), ("model-5m-qa", 38, 262), ("model-5m-chat", 70, 262)):
        figures(row(tmp_path, "missed", candidate=name, aggregate="pooled", sent_to=""), missed=missed, n=n)
    run(tmp_path, DATA / "matrices.csv", gamma=0.0)
    figures(row(tmp_path, "acuity", candidate="consumer-assistant", aggregate="pooled"), cost=0.6958333333333333)


def test_a_panel(tmp_path: Path, expected: dict[str, Any]) -> None:
    run(tmp_path, DATA / "readings.csv", votes=DATA / "votes.csv")
    counts = expected["counts"]
    names = ("clear", "boundary", "ambiguous", "cannot_tell", "boundary_votes")
    figures(
        row(tmp_path, "panel"), alpha_ordinal_single=expected["alpha_ordinal_single_votes"],
        alpha_set=expected["alpha_set"], **{f"n_{name}": counts[name] for name in names},
    )  # fmt: skip
    cases = rows(tmp_path, "panel_cases")
    assert len(cases) == counts["cases"]
    for own in cases:
        case = expected["cases"][own["case"]]
        figures(own, m=case["n"], dispersion=case["dispersion"], entropy=case["entropy"])
        named = own["low"] if own["low"] == own["high"] else f"{own['low']}|{own['high']}"
        assert (named, own["panel_status"] == "ambiguous") == (case["reference"], case["ambiguous"])
        shares = [float(own[name]) for name in own if name.startswith("q_")]
        assert shares == pytest.approx(case["distribution"], abs=EXACT)


def test_readings_beside_a_panel(tmp_path: Path, expected: dict[str, Any]) -> None:
    run(tmp_path, DATA / "readings.csv", votes=DATA / "votes.csv")
    names = {
        "tvd": "tvd", "w1": "w1", "jsd": "jsd_nat", "rps": "rps", "cdf2": "cdf2", "cdf2_corrected": "cdf2_unbiased",
        "p_mode": "pmode", "entropy": "entropy_model", "entropy_panel": "entropy_panel", "uncertainty_error": "unc",
        "cost": "panel_cost", "cost_best": "panel_cost_best", "regret": "panel_regret",
    }  # fmt: skip
    ceilings = {f"ceiling_{name}": value for name, value in expected["split_half_ambiguous"].items()}
    ceilings["ceiling_rps"] = expected["ceiling_rps_loo_ambiguous"]
    for name, series in expected["readings"].items():
        candidate, format_ = name.split("/")
        own = {"candidate": candidate, "format": format_}
        spread = {ours: series["ambiguous"][theirs] for ours, theirs in names.items()}
        figures(row(tmp_path, "uncertainty", **own, set="ambiguous"), n_cases=10, **spread, **ceilings)
        substituted = series["substitution_all"]
        figures(
            row(tmp_path, "uncertainty", **own, set="panel"), n_cases=40,
            substitution_share=substituted["change_rate"], substitution_shift=substituted["mean_shift"],
        )  # fmt: skip
        mode, mean, samples = series["mode"], series["expected"], series["samples"]
        figures(
            row(tmp_path, "acuity", **own, aggregate="mode"), n_cases=29, accuracy=mode["accuracy_usable"],
            macro_f1=mode["macro_f1_defined"], qwk=mode["qwk"], alpha=mode["alpha_ordinal"], over=mode["over_rate"],
            under=mode["under_rate"], severe_under=mode["severe_under"] / 29, safety=mode["safety"], bias=mode["bias"],
            cost=mode["cost_linear_5_1"], cost_normalised=mode["cost_norm_5_1"],
        )  # fmt: skip
        figures(
            row(tmp_path, "acuity", **own, aggregate="expected"), accuracy=mean["accuracy"], over=mean["over"],
            under=mean["under"], severe_under=mean["severe_under"], cost=mean["cost_linear"],
        )  # fmt: skip
        figures(
            row(tmp_path, "acuity", **own, aggregate="pooled"), n_usable=samples["usable"],
            n_refused=samples["refused"], n_no_level=samples["no_level"],
            comprehensiveness=samples["comprehensiveness"],
        )  # fmt: skip
        for boundary, counted in series["boundary"].items():
            figures(row(tmp_path, "boundary", **own, aggregate="mode", reference=boundary), **counted)
        cells = [cell for cell in rows(tmp_path, "confusion") if {**own, "aggregate": "mode"}.items() <= cell.items()]
        assert [float(cell["n"]) for cell in cells] == [n for line in mode["confusion"] for n in line]


def test_confidence_that_was_stated(tmp_path: Path, expected: dict[str, Any]) -> None:
    run(tmp_path, DATA / "readings.csv", votes=DATA / "votes.csv")
    names = {"accuracy": "accuracy", "mean_confidence": "mean_confidence", "ece_width": "ece_width10"}
    names |= {"ece_mass": "ece_mass10", "brier": "brier", "auroc": "auroc", "n": "n"}
    for candidate, values in expected["confidence"].items():
        own = row(tmp_path, "confidence", candidate=candidate, format="qa", confidence_source="stated")
        figures(own, **{ours: values[theirs] for ours, theirs in names.items()})


def test_both_formats_of_a_case(tmp_path: Path, expected: dict[str, Any]) -> None:
    run(tmp_path, DATA / "readings.csv", votes=DATA / "votes.csv")
    for candidate, values in expected["format_gap"].items():
        tests = {own["test"]: own for own in rows(tmp_path, "tests") if own["candidate"] == candidate}
        only = f"only qa right in {values['mcnemar_only_qa']} cases, only chat in {values['mcnemar_only_chat']}"
        assert only in tests["mcnemar"]["note"]
        figures(tests["mcnemar"], p=values["mcnemar_p"], n=values["n_clear"])
        for name, short in (("stuart_maxwell", "sm"), ("bowker", "bowker")):
            figures(
                tests[name], statistic=values[name], df=values[f"{short}_df"], p=values[f"{short}_p"], n=values["n_all"]
            )
        shift = row(tmp_path, "formats", candidate=candidate, slice="all", measure="shift")
        figures(shift, difference=values["mean_shift_chat_minus_qa"])
        joint = [int(own["n"]) for own in rows(tmp_path, "joint") if own["candidate"] == candidate]
        assert joint == [n for line in values["table_qa_rows"] for n in line]
