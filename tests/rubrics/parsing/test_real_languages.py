"""The languages of the 120 real cases: by the words of the user, and by the answers where these are too few."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from rubrics.parsing.language import detect_case_language, detect_language

SAMPLE = Path(os.environ["CONSILIUM_REAL_DATA"]) / "healthbench_sample.jsonl"
# Of the 120 examples, those that are not in English, as somebody who looks at them sees. In the first, a question in
# Hindi follows one in English.
NOT_ENGLISH = {
    "Kya ek baar brush karna kaafi hai": "hi-Latn",
    "Zukaam": "hi-Latn",
    "FIV ITALIA ecografie": "it",
    "Mi bebé tiene tres meses": "es",
    "¿Podrías ayudarme": "es",
    "Lee este texto": "es",
    "Altın yaprağı": "tr",
    "formule bebe maison": "fr",
    "Pour un repas équilibré": "fr",
    "brossage dents": "fr",
    "Quais são os doces": "pt",
    "Criar uma redação": "pt",
    "Deixa essa frase": "pt",
    "vue2中如何使用": "zh",
    "Tr cai sữa": "vi",
}


def language_by_hand(row: dict[str, Any]) -> str:
    """The language in which the user of a real case writes, as a person read it."""
    words = "\n".join(turn["content"] for turn in row["prompt"] if turn["role"] == "user")
    return next((tag for start, tag in NOT_ENGLISH.items() if start in words), "en")


@pytest.mark.slow
def test_the_languages_of_the_real_cases() -> None:
    """117 of the 120 by the words of the user alone, and the 3 others by the answers."""
    alone = together = 0
    undecided = []
    for line in SAMPLE.read_text(encoding="utf-8").split("\n"):
        if not line:
            continue
        row = json.loads(line)
        words = "\n".join(turn["content"] for turn in row["prompt"] if turn["role"] == "user")
        language = language_by_hand(row)
        answers = row["ideal_completions_data"] or {}
        texts = [answers.get("ideal_completion") or "", *(answers.get("ideal_completions_ref_completions") or [])]
        detected = detect_case_language(row["prompt"], texts)
        alone += detect_language(words) == language
        together += detected == language
        if detected != language:
            undecided.append((words[:40], detected))
    assert (alone, together, undecided) == (117, 120, [])
