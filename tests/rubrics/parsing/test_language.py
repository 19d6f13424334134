"""Which language a case is taken to be in: by script and a few words, and silent when unsure."""

from __future__ import annotations

import pytest

from rubrics.parsing.language import detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I have had a sore throat for three days. What should I do?", "en"),
        ("WHAT SHOULD THE DOSE OF AMOXICILLIN BE FOR MY SON?", "en"),
        ("My café visit — the doctor said: “rest”. What is that for?", "en"),
        ("我嗓子疼了三天，应该怎么办？", "zh"),
        ("患者服用 metformin 500 mg，每日两次，现在出现恶心。", "zh"),
        ("喉が三日間痛いです。どうすればいいですか。", ""),
        ("Seit drei Tagen habe ich Halsschmerzen und Fieber.", ""),
        # A capital İ in lower case is an i and a dot of its own; the i is no English word there.
        ("İdrar yolu sorunu var. İnsanlar neden hasta olur", ""),
        ("İshal ve İdrar", ""),
        ("ok", ""),
        ("12 34 56", ""),
        ("", ""),
    ],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert detect_language(text) == language
