"""The judge that learns from physicians: split by candidate, deterministic, better than its baselines, and portable."""

from __future__ import annotations

import copy
import csv
import hashlib
import io
import re
from collections import Counter
from dataclasses import replace
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone
from sklearn.metrics import f1_score

from annotation.models import Decision
from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from scoring.judges.services import create_trained_judge, train_again
from scoring.management.commands import judge as judge_command
from scoring.models import Judge, JudgeRun, TrainedModel, Verdict
from scoring.selectors.raters import resolve_rater
from scoring.trained import fitting, learning
from scoring.trained.calibrating import calibrate, fit_platt
from scoring.trained.card import best_threshold
from scoring.trained.features import FEATURES, FeatureMaker, Rarity, Texts, sentences, words
from scoring.trained.fitting import fit
from scoring.trained.learning import fit_judge
from scoring.trained.model import FittedJudge, Forest
from scoring.trained.training_data import Decisions, Split, read_decisions, split_candidates
from tests.factories import (
    BenchmarkFactory,
    BenchmarkRoleFactory,
    CandidateFactory,
    CaseFactory,
    ResponseFactory,
    UserFactory,
)
from tests.processes import Worker
from tests.scoring.conftest import decide, learnable, mark_faulty
from tests.scoring.trained.cards import small_card
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

CANDIDATES = ["a", "b", "c", "d", "e"]


@pytest.fixture(autouse=True)
def _no_worker_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """`judge --wait` does the work itself without giving a worker time to take it: there is none."""
    monkeypatch.setattr(judge_command, "WORKER_HAS_S", -1.0)


@pytest.fixture(autouse=True)
def _few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tested here does not hang on how many there are, and they take most of a fit's time."""
    monkeypatch.setattr(learning, "TREES", 16)


@pytest.fixture(scope="module")
def judges_by_decisions() -> dict[str, tuple[FittedJudge, dict[str, Any]]]:
    """What was fitted so far in this module; so its tests go to one process."""
    return {}


