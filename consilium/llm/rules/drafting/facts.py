"""Facts: sentences of passages that share a stem with the conversation, quoted whole. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from consilium.llm.rules.drafting.texts import one_line, passage_text, read_conversation, sentences
from consilium.llm.rules.drafting.word_lists import KINDS
from consilium.llm.rules.stems import stems
from consilium.llm.staged import read_numbered

MAX_OF_A_PASSAGE = 4
MAX_FACTS = 20
RED_FLAG_MARK = "[red flag] "
_STATEMENT = re.compile(r"(.*) \| passage ([0-9]{1,6}) \| (.*)", re.DOTALL)


def kind_of(sentence: str) -> str:
    """The kind of a fact: the first list of words that matches."""
    return next((kind for kind, words in KINDS.items() if words.search(sentence)), "statement")


def _shared_sentences(texts: Mapping[str, str]) -> list[dict[str, Any]]:
    """The sentences of each passage that share most stems with the conversation, with passage and quotation."""
    conversation = stems(read_conversation(texts["CASE"]).text)
    facts: list[dict[str, Any]] = []
    for number, item in enumerate(read_numbered(texts["PASSAGES"]), 1):
        shared = [(len(stems(sentence) & conversation), sentence) for sentence in sentences(passage_text(item.text))]
        most = sorted((count for count, _sentence in shared if count), reverse=True)[:MAX_OF_A_PASSAGE]
        kept = [sentence for count, sentence in shared if most and count >= most[-1]][:MAX_OF_A_PASSAGE]
        facts += [{"text": one_line(sentence), "passage": number, "quote": sentence} for sentence in kept]
    return facts[:MAX_FACTS]


def evidence(texts: Mapping[str, str]) -> dict[str, Any]:
    """Those sentences, red flags apart from the others. Conflicts are not looked for."""
    shared = _shared_sentences(texts)
    is_red_flag = [kind_of(fact["text"]) == "red_flag" for fact in shared]
    return {
        "statements": [fact for fact, is_red in zip(shared, is_red_flag, strict=True) if not is_red],
        "red_flags": [fact for fact, is_red in zip(shared, is_red_flag, strict=True) if is_red],
        "conflicts": [],
    }


def facts(texts: Mapping[str, str]) -> dict[str, Any]:
    """Each statement of the evidence as a fact with its kind; without statements, the sentences of the passages."""
    statements = [_read_statement(item.text) for item in read_numbered(texts.get("STATEMENTS", ""))]
    read = [statement for statement in statements if statement] or _shared_sentences(texts)
    return {"facts": [{"kind": kind_of(fact["text"]), **fact} for fact in read]}


def _read_statement(line: str) -> dict[str, Any] | None:
    """``[red flag] text | passage 2 | quotation``."""
    is_red_flag = line.startswith(RED_FLAG_MARK)
    match = _STATEMENT.fullmatch(line.removeprefix(RED_FLAG_MARK))
    if match is None:
        return None
    fact: dict[str, Any] = {"text": match[1], "passage": int(match[2]), "quote": match[3]}
    return {**fact, "kind": "red_flag"} if is_red_flag else fact


def relevance(texts: Mapping[str, str]) -> dict[str, Any]:
    """Drops the facts that share no stem with the conversation."""
    conversation = stems(read_conversation(texts["CASE"]).text)
    items = enumerate(read_numbered(texts["FACTS"]), 1)
    drop = [number for number, item in items if not stems(item.text.partition(": ")[2]) & conversation]
    return {"drop": [{"fact": number, "why": "It shares no word stem with the conversation."} for number in drop]}


def support(texts: Mapping[str, str]) -> dict[str, Any]:
    """Whether the quotation holds the text of the fact, or the text only a part of it beside other words."""
    checks = []
    pairs = zip(read_numbered(texts["FACTS"]), read_numbered(texts["QUOTES"]), strict=False)
    for number, (fact, quote) in enumerate(pairs, 1):
        text, words = one_line(fact.text), one_line(quote.text)
        if text in words:
            answer, why = "entails", "The text is in the quotation."
        elif words and words in text:
            answer, why = "partly", "The text has more words than the quotation."
        else:
            answer, why = "does_not", "The text is not in the quotation."
        checks.append({"fact": number, "support": answer, "why": why})
    return {"checks": checks}
