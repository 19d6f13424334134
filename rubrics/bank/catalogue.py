"""The catalogue for authors of a benchmark: the consensus bank and its own banks, searched and filtered."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from rubrics.bank.consensus import NAME, consensus
from rubrics.models import Bank, BankItem, Benchmark
from rubrics.parsing.bank import BankEntry

SECTIONS = {
    "safety_emergency": _("Safety and emergency"),
    "context_seeking": _("Context seeking"),
    "uncertainty": _("Uncertainty"),
    "communication": _("Communication"),
    "personalization": _("Personalization"),
    "evidence": _("Evidence"),
    "fairness": _("Fairness"),
    "regulation_locality": _("Regulation and locality"),
    "completeness": _("Completeness"),
    "instruction_following": _("Instruction following"),
}
POSITIVE, NEGATIVE = "positive", "negative"
CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class BankQuery:
    """What a search asks for; empty means all. ``points`` is a sign, ``only`` may be ``cluster``."""

    q: str = ""
    section: str = ""
    bank: str = ""
    points: str = ""
    only: str = ""


def section_label(section: str) -> str:
    """The name of a section; users' banks may have sections of their own."""
    return str(SECTIONS.get(section, section))


def own_banks(benchmark: Benchmark) -> list[Bank]:
    """The banks that authors can draw on besides the consensus bank."""
    return list(Bank.objects.filter(benchmark=benchmark, active=True))


def entry_of(item: BankItem, bank: str) -> BankEntry:
    """A row as an entry; ``bank`` is the short name of its bank."""
    return BankEntry(
        key=item.key,
        section=item.section,
        text=item.text,
        guidance=item.guidance,
        dimension={"": item.dimension} if item.dimension else {},
        points=item.points,
        tags=tuple(item.tags),
        applies_to=tuple(item.applies_to),
        bank=bank,
    )


def entries_of(bank: Bank) -> list[BankEntry]:
    """The items of one bank in the order of its file."""
    return [entry_of(item, bank.slug) for item in bank.items.all()]


def catalogue(benchmark: Benchmark) -> list[BankEntry]:
    """All items on offer: the consensus bank, then the benchmark's own ones."""
    rows = BankItem.objects.filter(bank__benchmark=benchmark, bank__active=True).select_related("bank")
    return [*consensus(), *(entry_of(item, item.bank.slug) for item in rows.order_by("bank__title", "position", "pk"))]


def find_entry(benchmark: Benchmark, bank: str, key: str) -> BankEntry | None:
    """An item by its name; those of retired banks are found as well, since criteria may have come from them."""
    if bank == NAME:
        return next((entry for entry in consensus() if entry.key == key), None)
    item = BankItem.objects.filter(bank__benchmark=benchmark, bank__slug=bank, key=key).first()
    return entry_of(item, bank) if item else None


def matching(entries: Iterable[BankEntry], query: BankQuery) -> list[BankEntry]:
    """The entries that hold every word that is searched for, in any language, and pass the filters."""
    words = query.q.casefold().split()
    return [
        entry
        for entry in entries
        if (not query.section or entry.section == query.section)
        and (not query.bank or entry.bank == query.bank)
        and (not query.points or (entry.points > 0) == (query.points == POSITIVE))
        and (query.only != CLUSTER or entry.applies_to)
        and (not words or _holds(f"{entry.words}\n{section_label(entry.section).casefold()}", words))
    ]


def _holds(text: str, words: Sequence[str]) -> bool:
    return all(word in text for word in words)


def applying(entries: Iterable[BankEntry], tags: Collection[str]) -> list[BankEntry]:
    """The cluster criteria for a case with these tags, its own and those agreed on."""
    held = set(tags)
    return [entry for entry in entries if held.intersection(entry.applies_to)]
