"""Placeholders that keep a draft from review. Those of the version before it may stay, and are only remarked on."""

from __future__ import annotations

from collections.abc import Sequence

from rubrics.bank.consensus import NAME
from rubrics.lint.gaps import BRACKETS, placeholders
from rubrics.models import BankItem, Rubric, RubricItem


def open_placeholders(items: Sequence[tuple[str, str]], rubric: int | None) -> dict[int, str]:
    """By the place of an item, from 1, its first placeholder that keeps ``rubric`` (`Rubric.pk`) from review.

    ``items`` are pairs (text, BANK/KEY of its bank item). In an item of one of the benchmark's own banks, the brackets
    that the bank's text has are placeholders as well. A criterion of the version that ``rubric`` is based on has none
    as long as its text stays the same: it was published with it.
    """
    own_texts = _texts_of_own_banks([bank for text, bank in items if BRACKETS.search(text)], rubric)
    gaps: dict[int, str] = {}
    for place, (text, bank) in enumerate(items, start=1):
        template = own_texts.get(bank, "")
        in_template = [match for match in BRACKETS.finditer(text) if match.group() in template]
        if matches := [*in_template, *placeholders(text)]:
            gaps[place] = min(matches, key=lambda match: match.start()).group()
    published = _published_texts(rubric) if gaps and rubric is not None else set()
    return {place: gap for place, gap in gaps.items() if items[place - 1][0] not in published}


def _texts_of_own_banks(names: Sequence[str], rubric: int | None) -> dict[str, str]:
    """By BANK/KEY the texts, in all languages, of these items of the benchmark's own banks."""
    pairs = {tuple(name.split("/", 1)) for name in names if "/" in name and not name.startswith(f"{NAME}/")}
    if not pairs or rubric is None:
        return {}
    rows = BankItem.objects.filter(
        bank__benchmark__in=Rubric.objects.filter(pk=rubric).values("case__benchmark"),
        bank__slug__in={bank for bank, _key in pairs},
        key__in={key for _bank, key in pairs},
    )
    columns = rows.values_list("bank__slug", "key", "text")
    return {f"{bank}/{key}": "\n".join(text.values()) for bank, key, text in columns}


def _published_texts(rubric: int) -> set[str]:
    """The texts of the criteria of the version that ``rubric`` is based on."""
    before = Rubric.objects.filter(pk=rubric).values("based_on")
    return set(RubricItem.objects.filter(rubric__in=before).values_list("criterion__text", flat=True))