@pytest.fixture(autouse=True)
def _fitted_once(
    request: pytest.FixtureRequest,
    judges_by_decisions: dict[str, tuple[FittedJudge, dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was fitted on the same decisions before is not fitted again, except where that is what is tested."""
    if "fits_anew" in request.fixturenames:
        return

    def known(decisions: Decisions, split: Split, seed: int) -> tuple[FittedJudge, dict[str, Any]]:
        columns = [decisions.met, decisions.candidate, decisions.case, decisions.group]
        key = repr([decisions.pairs, *(column.tolist() for column in columns), decisions.left_out, split, seed])
        if key not in judges_by_decisions:
            judges_by_decisions[key] = fit_judge(decisions, split, seed)
        judge, card = judges_by_decisions[key]
        return judge, copy.deepcopy(card)

    monkeypatch.setattr(fitting, "fit_judge", known)


@pytest.fixture
def fits_anew() -> None:
    """Asked for by tests of what a second fit gives."""


def command(called: str, **options: Any) -> str:
    out = StringIO()
    call_command(called, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def taught(db: None) -> Benchmark:
    return learnable("taught", CANDIDATES)


def test_train_judge_reports_on_candidates_it_never_saw(taught: Benchmark) -> None:
    output = command("train_judge", benchmark="taught", group="A", name="learned", held_out=[["c"]])
    card = TrainedModel.objects.get(judge__name="learned").card
    split = {name: set(part["candidates"]) for name, part in card["split"].items()}
    assert split["held_out"] == {"c"}
    assert split["train"] | split["dev"] | split["held_out"] == set(CANDIDATES)
    assert not split["train"] & split["dev"]
    assert sum(part["decisions"] for part in card["split"].values()) == 12 * 5 * 5
    mf1 = card["held_out"]["mf1"]
    assert mf1["value"] > 0.9
    # At the bound, with five pairs a case: 0 disagreements of as many cases, over those expected by chance.
    assert (mf1["value"], mf1["high"]) == (1, 1)
    share_met = card["split"]["held_out"]["met"]
    most = 1 - 0.05 ** (1 / mf1["effective"])
    assert mf1["low"] == pytest.approx(1 - most / (4 * share_met * (1 - share_met)))
    assert mf1["effective"] == pytest.approx(card["held_out"]["n_cases"])  # five decisions on each
    assert card["interval"] == "jackknife"
    for baseline in ("majority", "word_overlap"):
        assert mf1["value"] > card["baselines"][baseline]["mf1"]["value"]
    shown = float(re.search(r"held-out MF1, this judge: ([\d.]+)", output)[1])  # type: ignore[index]
    assert shown == pytest.approx(mf1["value"], abs=5e-4)


def test_the_cards_figure_is_what_a_run_over_the_held_out_candidate_gives(taught: Benchmark) -> None:
    command("train_judge", benchmark="taught", group="A", name="learned", held_out=[["c"]])
    card = TrainedModel.objects.get().card
    command("judge", benchmark="taught", judge="learned", candidate=["c"], wait=True)
    judged, decided = resolve_rater(taught, "learned").ratings(), resolve_rater(taught, "group:A").ratings()
    truth = dict(zip(decided.keys().tolist(), decided.outcome.tolist(), strict=True))
    y = [truth[key] for key in judged.keys().tolist()]
    assert len(y) == 60
    assert f1_score(y, judged.outcome, average="macro") == pytest.approx(card["held_out"]["mf1"]["value"], abs=1e-12)


@pytest.mark.usefixtures("fits_anew")
def test_same_decisions_and_seed_give_the_same_bytes(taught: Benchmark) -> None:
    for _ in range(2):
        command("train_judge", benchmark="taught", group="A", name="learned", seed=5)
    command("train_judge", benchmark="taught", group="A", name="other", seed=6)
    first, second = TrainedModel.objects.filter(judge__name="learned").order_by("pk")
    assert (first.judge.version, second.judge.version) == (1, 2)
    assert first.sha256 == second.sha256
    assert bytes(first.artifact) == bytes(second.artifact)
    assert first.card == second.card
    assert TrainedModel.objects.get(judge__name="other").sha256 != first.sha256


@pytest.mark.usefixtures("fits_anew")
def test_ids_in_the_database_play_no_part(taught: Benchmark) -> None:
    """The same study once more under other ids: the same judge."""
    command("train_judge", benchmark="taught", group="A", name="learned")
    first = TrainedModel.objects.get()
    Benchmark.objects.filter(pk=taught.pk).update(slug="before")
    again = learnable("taught", CANDIDATES)
    command("train_judge", benchmark="taught", group="A", name="learned")
    assert TrainedModel.objects.get(judge__benchmark=again).sha256 == first.sha256


def test_a_judge_trained_in_chinese_reads_chinese(db: None) -> None:
    learnable("zh", CANDIDATES, language="zh")
    command("train_judge", benchmark="zh", name="learned", held_out=[["b"]])
    card = TrainedModel.objects.get().card
    assert card["held_out"]["mf1"]["value"] > 0.9
    assert card["held_out"]["mf1"]["value"] > card["baselines"]["majority"]["mf1"]["value"]


def test_a_judge_is_used_on_another_benchmark(taught: Benchmark, answered: Benchmark) -> None:
    command("train_judge", benchmark="taught", group="A", name="learned")
    output = command("judge", benchmark="answered", judge="learned", wait=True)
    assert "Finished: 36 of 36 verdicts, 0 invalid" in output
    run = JudgeRun.objects.get(benchmark=answered)
    assert run.prompt_hash == TrainedModel.objects.get().sha256
    verdict = Verdict.objects.filter(run=run).first()
    assert verdict is not None
    assert 0 <= verdict.probability <= 1
    assert verdict.explanation.startswith("Closest passage: “")
    # The same responses again: the same verdicts.
    command("judge", benchmark="answered", judge="learned", wait=True)
    columns = ("response", "criterion", "outcome", "probability")
    first, second = (
        list(Verdict.objects.filter(run=run).order_by(*columns).values_list(*columns))
        for run in JudgeRun.objects.filter(benchmark=answered).order_by("pk")
    )
    assert first == second


def test_the_own_benchmarks_judge_comes_first(taught: Benchmark, answered: Benchmark) -> None:
    command("train_judge", benchmark="taught", group="A", name="learned")
    own = Judge.objects.create(benchmark=answered, name="learned", kind="trained")
    with pytest.raises(CommandError, match="not trained yet"):
        command("judge", benchmark="answered", judge="learned")
    assert own.runs.count() == 0
    with pytest.raises(CommandError, match=r"There is no judge “nobody”.*learned"):
        command("judge", benchmark="answered", judge="nobody")


def test_all_groups_teach_where_none_is_named(taught: Benchmark) -> None:
    decided = {
        (f"taught-{number}", name): ["met", "not_met", "met", "not_met", "cannot_assess"]
        for number in range(12)
        for name in CANDIDATES
    }
    decide(taught, "B", decided)
    command("train_judge", benchmark="taught", name="both")
    card = TrainedModel.objects.get().card
    assert card["data"]["groups"] == ["A", "B"]
    assert card["data"]["decisions"] == 12 * 5 * 5 + 12 * 5 * 4
    assert card["left_out"] == 12 * 5


def test_what_cannot_be_learned_from_is_refused_with_its_reason(taught: Benchmark, answered: Benchmark) -> None:
    with pytest.raises(CommandError, match="no accepted decisions yet"):
        command("train_judge", benchmark="answered", name="x")
    with pytest.raises(CommandError, match="no expert group “Z”"):
        command("train_judge", benchmark="taught", group="Z", name="x")
    with pytest.raises(CommandError, match="candidate “zeta” does not exist"):
        command("train_judge", benchmark="taught", name="x", held_out=[["zeta"]])
    with pytest.raises(CommandError, match="at least three"):
        command("train_judge", benchmark="taught", name="x", held_out=[["a", "b", "c", "d"]])
    with pytest.raises(CommandError, match="without “\\+”"):
        command("train_judge", benchmark="taught", name="a+b")
    assert set(TrainedModel.objects.values_list("status", flat=True)) == {"failed"}


def test_another_model_under_the_same_judge_is_not_used(taught: Benchmark) -> None:
    command("train_judge", benchmark="taught", group="A", name="learned")
    model = TrainedModel.objects.get()
    broken = bytearray(bytes(model.artifact))
    broken[len(broken) // 2] ^= 1
    TrainedModel.objects.update(artifact=bytes(broken))
    with pytest.raises(CommandError, match="SHA-256"):
        command("judge", benchmark="taught", judge="learned", wait=True)
    assert not Verdict.objects.exists()


def test_a_stored_model_is_arrays_and_nothing_that_runs() -> None:
    with pytest.raises(ValueError, match="pickle"):
        np.load(_pickled(), allow_pickle=False)
    data = _pickled().getvalue()
    with pytest.raises(ValueError, match=r"pickle|Object arrays"):
        FittedJudge.from_bytes(data, hashlib.sha256(data).hexdigest())


def _pickled() -> Any:
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"run": "me"}], dtype=object), allow_pickle=True)
    buffer.seek(0)
    return buffer


@pytest.mark.django_db(transaction=True)
def test_a_worker_trains_and_runs_the_judge(celery_worker: Worker) -> None:
    benchmark = learnable("taught", CANDIDATES)
    with transaction.atomic():
        judge = create_trained_judge(benchmark=benchmark, name="learned", by=None, at=timezone.now())
    model = TrainedModel.objects.get(judge=judge)

    def trained() -> bool:
        model.refresh_from_db()
        return model.status not in ("pending", "running")

    wait_until(trained, within_s=60, message="the judge is trained")
    assert (model.status, model.error) == ("done", "")
    output = command("judge", benchmark="taught", judge="learned", wait=True)
    assert "Finished: 300 of 300" in output


def test_a_failed_training_can_be_tried_again(answered: Benchmark) -> None:
    judge = create_trained_judge(benchmark=answered, name="x", by=None, at=timezone.now(), enqueue=False)
    model = TrainedModel.objects.get(judge=judge)
    fit(model.pk, clock=timezone.now)
    model.refresh_from_db()
    assert model.status == "failed"
    train_again(judge=judge, at=timezone.now())
    model.refresh_from_db()
    assert (model.status, model.error) == ("pending", "")


def test_the_split_follows_the_seed_and_is_by_candidate() -> None:
    names = [f"m{i}" for i in range(12)]
    splits = [split_candidates(names * 3, [], seed) for seed in (1, 1, 2)]
    assert splits[0] == splits[1] != splits[2]
    for split in splits:
        together = [*split.train, *split.dev, *split.held_out]
        assert sorted(together) == sorted(names)
        assert (len(split.held_out), len(split.dev)) == (3, 2)
    with pytest.raises(DomainError, match="There are only 2"):
        split_candidates(["a", "b"], [], 0)


def test_the_threshold_is_the_best_one() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        met = rng.integers(0, 2, 40)
        scores = np.round(rng.random(40) * 0.6 + met * 0.3, 1)
        chosen = best_threshold(met, scores)
        best = max(f1_score(met, scores >= threshold, average="macro") for threshold in (np.unique(scores)[1:] - 1e-9))
        assert f1_score(met, scores >= chosen, average="macro") == pytest.approx(best)


def test_features_see_what_a_response_says() -> None:
    says = Texts("Rest.\nTake 15 mg/kg every 6 hours.", "Gives a dose of 15 mg/kg every 6 hours.")
    touches = Texts("Rest.\nYou can give something against fever.", says.criterion)
    rows = FeatureMaker(Rarity.of([says.response, touches.response, says.criterion])).rows([says, touches])
    for name in ("best_sentence", "best_pair", "word_recall", "sentence_recall", "number_recall"):
        stated, touched = rows[:, FEATURES.index(name)]
        assert stated > touched, name
    assert rows.shape == (2, len(FEATURES))
    assert np.isfinite(rows).all()


@pytest.mark.parametrize("text", ["", " ", "\n\n", "。。。", "12", "😀", "a" * 100_000])
def test_features_are_finite_for_odd_texts(text: str) -> None:
    rows = FeatureMaker(Rarity.of([text])).rows([Texts(text, text, text), Texts(text, "Names a dose.", "")])
    assert np.isfinite(rows).all()


def test_texts_are_taken_apart_in_both_languages() -> None:
    assert sentences("rest well. drink 1.5 l!\n- see a doctor") == ["rest well.", "drink 1.5 l!", "see a doctor"]
    assert sentences("请多喝水。发热时就医！") == ["请多喝水。", "发热时就医！"]
    assert words("多喝水 15 mg vomiting") == ["多喝", "喝水", "15", "mg", "vomit"]


def test_points_below_zero_are_seen(db: None) -> None:
    """A criterion of negative points is judged like any other: met where the fault is committed."""
    benchmark = learnable("taught", CANDIDATES)
    command("train_judge", benchmark="taught", name="learned")
    case = CaseFactory(
        benchmark=benchmark,
        rubric=[-5],
        rubric__texts=["Recommends an appointment within 9 days."],
    )
    for name, text in (("says", "Make an appointment within the next 9 days."), ("is silent", "Rest and drink.")):
        ResponseFactory(case=case, candidate=CandidateFactory(benchmark=benchmark, name=name), text=text)
    command("judge", benchmark="taught", judge="learned", candidate=["says", "is silent"], wait=True)
    outcomes = Counter(Verdict.objects.values_list("response__candidate__name", "outcome"))
    assert outcomes == {("says", "met"): 1, ("is silent", "not_met"): 1}


def test_the_forest_as_arrays_says_what_scikit_learn_says() -> None:
    from sklearn.ensemble import ExtraTreesClassifier

    rng = np.random.default_rng(1)
    rows = np.round(rng.random((600, len(FEATURES))), 6)
    met = (rows[:, 0] + rows[:, 3] + 0.3 * rng.standard_normal(600) > 1).astype(int)
    fitted = ExtraTreesClassifier(30, min_samples_leaf=3, max_leaf_nodes=64, random_state=2).fit(rows[:300], met[:300])
    ours = Forest.of([tree.tree_ for tree in fitted.estimators_]).probabilities(rows)
    assert ours == pytest.approx(fitted.predict_proba(rows)[:, 1], abs=1e-5)


def test_calibration_sees_neither_dev_nor_held_out_and_the_threshold_no_held_out() -> None:
    decisions, split = readable(), Split(train=("a", "b", "c"), dev=("d",), held_out=("e",))
    judge, card = fit_judge(decisions, split, 3)
    train, dev, held = (np.isin(decisions.candidate, names) for names in (split.train, split.dev, split.held_out))

    def with_others(where: np.ndarray) -> FittedJudge:
        met = decisions.met.copy()
        met[where] = np.roll(met[where], 7)
        assert (met != decisions.met).any()
        return fit_judge(replace(decisions, met=met), split, 3)[0]

    assert with_others(held).to_bytes() == judge.to_bytes()
    other_dev = with_others(dev)
    assert other_dev.calibration == judge.calibration
    assert other_dev.threshold != judge.threshold
    calibrator = card["calibrator"]
    assert (calibrator["method"], calibrator["grouped_by"], calibrator["folds"], calibrator["n"]) == (
        "platt",
        "candidate",
        3,
        int(train.sum()),
    )
    for figure in ("brier", "calibration_error"):
        assert {part["n"] for part in card[figure].values()} == {int(held.sum())}


def test_each_decision_is_scored_once_by_a_fit_that_has_not_seen_its_candidate() -> None:
    rng = np.random.default_rng(1)
    candidate, case = rng.choice(list("abcdefg"), 300), rng.choice(list("xyz"), 300)
    met = rng.integers(0, 2, 300)
    scored: list[int] = []

    def score(fitted: np.ndarray, left: np.ndarray) -> np.ndarray:
        assert not set(candidate[fitted]) & set(candidate[left])
        assert sorted([*fitted, *left]) == list(range(300))
        scored.extend(left)
        return 0.3 + 0.4 * met[left]

    calibration = calibrate(met, candidate, case, score)
    assert sorted(scored) == list(range(300))
    assert (calibration.grouped_by, calibration.folds, calibration.n) == ("candidate", 5, 300)
    against = calibrate(met, candidate, case, lambda fitted, left: 0.7 - 0.4 * met[left])
    assert (against.reason, against.platt.slope) == ("no_signal", 1.0)


def test_one_candidate_to_learn_from_is_taken_apart_by_case() -> None:
    decisions = readable(24)
    _judge, card = fit_judge(decisions, Split(train=("a",), dev=("d",), held_out=("e",)), 3)
    assert (card["calibrator"]["grouped_by"], card["calibrator"]["folds"]) == ("case", 5)


def test_one_case_of_one_candidate_leaves_the_scores_as_they_are() -> None:
    decisions = readable(24)
    one_case = replace(decisions, case=np.full_like(decisions.case, "only"))
    judge, card = fit_judge(one_case, Split(train=("a",), dev=("d",), held_out=("e",)), 3)
    assert (card["calibrator"]["method"], card["calibrator"]["reason"]) == ("none", "too_few")
    assert judge.calibration.probabilities(np.array([0.2, 0.9])) == pytest.approx([0.2, 0.9])
    assert card["brier"]["before"]["value"] == pytest.approx(card["brier"]["after"]["value"])


def test_platt_finds_the_function_that_made_the_outcomes() -> None:
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.02, 0.98, 60_000)
    truth = 1 / (1 + np.exp(-(1.7 * np.log(scores / (1 - scores)) - 0.4)))
    calibration = fit_platt(scores, (rng.random(len(scores)) < truth).astype(int))
    assert calibration.slope == pytest.approx(1.7, abs=0.05)
    assert calibration.intercept == pytest.approx(-0.4, abs=0.05)


def test_the_card_says_which_decisions_taught(taught: Benchmark) -> None:
    output = command("train_judge", benchmark="taught", group="A", name="learned", held_out=[["c"]])
    data = TrainedModel.objects.get().card["data"]
    assert data["by_group"] == {"A": 300}
    rows = Decision.objects.order_by(
        "assignment__case__key", "assignment__response__candidate__name", "criterion__items__position"
    ).values_list("assignment__case__key", "assignment__response__public_id", "criterion_id", "outcome")
    # by hand: cases in the order of their keys as text, candidates by name, criteria by position
    lines = [f"A\t{public}\t{criterion}\t{int(outcome == 'met')}\n" for _key, public, criterion, outcome in rows]
    by_case: dict[str, list[str]] = {}
    for (key, *_rest), line in zip(rows, lines, strict=True):
        by_case.setdefault(key, []).append(line)
    text = "".join(line for key in sorted(by_case) for line in by_case[key])
    assert data["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert data["sha256"] in output
    decision = Decision.objects.filter(outcome="met").first()
    assert decision is not None
    Decision.objects.filter(pk=decision.pk).update(outcome="not_met")
    command("train_judge", benchmark="taught", group="A", name="learned", held_out=[["c"]])
    again = TrainedModel.objects.latest("pk")
    assert again.judge.version == 2
    assert again.card["data"]["sha256"] != data["sha256"]


def test_beating_the_baselines_is_reported_with_an_interval(taught: Benchmark) -> None:
    # One decision of the held-out candidate is otherwise in each third case: the cases differ.
    for decision in Decision.objects.filter(assignment__response__candidate__name="c").order_by("pk")[::15]:
        turned = "not_met" if decision.outcome == "met" else "met"
        Decision.objects.filter(pk=decision.pk).update(outcome=turned)
    output = command("train_judge", benchmark="taught", group="A", name="learned", held_out=[["c"]])
    card = TrainedModel.objects.get().card
    for baseline in ("majority", "word_overlap"):
        difference = card["differences"][baseline]
        gap = card["held_out"]["mf1"]["value"] - card["baselines"][baseline]["mf1"]["value"]
        assert difference["value"] == pytest.approx(gap, abs=1e-12)
        assert 0 < difference["low"] <= difference["value"] <= difference["high"]
    assert len(re.findall(r"this judge less .*, ahead\n", output)) == 2


def test_a_criterion_found_at_fault_teaches_nothing(taught: Benchmark) -> None:
    before = read_decisions(taught, "A")
    decision = Decision.objects.select_related("assignment__batch").first()
    assert decision is not None
    mark_faulty(decision.assignment, decision.criterion_id)
    after = read_decisions(taught, "A")
    assert (len(before.pairs), len(after.pairs), after.left_out) == (300, 299, Counter(faulty=1))


def test_a_judge_of_an_earlier_release_says_so(taught: Benchmark) -> None:
    command("train_judge", benchmark="taught", group="A", name="learned")
    model = TrainedModel.objects.get()
    with np.load(io.BytesIO(bytes(model.artifact))) as arrays:
        kept = {name: arrays[name] for name in arrays.files}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **{**kept, "format": np.array("consilium-trained-judge-1")})
    data = buffer.getvalue()
    with pytest.raises(DomainError, match="another version of the program"):
        FittedJudge.from_bytes(data, hashlib.sha256(data).hexdigest())


@pytest.fixture
def carded(db: None) -> tuple[Client, TrainedModel]:
    """Somebody who runs a benchmark with a fitted judge."""
    benchmark = BenchmarkFactory(slug="carded")
    user = UserFactory()
    BenchmarkRoleFactory(benchmark=benchmark, user=user, role="researcher")
    judge = Judge.objects.create(
        benchmark=benchmark, name="learned", kind="trained", config={"group": "", "seed": 0, "held_out": []}
    )
    model = TrainedModel.objects.create(
        judge=judge,
        status="done",
        sha256="d" * 64,
        trained_at=timezone.now(),
        card=small_card(["=one", "two", "three"]),
    )
    client = Client()
    client.force_login(user)
    return client, model


def test_a_card_from_before_effective_cases_is_shown_without_them(carded: tuple[Client, TrainedModel]) -> None:
    client, model = carded
    page = f"/b/carded/judges/{model.judge.public_id}/"
    assert "effective cases support these figures" in client.get(page).content.decode()
    del model.card["interval"], model.card["held_out"]["mf1"]["effective"]
    model.save(update_fields=["card"])
    html = client.get(page).content.decode()
    assert "Model card" in html and "effective cases" not in html
    assert "by a percentile bootstrap over cases" in html


def test_a_card_warns_of_a_judge_that_is_no_better_than_chance(carded: tuple[Client, TrainedModel]) -> None:
    """A lead in MF1 over a baseline that always says the same is no merit by itself."""
    client, model = carded
    page = f"/b/carded/judges/{model.judge.public_id}/"

    def shown() -> str:
        return " ".join(client.get(page).content.decode().split())

    ahead = {"value": 0.2, "low": 0.1, "high": 0.3, "n": 48, "effective": 12, "note": ""}
    assert "not shown to be better than chance: the interval of kappa, 0.500 (−0.082 to 0.864), includes 0." in shown()
    model.card["differences"] = {"majority": ahead, "word_overlap": ahead}
    model.card["held_out"]["kappa"] = {**ahead, "value": 0.5, "low": 0.3, "high": 0.7}
    model.save(update_fields=["card"])
    merit = "By MF1, it outperforms both baselines: the intervals of both differences are above 0."
    assert f"<strong>{merit}</strong>" in shown() and "than chance" not in shown()
    model.card["held_out"]["kappa"] = {**ahead, "value": -0.013, "low": -0.061, "high": 0.035}
    model.card["held_out"]["raw"]["value"] = 0.506
    model.card["baselines"]["majority"]["raw"]["value"] = 0.411
    model.card["baselines"]["word_overlap"]["raw"]["value"] = 0.589
    model.save(update_fields=["card"])
    html = shown()
    assert "It is not better than chance on these decisions: kappa −0.013 (−0.061 to 0.035)." in html
    assert "Its agreement, 0.506, is below that of the baseline Word overlap, 0.589." in html
    assert "of the baseline Majority" not in html
    assert merit in html and f"<strong>{merit}" not in html


def test_a_cards_file_holds_every_figure_of_the_page(carded: tuple[Client, TrainedModel]) -> None:
    client, model = carded
    page = f"/b/carded/judges/{model.judge.public_id}/"
    sent = client.get(f"{page}model-card.csv")
    text = b"".join(sent.streaming_content).decode()  # type: ignore[attr-defined]
    rows = {(row["section"], row["name"], row["figure"]): row for row in csv.DictReader(io.StringIO(text))}
    # by hand: over twelve cases right on 36 of 48; as met 12 of 24, as not met all 24
    mf1 = (2 * 12 / (2 * 12 + 12) + 2 * 24 / (2 * 24 + 12)) / 2
    always_not = (0 + 2 * 24 / (2 * 24 + 24)) / 2
    assert float(rows["held_out", "judge", "mf1"]["value"]) == pytest.approx(mf1)
    assert float(rows["difference", "majority", "mf1"]["value"]) == pytest.approx(mf1 - always_not)
    assert rows["split", "train", "decisions"]["note"] == "'=one"  # a spreadsheet must not run it
    assert rows["data", "all", "decisions"]["note"] == f"SHA-256 {'c' * 64}"
    assert rows["data", "tie", "left_out"]["value"] == "1"
    # 0.7, 0.45 where it is met, 0.3, 0.35 where it is not
    before = (0.3**2 + 0.3**2 + 0.55**2 + 0.35**2) / 4
    assert float(rows["calibration", "before", "brier"]["value"]) == pytest.approx(before)
    assert rows["curve", "after 0.8 to 0.9", "share_met"]["value"] == "1.0"
    assert rows["curve", "after 0.8 to 0.9", "mean_probability"]["n"] == "12"
    shown = client.get(page).content.decode()
    assert f"{mf1 - always_not:.3f}" in shown
    assert f"{before:.3f}" in shown
    assert "Its advantage over a baseline is uncertain" in shown  # it does not differ from word overlap
    assert "<svg" in shown
    for kind, head in (("svg", b"<svg"), ("png", b"\x89PNG")):
        assert client.get(f"{page}calibration.{kind}").content.startswith(head)


def test_a_card_of_an_earlier_release_is_still_shown(carded: tuple[Client, TrainedModel]) -> None:
    client, model = carded
    later = ("differences", "calibrator", "calibration_before", "brier", "calibration_error", "left_out_by")
    model.card = {key: value for key, value in model.card.items() if key not in later}
    del model.card["data"]["sha256"], model.card["data"]["by_group"]
    model.card["calibration"] = [{"from": 0.1, "n": 9, "mean_probability": 0.15, "share_met": 0.2}]
    model.save()
    page = f"/b/carded/judges/{model.judge.public_id}/"
    shown = client.get(page).content.decode()
    assert "Calibration curve" in shown
    assert "ahead by" not in shown.lower()
    assert client.get(f"{page}model-card.csv").status_code == 200
    for status in ("pending", "failed"):
        TrainedModel.objects.update(status=status)
        assert client.get(f"{page}model-card.csv").status_code == 404


def readable(n_cases: int = 12) -> Decisions:
    """Five candidates on some cases; a response has the criterion's own words where it is met, mostly."""
    rng = np.random.default_rng(2)
    pairs, met, candidates, cases = [], [], [], []
    for number in range(n_cases):
        for name in "abcde":
            for topic in ("fever", "water", "neck", "dose", "visit"):
                is_met = int(rng.random() < 0.45)
                shows = is_met if rng.random() < 0.85 else 1 - is_met
                text = f"Speak of {topic} and rest, case {number}." if shows else f"Sleep well in week {number}."
                pairs.append(Texts(text, f"Mentions {topic}.", "What shall I do?"))
                met.append(is_met)
                candidates.append(name)
                cases.append(f"case-{number}")
    return Decisions(
        pairs, np.array(met), np.array(candidates), np.array(cases), np.full(len(met), "A"), Counter(), "0" * 64
    )
