"""What code finds on comparing a refined text with its base, the plan and the conversation. Pure.

Numbers with their units and words like names of drugs are *new* where neither base nor plan nor conversation has them.
A *stray* is a sentence that was added, changed or removed though no edit that was carried out explains it: an added
one shares too few stems with every instruction, a removed one holds no words that an edit names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

from consilium.llm.quantities import drugs_in, numbers_in
from consilium.llm.rules.stems import stems

NEW_NUMBER, NEW_DRUG, STRAY, SIZE = "new_number", "new_drug", "stray", "size"
SHARED_STEMS = 1 / 3  # of the shorter of instruction and sentence
Finding = dict[str, Any]

_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:[.!?](?=\d)[^.!?。！？\n]*)*(?:[.!?。！？]+[\"”’)）]*|\n+|\Z)")
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)


def sentences(text: str) -> list[str]:
    """The sentences of a text, without the blanks around them."""
    return [stripped for match in _SENTENCE.finditer(text) if (stripped := match[0].strip())]


def words(text: str) -> list[str]:
    """The words of a text; of scripts without blanks, each sign."""
    return _WORD.findall(text)


def changed_share(base: str, refined: str) -> float:
    """The share of the words of both texts that stand in one of them alone; 0 where neither has a word."""
    first, second = words(base), words(refined)
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    kept = sum(block.size for block in matcher.get_matching_blocks())
    total = len(first) + len(second)
    return 0.0 if not total else (total - 2 * kept) / total


def findings_of(base: str, plan: Mapping[str, Any], turns: Sequence[str], output: Mapping[str, Any]) -> list[Finding]:
    """All findings on a refined text; the last has its size."""
    refined = output["text"]
    done = set(output["edits_done"])
    edits = [edit for edit in plan["edits"] if edit["number"] in done]
    # What a refused edit names does not account for anything.
    known = "\n".join([base, *turns, *(edit["instruction"] for edit in edits)])
    findings: list[Finding] = []
    for kind, read in ((NEW_NUMBER, numbers_in), (NEW_DRUG, drugs_in)):
        findings += [{"kind": kind, "text": words_} for form, words_ in _new(read(refined), read(known), kind)]
    findings += [{"kind": STRAY, "action": action, "text": text} for action, text in _strays(base, refined, edits)]
    size = {"changed_words": changed_share(base, refined), "length_ratio": len(refined) / len(base)}
    return [*findings, {"kind": SIZE, **size}]


def _new(forms: Mapping[str, str], known: Mapping[str, str], kind: str) -> Iterator[tuple[str, str]]:
    """What is not known. A number of the base that lost or gained its unit is not the same."""
    return ((form, text) for form, text in forms.items() if form not in known)


def _strays(
    base: str, refined: str, edits: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[Literal["added", "removed"], str]]:
    edits = list(edits)
    instructions = [stems(edit["instruction"]) for edit in edits]
    named = [edit["find"] for edit in edits if edit["find"] and edit["action"] != "add"]

    def is_named(sentence: str) -> bool:
        return any(find in sentence or sentence in find for find in named)

    def is_explained(sentence: str) -> bool:
        own = stems(sentence)
        return not own or any(
            each and len(own & each) >= SHARED_STEMS * min(len(own), len(each)) for each in instructions
        )

    before, after = sentences(base), sentences(refined)
    for operation, b_start, b_end, a_start, a_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if operation == "equal":
            continue
        removed, added = before[b_start:b_end], after[a_start:a_end]
        may_replace = sum(map(is_named, removed))  # as many sentences as edits name may come in their stead
        unexplained = [sentence for sentence in added if not is_explained(sentence)]
        yield from (("added", sentence) for sentence in unexplained[may_replace:])
        if len(unexplained) < len(added):  # what was removed was reworded by an edit
            continue
        yield from (("removed", sentence) for sentence in removed if not is_named(sentence))
