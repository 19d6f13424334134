"""Slices in words, in both languages."""

from __future__ import annotations

import pytest
from django.utils.translation import override

from consilium.core.i18n import translate, translate_remark
from consilium.core.reasons import Reason
from rubrics.slice_words import slice_words, value_words


@pytest.mark.parametrize(
    ("name", "english", "chinese"),
    [
        ("register:lay", "Register: Patient or public", "语体：患者或公众"),
        ("axis:communication_quality", "Axis: communication quality", "维度：沟通质量"),
        ("axis:local_axis", "Axis: local axis", "维度：local axis"),
        ("task:home_care_advice", "Task: home care advice", "任务类型：home care advice"),
        ("made-up message", "made-up message", "made-up message"),
        ("own:kind", "own:kind", "own:kind"),
        ("response:lab/beta/case-1/0", "lab/beta on case-1", "lab/beta 对 case-1 的回答"),
        ("response:beta/case-1/2", "beta on case-1, sample 2", "beta 对 case-1 的回答，采样 2"),
        ("criterion:case-1/3", "Criterion 3 of case-1", "case-1 的第 3 条标准"),
    ],
)
def test_a_slice_is_named_in_words(name: str, english: str, chinese: str) -> None:
    with override("en"):
        assert slice_words(name) == english
    with override("zh-hans"):
        assert slice_words(name) == chinese


def test_the_sign_of_points_and_a_tag_have_words_too() -> None:
    assert slice_words("sign:negative") == "Sign of the points: Negative"
    assert value_words("tag", "register:lay") == "Register: Patient or public"


def test_an_extent_in_a_reason_has_words_in_every_language() -> None:
    reason = Reason.EXTENT_WITHOUT_DECISION(extent="none")
    in_words = "physicians have decided on no gold point whose answer is Not at all"
    assert reason == "physicians have decided on no gold point whose answer is none"  # as files have it
    assert (translate(reason), translate_remark(str(reason))) == (in_words, in_words)
    assert translate_remark(f"mf1: {reason}; 2 pairs") == f"mf1: {in_words}; 2 pairs"
    with override("zh-hans"):
        assert "none" not in translate(reason)
