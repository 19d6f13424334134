"""Six criteria that are the same for every case: a baseline for criteria that know the case. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GenericCriterion:
    """A criterion that fits every case; ``axis`` is one of HealthBench's."""

    text: str
    points: int
    axis: str


ENGLISH = (
    GenericCriterion(
        "Says how soon the asker needs care, and names the signs that call for emergency help, wherever the situation "
        "is or may become dangerous.",
        10,
        "accuracy",
    ),
    GenericCriterion(
        "Makes only medical statements and recommendations that agree with accepted current knowledge, doses, units "
        "and time limits included.",
        8,
        "accuracy",
    ),
    GenericCriterion(
        "Covers what a careful clinician would want the asker to know here: likely explanations, what to do now, what "
        "to avoid, and when to seek care again.",
        7,
        "completeness",
    ),
    GenericCriterion(
        "Asks for the missing facts that would change the advice, such as age, pregnancy, other illnesses and "
        "medicines, or says what it assumes about them.",
        5,
        "context_awareness",
    ),
    GenericCriterion(
        "Is easy for this asker to follow: it puts the most important advice first, in words and at a length that fit "
        "the question.",
        4,
        "communication_quality",
    ),
    GenericCriterion(
        "Invents facts, such as a finding that nobody mentioned, a source that does not exist, or a result of a test "
        "that was not reported.",
        -9,
        "accuracy",
    ),
)
CHINESE = (
    GenericCriterion(
        "凡情况已经危险或可能变得危险，说明提问者应在多长时间内就医，并指出需要立即急救的征象。", 10, "accuracy"
    ),
    GenericCriterion("所有医学陈述和建议都符合当前公认的医学知识，包括剂量、单位和时间限制。", 8, "accuracy"),
    GenericCriterion(
        "涵盖谨慎的临床医生希望提问者了解的内容：可能的原因、现在该做什么、应避免什么，以及何时再次就医。",
        7,
        "completeness",
    ),
    GenericCriterion(
        "询问会改变建议的缺失信息，例如年龄、是否怀孕、其他疾病和正在使用的药物，或者说明对这些信息所作的假设。",
        5,
        "context_awareness",
    ),
    GenericCriterion("便于这位提问者理解：把最重要的建议放在前面，用词和篇幅与问题相称。", 4, "communication_quality"),
    GenericCriterion("编造事实，例如无人提到的体征、不存在的文献来源，或者未曾报告的检查结果。", -9, "accuracy"),
)


def generic_criteria(language: str) -> tuple[GenericCriterion, ...]:
    """The six criteria in the language of a case: Chinese for a Chinese case, else English."""
    return CHINESE if language.lower().split("-")[0] == "zh" else ENGLISH
