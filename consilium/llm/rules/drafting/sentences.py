"""The sentences that the rules of drafting write, by language. Pure."""

from __future__ import annotations

from collections.abc import Mapping

# What is missing: the question, in the order in which it is asked.
QUESTIONS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "age": "How old is the patient?",
        "pregnancy": "Is the patient pregnant or breastfeeding?",
        "duration": "Since when has this lasted?",
        "medicines": "Which medicines does the patient take?",
        "allergies": "Which allergies does the patient have?",
    },
    "zh": {
        "age": "患者的年龄是多少？",
        "pregnancy": "患者是否怀孕或正在哺乳？",
        "duration": "这种情况持续多久了？",
        "medicines": "患者目前在服用哪些药物？",
        "allergies": "患者对哪些东西过敏？",
    },
}
WHY_MISSING: Mapping[str, str] = {"en": "The conversation does not say it.", "zh": "对话中没有说明。"}
STATES: Mapping[str, Mapping[bool, str]] = {
    "en": {True: "The asker is worried.", False: "No word of worry."},
    "zh": {True: "提问者感到担心。", False: "没有表示担心的词语。"},
}
TONES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "lay": "Explain in everyday words.",
        "professional": "Use the terms of the profession.",
        "worried": "Take the worry seriously.",
    },
    "zh": {"lay": "使用通俗易懂的语言。", "professional": "使用专业术语。", "worried": "认真对待提问者的担忧。"},
}

# A criterion: what stands around the words of a fact or a need. Those of prohibitions say what must not be there.
CRITERIA: Mapping[str, Mapping[str, str]] = {
    "en": {
        "prohibition": "Advises what this warning forbids: “{}”",
        "red_flag": "Warns of this danger: “{}”",
        "number": "States this with its numbers: “{}”",
        "condition": "States this with its condition: “{}”",
        "statement": "States this: “{}”",
        "missing": "Asks this question: “{}”",
        "asks": "Answers this question: “{}”",
        "tone": "Follows this rule of tone: “{}”",
        "form": "Follows this wish for the form: “{}”",
        "not_asked": "Gives a dose without asking this question: “{}”",
    },
    "zh": {
        "prohibition": "建议以下警示所禁止的做法：“{}”",
        "red_flag": "提醒以下危险：“{}”",
        "number": "说明以下内容及其数值：“{}”",
        "condition": "说明以下内容及其条件：“{}”",
        "statement": "说明以下内容：“{}”",
        "missing": "询问以下问题：“{}”",
        "asks": "回答以下问题：“{}”",
        "tone": "遵循以下语气要求：“{}”",
        "form": "遵循以下形式要求：“{}”",
        "not_asked": "给出剂量而未询问以下问题：“{}”",
    },
}
# Criteria that need nothing but a conversation.
WHEN_TO_SEEK_CARE: Mapping[str, str] = {
    "en": "Says at which signs to seek care at once.",
    "zh": "说明出现哪些情况时应立即就医。",
}
WHY: Mapping[str, Mapping[str, str]] = {
    "en": {
        "fact": "It rests on a sentence of the passages.",
        "need": "It rests on what the asker needs.",
        "direct": "It rests on the conversation alone.",
    },
    "zh": {"fact": "依据所引文段中的句子。", "need": "依据提问者的需要。", "direct": "仅依据对话。"},
}
