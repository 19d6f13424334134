"""Which language a text is taken to be in: by its script or its words, and none where that is not clear."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import django
import pytest
from babel.messages.pofile import read_po
from hypothesis import given
from hypothesis import strategies as st

from rubrics.parsing.language import detect_case_language, detect_language

MESSAGES = Path(django.__file__).parent / "conf" / "locale"
# Languages of the interface of Django, whose messages no list of words was written from.
BY_SCRIPT = ("zh_Hans", "ja", "ko", "ru", "ar", "fa", "he", "el", "hi", "bn", "ta", "te", "th", "ka", "hy", "ur")
BY_WORDS = ("es", "pt", "fr", "de", "it", "nl", "sv", "fi", "pl", "cs", "ro", "hu", "tr", "vi", "id")
PLACEHOLDER = re.compile(r"%\(\w+\)\w|%\w|\{[^}]*\}|<[^>]+>")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I have had a sore throat for three days. What should I do?", "en"),
        ("WHAT SHOULD THE DOSE OF AMOXICILLIN BE FOR MY SON?", "en"),
        ("My café visit — the doctor said: “rest”. What is that for?", "en"),
        ("我嗓子疼了三天，应该怎么办？", "zh"),
        ("患者服用 metformin 500 mg，每日两次，现在出现恶心。", "zh"),
        ("喉が三日間痛いです。どうすればいいですか。", "ja"),
        ("3일 동안 목이 아파요. 어떻게 해야 하나요?", "ko"),
        ("У меня три дня болит горло. Что делать?", "ru"),
        ("У мене три дні болить горло. Що робити, щоб її вилікувати?", "uk"),
        ("عندي ألم في الحلق منذ ثلاثة أيام", "ar"),
        ("سه روز است که گلویم درد می‌کند. چه کار کنم؟", "fa"),
        ("مجھے تین دن سے گلے میں درد ہے", "ur"),
        ("तीन दिन से गले में दर्द है, क्या करूँ?", "hi"),
        ("mujhe teen din se gale mein dard hai, kya karu", "hi-Latn"),
        ("Seit drei Tagen habe ich Halsschmerzen und Fieber.", "de"),
        ("Me duele la garganta desde hace tres días. ¿Qué hago?", "es"),
        ("J'ai mal à la gorge depuis trois jours. Que faire ?", "fr"),
        # A capital İ in lower case is an i and a dot of its own; the i is no word of another language there.
        ("İdrar yolu sorunu var. İnsanlar neden hasta olur", "tr"),
        ("İshal ve İdrar", "tr"),
        # The words of a program or an address are no words of a language.
        (
            "```\nfor i in the_list: print('and so what is it')\n```\n¿Qué hace este programa y por qué no da nada?",
            "es",
        ),
        ("ok", ""),
        ("metformin lisinopril atorvastatin", ""),
        ("12 34 56", ""),
        ("", ""),
    ],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert detect_language(text) == language


@given(st.text(max_size=400))
def test_any_text_has_a_language_or_none(text: str) -> None:
    assert re.fullmatch(r"(?:[a-z]{2,3}(?:-Latn)?)?", detect_language(text))


def test_an_answer_decides_where_the_question_is_too_short() -> None:
    question = [{"role": "user", "content": "45y F"}]
    assert detect_case_language(question) == ""
    assert detect_case_language(question, ["¿Qué síntomas tiene la paciente y desde cuándo?"]) == "es"
    asked_back = [*question, {"role": "assistant", "content": "Was möchten Sie über diese Patientin wissen?"}]
    assert detect_case_language(asked_back, ["¿Qué síntomas tiene la paciente?"]) == "de"
    # The words of the user come first, whatever is answered.
    assert detect_case_language([{"role": "user", "content": "Mi bebé tiene tos y fiebre"}], ["Your baby has"]) == "es"


def messages_in(language: str) -> list[str]:
    """Messages of Django in ``language`` with more than 25 characters, without placeholders."""
    with (MESSAGES / language / "LC_MESSAGES" / "django.po").open("rb") as file:
        entries = [entry for entry in read_po(file) if entry.id]
    texts = [entry.string if isinstance(entry.string, str) else entry.string[0] for entry in entries]
    return [plain for text in texts if len(plain := PLACEHOLDER.sub("", text)) > 25]


@pytest.mark.slow
@pytest.mark.parametrize("language", [*BY_SCRIPT, *BY_WORDS])
def test_messages_that_no_list_was_written_from(language: str) -> None:
    """By script nearly all are right. By words most are, and the others are left undecided rather than wrong."""
    detected = Counter(map(detect_language, messages_in(language)))
    total, right = detected.total(), detected[language.removesuffix("_Hans")]
    assert total >= 8
    assert right >= (0.85 if language in BY_SCRIPT else 0.4) * total
    assert total - right - detected[""] <= 0.06 * total
