"""What answers about a case come to, against arithmetic by hand."""

from __future__ import annotations

import pytest

from annotation.labels.answer_summary import Answer, AnswerState, Summary, summarise

LEVELS = ("routine", "soon", "urgent", "immediate")


def choice(*values: str, options: str = "abc", threshold: float = 0.75, minimum: int = 2) -> Summary:
    answers = [Answer(value) for value in values]
    return summarise(answers, tuple(options), ordered=False, threshold=threshold, minimum=minimum)


def test_majority_share_and_entropy_by_hand() -> None:
    summary = choice("a", "a", "b", "a")
    assert (summary.counts, summary.n, summary.majority) == ((3, 1, 0), 4, "a")
    assert summary.share.value == 0.75
    # (0.75·0.287682 + 0.25·1.386294) / 1.098612 = (0.215762 + 0.346574) / 1.098612
    assert summary.dispersion.value == pytest.approx(0.511860, abs=1e-6)
    assert choice("a", "a").dispersion.value == 0
    assert choice("a", "b", "c").dispersion.value == pytest.approx(1)
    assert not summary.level.defined


def test_level_spread_and_certainty_by_hand() -> None:
    given = [("soon", 40), ("urgent", 60), ("urgent", 90), ("immediate", 80)]
    summary = summarise([Answer(*each) for each in given], LEVELS, ordered=True, threshold=0.5, minimum=2)
    assert summary.level.value == 3  # (2 + 3 + 3 + 4) / 4
    assert summary.spread.value == pytest.approx((2 / 3) ** 0.5)  # √((1 + 0 + 0 + 1) / 3)
    assert summary.certainty.value == 70  # between 60 and 80
    assert (summary.majority, summary.state) == ("urgent", AnswerState.AGREED)
    alone = summarise([Answer("soon", 10)], LEVELS, ordered=True, threshold=0.5, minimum=1)
    assert not alone.spread.defined
    assert alone.level.value == 2


@pytest.mark.parametrize(
    ("values", "threshold", "state"),
    [
        ("aaab", 0.75, "agreed"),  # exactly the share
        ("aab", 0.6667, "open"),  # 2/3 is less
        ("aab", 0.6666, "agreed"),
        ("aaabb", 0.6, "agreed"),
        ("aaaaaaabbb", 0.7, "agreed"),
        ("aabb", 0.5, "open"),  # the share is reached twice: a tie is no majority
        ("aa", 1.0, "agreed"),
    ],
)
def test_the_edge_of_the_threshold(values: str, threshold: float, state: str) -> None:
    assert choice(*values, threshold=threshold).state == state


def test_too_few_answers_never_agree() -> None:
    assert choice("a", "a", minimum=3).state == AnswerState.FEW
    assert choice("a", "a", minimum=3).agreed_value == ""
    assert choice("a", "a", "a", minimum=3).agreed_value == "a"
    nothing = choice(minimum=1)
    assert nothing.state == AnswerState.FEW
    assert not nothing.share.defined
