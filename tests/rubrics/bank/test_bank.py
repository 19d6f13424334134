"""The consensus bank: its sentences, what it covers, and reading banks from files."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pytest

from consilium.core.errors import LineError
from rubrics.bank.catalogue import CLUSTER, NEGATIVE, SECTIONS, BankQuery, applying, matching
from rubrics.bank.consensus import FILE, consensus
from rubrics.bank.files import as_csv, as_jsonl
from rubrics.editor.draft_content import DraftItem, read_items
from rubrics.parsing.bank import KEY, BankEntry, in_language, read_bank
from rubrics.parsing.faults import Faults

# Categories on which HealthBench's physicians agreed, by theme, with what its consensus criteria look at in each
# (Arora et al. 2025, and the tags of the public examples). Three of these 37 families, on the language of answers
# in global health, carry no consensus criterion in the meta-evaluation: 34 do.
FAMILIES = {
    "emergency_referrals": {
        **dict.fromkeys(
            ("emergent", "conditionally-emergent", "non-emergent"), ("context_seeking", "emergency_behavior")
        ),
    },
    "context_seeking": {
        "enough-context": ("helpful_safe", "precise"),
        "not-enough-context": ("context_seeking", "helpful_safe"),
    },
    "hedging": {
        **dict.fromkeys(
            ("no-uncertainty", "any-reducible-uncertainty", "only-irreducible-uncertainty"),
            ("accurate", "hedges", "seeks_context"),
        ),
    },
    "communication": {
        **dict.fromkeys(("health-professional", "not-health-professional"), ("accuracy_completeness", "tailored")),
    },
    "health_data_tasks": {
        "enough-info-to-complete-task": ("accuracy_safety", "response_instruction_following"),
        "not-enough-info-to-complete-task": ("helpfulness", "safety"),
    },
    "global_health": {
        **dict.fromkeys(
            ("context-matters-is-clear", "context-matters-but-unclear", "context-does-not-matter"),
            ("aligned_accurate", "language"),
        ),
    },
    "complex_responses": {**dict.fromkeys(("detailed", "simple"), ("accuracy_hedging", "appropriate"))},
}
CLUSTERS = {
    f"{theme}_{category}_{what}": category
    for theme, categories in FAMILIES.items()
    for category, whats in categories.items()
    for what in whats
}
AXES = {"accuracy", "completeness", "communication_quality", "context_awareness", "instruction_following", "safety"}


def test_every_item_is_whole_in_both_languages_and_says_one_thing() -> None:
    entries = consensus()
    assert len({entry.key for entry in entries}) == len(entries)
    for language in ("en", "zh"):
        assert len({entry.text[language] for entry in entries}) == len(entries)
        assert len({entry.dimension[language] for entry in entries}) == len(entries)
    for entry in entries:
        assert KEY.fullmatch(entry.key)
        assert entry.section in SECTIONS
        assert -10 <= entry.points <= 10
        assert entry.points
        assert {tag.removeprefix("axis:") for tag in entry.tags} <= AXES
        assert {tag for tag in entry.tags if tag != "axis:safety"}, entry.key
        assert entry.covers
        for texts in (entry.text, entry.guidance, entry.dimension):
            assert set(texts) == {"en", "zh"}
            assert all(text == text.strip() and text for text in texts.values())
        assert re.fullmatch(r"[A-Z][^\n]{9,159}\.", entry.text["en"]), entry.text["en"]
        assert re.fullmatch(r"[^\n]{5,89}。", entry.text["zh"]), entry.text["zh"]
        places = [len(re.findall(r"\[[^\[\]]+\]", entry.text[language])) for language in ("en", "zh")]
        assert places[0] == places[1], entry.key
        assert not re.search(r"[\u4e00-\u9fff]", entry.text["en"] + entry.guidance["en"])
    compound = [entry.key for entry in entries if " and " in re.sub(r"\[[^\]]*\]", "", entry.text["en"])]
    assert len(compound) <= 5, compound


def test_it_covers_what_the_papers_agreed_on() -> None:
    entries = consensus()
    assert {entry.section for entry in entries} == {*SECTIONS}
    assert len(CLUSTERS) == 37
    by_key = {entry.key: entry for entry in entries if entry.applies_to}
    assert by_key.keys() == CLUSTERS.keys()
    for key, category in CLUSTERS.items():
        assert by_key[key].applies_to == (f"physician_agreed_category:{category}",)
        assert by_key[key].covers == (f"HB:{key}",)
        assert "[" not in by_key[key].text["en"], "cluster criteria are added unread to many cases"
    dimensions = {name for entry in entries for name in entry.covers if name.startswith("CC:")}
    assert len(dimensions) >= 73
    harms = [entry for entry in entries if entry.points < 0]
    assert {entry.section for entry in harms} >= {*SECTIONS} - {"personalization", "context_seeking"}
    assert len(harms) >= 20


def test_every_item_can_be_put_into_a_draft() -> None:
    for language in ("en", "zh"):
        items = [
            DraftItem(f"b{n}", in_language(entry.text, language), entry.points, entry.tags, bank=entry.name)
            for n, entry in enumerate(consensus())
        ]
        assert read_items([item.as_json() for item in items]).faults == []


def test_search_finds_words_of_either_language_and_filters() -> None:
    entries = consensus()
    keys = {entry.key for entry in matching(entries, BankQuery(q="renal DOSE"))}
    assert "renal-dose" in keys
    assert {entry.key for entry in matching(entries, BankQuery(q="肾功能"))} >= {"renal-dose"}
    assert all(entry.points < 0 for entry in matching(entries, BankQuery(points=NEGATIVE)))
    assert len(matching(entries, BankQuery(only=CLUSTER))) == 37
    assert {entry.section for entry in matching(entries, BankQuery(section="fairness"))} == {"fairness"}
    assert [entry.key for entry in applying(entries, ["x", "physician_agreed_category:emergent"])] == [
        "emergency_referrals_emergent_emergency_behavior",
        "emergency_referrals_emergent_context_seeking",
    ]


def read(data: str | bytes) -> tuple[list[BankEntry], list[LineError]]:
    faults = Faults()
    entries = list(read_bank(io.BytesIO(data.encode() if isinstance(data, str) else data), faults))
    return [entry for _line, entry in entries], faults.first


def test_csv_and_jsonl_say_the_same_and_what_is_written_is_read_again() -> None:
    table = (
        "\ufeffkey,section,text,text_zh,guidance_en,dimension,points,tags,applies_to\r\n"
        'a-1,evidence,"=Names the guideline",说明指南,Say which,sources,-3,axis:accuracy; x,theme:y\r\n'
        "a-2,Our own,您应该说明病情的严重程度,,,,,,\r\n"
    )
    lines = "\n".join(
        json.dumps(row)
        for row in [
            {
                "key": "a-1", "section": "evidence", "dimension": "sources", "points": -3,
                "guidance": {"en": "Say which"}, "text": {"en": "=Names the guideline", "zh": "说明指南"},
                "tags": ["axis:accuracy", "x"], "applies_to": ["theme:y"],
            },
            {"key": "a-2", "section": "Our own", "text_zh": "您应该说明病情的严重程度"},
        ]
    )  # fmt: skip
    from_table, faults = read(table)
    assert faults == []
    from_lines, faults = read(lines)
    assert faults == []
    assert from_table == from_lines
    assert from_table[0].text == {"en": "=Names the guideline", "zh": "说明指南"}
    assert from_table[1].points == 5
    for written in (as_csv(from_table), as_jsonl(from_table), as_csv(consensus()), as_jsonl(consensus())):
        again, faults = read("".join(written))
        assert faults == []
        assert len(again) in (2, len(consensus()))
    assert read("".join(as_csv(from_table)))[0] == from_table
    assert "'=Names" in "".join(as_csv(from_table))
    assert "'" not in "".join(as_jsonl(from_table))


GOOD: dict[str, Any] = {"key": "k", "section": "evidence", "text_en": "Names the drug"}
BROKEN: dict[str, tuple[Any, int, str]] = {
    "no key": ({**GOOD, "key": None}, 2, "key"),
    "a key with a slash": ({**GOOD, "key": "a/b"}, 2, "key"),
    "no text": ({"key": "k", "section": "evidence"}, 2, "text"),
    "a blank text": ({**GOOD, "text_en": " "}, 2, "text"),
    "a number as text": ({**GOOD, "text_en": 3}, 2, "text_en"),
    "no language": ({**GOOD, "text_!": "x"}, 2, "text_!"),
    "a list as text": ({**GOOD, "text": ["x"]}, 2, "text"),
    "no points": ({**GOOD, "points": 0}, 2, "points"),
    "eleven points": ({**GOOD, "points": 11}, 2, "points"),
    "half a point": ({**GOOD, "points": 1.5}, 2, "points"),
    "points in words": ({**GOOD, "points": "five"}, 2, "points"),
    "tags as a text": ({**GOOD, "tags": "a;b"}, 2, "tags"),
    "an unknown field": ({**GOOD, "is_staff": True}, 2, "is_staff"),
    "the key once more": ({**GOOD, "key": "first"}, 2, "key"),
}


@pytest.mark.parametrize(("row", "line", "field"), BROKEN.values(), ids=BROKEN.keys())
def test_faults_of_a_bank_are_named_by_line_and_field(row, line, field) -> None:
    _entries, faults = read(json.dumps({**GOOD, "key": "first"}) + "\n" + json.dumps(row))
    assert [(fault.line, fault.field) for fault in faults] == [(line, field)]


def test_the_file_is_plain_and_small() -> None:
    raw = FILE.read_bytes()
    assert len(raw) < 300_000
    assert b"\r" not in raw
