"""Compares two versions of a rubric: criteria that are the same, reworded, new, removed or moved."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import StrEnum

from rubrics.editor.citation import Citation
from rubrics.editor.draft_content import DraftItem

# Texts less alike than this are two criteria, not one that was reworded (a ratio of 2·matches / length, over words).
ALIKE = 0.45
# With more pairs of texts than this, none are compared: unmatched criteria then count as new or removed.
MAX_PAIRS = 40_000
# A word, one Chinese or Japanese character, blanks, or a mark of punctuation.
_TOKENS = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]|[^\W_]+(?:['’-][^\W_]+)*|\s+|.", re.DOTALL)


class Kind(StrEnum):
    """What became of a criterion."""

    SAME = "same"
    CHANGED = "changed"  # the text is the same; points, tags or what it rests on changed
    REWORDED = "reworded"
    NEW = "new"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class DiffSpan:
    """A stretch of a text; ``mark`` is ``ins`` or ``del`` where it is in one version only, else empty."""

    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class CriterionChange:
    """A criterion in both versions, or in one. Places count from 1."""

    kind: Kind
    old: DraftItem | None
    new: DraftItem | None
    old_place: int | None
    new_place: int | None
    moved: bool = False
    pieces: tuple[DiffSpan, ...] = ()
    # Names of other fields that changed: points, tags, source, element, expectation, citations.
    fields: tuple[str, ...] = ()

    @property
    def item(self) -> DraftItem:
        """The current criterion, or the last state of a removed one."""
        item = self.new or self.old
        assert item is not None
        return item

    @property
    def added_tags(self) -> list[str]:
        """Tags that the criterion did not have before."""
        return [tag for tag in self.new.tags if tag not in self.old.tags] if self.new and self.old else []

    @property
    def grounds(self) -> list[tuple[str, str, str]]:
        """Changes in what it rests on: the field, its former value and its current value."""
        if not (self.old and self.new):
            return []
        names = [name for name in ("source", "element", "expectation") if name in self.fields]
        return [(name, getattr(self.old, name), getattr(self.new, name)) for name in names]

    @property
    def added_citations(self) -> list[Citation]:
        """Citations that the criterion did not have before."""
        old = self.old.citations if self.old else ()
        return [citation for citation in self.new.citations if citation not in old] if self.new and self.old else []

    @property
    def lost_citations(self) -> list[Citation]:
        """Citations that the criterion no longer has."""
        new = self.new.citations if self.new else ()
        return [citation for citation in self.old.citations if citation not in new] if self.new and self.old else []

    @property
    def other_citations(self) -> list[Citation]:
        """Citations that did not change; all of those of a new or removed criterion."""
        return [citation for citation in self.item.citations if citation not in self.added_citations]

    @property
    def lost_tags(self) -> list[str]:
        """Tags that the criterion no longer has."""
        return [tag for tag in self.old.tags if tag not in self.new.tags] if self.new and self.old else []


@dataclass(frozen=True, slots=True)
class Diff:
    """All criteria: those of the new version in their order, removed ones at their former place."""

    lines: list[CriterionChange] = field(default_factory=list)

    def count(self, *kinds: Kind) -> int:
        """How many criteria are of these kinds."""
        return sum(line.kind in kinds for line in self.lines)

    @property
    def same(self) -> int:
        """Criteria that did not change, even if they moved."""
        return self.count(Kind.SAME)

    @property
    def unchanged(self) -> int:
        """Criteria that did not change and stayed in their place: those that are not among `differing`."""
        return len(self.lines) - len(self.differing)

    @property
    def changed(self) -> int:
        """Criteria with the same words and other points, tags or grounds."""
        return self.count(Kind.CHANGED)

    @property
    def reworded(self) -> int:
        """Criteria with other words."""
        return self.count(Kind.REWORDED)

    @property
    def new(self) -> int:
        """Criteria that were not there."""
        return self.count(Kind.NEW)

    @property
    def removed(self) -> int:
        """Criteria that are gone."""
        return self.count(Kind.REMOVED)

    @property
    def moved(self) -> int:
        """Criteria at another place in the order of those that stayed."""
        return sum(line.moved for line in self.lines)

    @property
    def differing(self) -> list[CriterionChange]:
        """Lines with a difference: all but unchanged criteria in the same place."""
        return [line for line in self.lines if line.kind is not Kind.SAME or line.moved]

    @property
    def citations(self) -> list[Citation]:
        """All that either version cites."""
        items = [item for line in self.lines for item in (line.old, line.new) if item is not None]
        return [citation for item in items for citation in item.citations]

    @property
    def suggestions(self) -> list[str]:
        """The suggestions that criteria of either version began as."""
        items = [item for line in self.lines for item in (line.old, line.new) if item is not None]
        return [item.suggestion for item in items if item.suggestion]

    @property
    def n_regraded(self) -> int:
        """Criteria that nobody has decided yet: reworded and new ones."""
        return self.count(Kind.REWORDED, Kind.NEW)


def compare(old: Sequence[DraftItem], new: Sequence[DraftItem]) -> Diff:
    """What became of each criterion of ``old`` in ``new``.

    An item that names its row (`DraftItem.criterion`) is matched by it, others by exactly the same text, then by the
    nearest text (`ALIKE`). A caller that compares two published versions sets the rows that new items came from.
    """
    partner = _partners(old, new)
    kept = [partner[place] for place in range(len(new)) if place in partner]
    steady = _longest_rising(kept)
    lines: list[CriterionChange] = []
    gone = sorted(set(range(len(old))) - set(partner.values()))
    for place, item in enumerate(new):
        source = partner.get(place)
        if source is None:
            lines.append(CriterionChange(Kind.NEW, None, item, None, place + 1))
            continue
        # A removed criterion is listed before the one that followed it.
        while gone and source in steady and gone[0] < source:
            lines.append(_removed(old, gone.pop(0)))
        lines.append(_line(old[source], item, source + 1, place + 1, moved=source not in steady))
    lines += [_removed(old, place) for place in gone]
    return Diff(lines)


def _removed(old: Sequence[DraftItem], place: int) -> CriterionChange:
    return CriterionChange(Kind.REMOVED, old[place], None, place + 1, None)


def _line(old: DraftItem, new: DraftItem, old_place: int, new_place: int, *, moved: bool) -> CriterionChange:
    names = ("points", "tags", "source", "element", "expectation", "citations")
    fields = tuple(name for name in names if getattr(old, name) != getattr(new, name))
    if old.text != new.text:
        return CriterionChange(
            Kind.REWORDED, old, new, old_place, new_place, moved, word_marks(old.text, new.text), fields
        )
    return CriterionChange(Kind.CHANGED if fields else Kind.SAME, old, new, old_place, new_place, moved, (), fields)


def _partners(old: Sequence[DraftItem], new: Sequence[DraftItem]) -> dict[int, int]:
    """Place in ``new`` → place in ``old``."""
    partners: dict[int, int] = {}
    by_row = {item.criterion: place for place, item in enumerate(old) if item.criterion is not None}
    for place, item in enumerate(new):
        source = by_row.get(item.criterion) if item.criterion is not None else None
        if source is not None and source not in partners.values():
            partners[place] = source
    left = [place for place in range(len(old)) if place not in set(partners.values())]
    for place, item in enumerate(new):
        if place not in partners:
            source = next((index for index in left if old[index].text == item.text), None)
            if source is not None:
                partners[place] = source
                left.remove(source)
    open_places = [place for place in range(len(new)) if place not in partners]
    for _score, place, source in sorted(_likenesses(old, new, left, open_places), key=lambda row: (-row[0], row[1:])):
        if place not in partners and source in left:
            partners[place] = source
            left.remove(source)
    return partners


def _likenesses(
    old: Sequence[DraftItem], new: Sequence[DraftItem], left: Iterable[int], open_places: Sequence[int]
) -> Iterable[tuple[float, int, int]]:
    sources = list(left)
    if len(sources) * len(open_places) > MAX_PAIRS:
        return
    matcher: SequenceMatcher[str] = SequenceMatcher(autojunk=False)
    for source in sources:
        matcher.set_seq2(_words(old[source].text))
        for place in open_places:
            matcher.set_seq1(_words(new[place].text))
            if matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE:
                score = matcher.ratio()
                if score >= ALIKE:
                    yield score, place, source


def _longest_rising(values: Sequence[int]) -> set[int]:
    """Members of a longest rising subsequence: these kept their order, and the others were moved."""
    ends: list[int] = []
    back: dict[int, int | None] = {}
    for value in values:
        place = bisect_left(ends, value)
        back[value] = ends[place - 1] if place else None
        ends[place : place + 1] = [value]
    members: set[int] = set()
    at = ends[-1] if ends else None
    while at is not None:
        members.add(at)
        at = back[at]
    return members


def _tokens(text: str) -> list[str]:
    return _TOKENS.findall(text)


def _words(text: str) -> list[str]:
    return [token for token in _tokens(text.casefold()) if not token.isspace()]


def word_marks(old: str, new: str) -> tuple[DiffSpan, ...]:
    """Both texts merged, with differences marked by word, in Chinese by character."""
    before, after = _tokens(old), _tokens(new)
    pieces: list[DiffSpan] = []
    gone, come = "", ""  # of the stretch that differs
    opcodes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for number, (tag, i1, i2, j1, j2) in enumerate(opcodes):
        lost, added = "".join(before[i1:i2]), "".join(after[j1:j2])
        between = 0 < number < len(opcodes) - 1
        if tag != "equal" or (between and added.isspace()):  # blanks between two changes belong to both
            gone, come = gone + lost, come + added
            continue
        pieces += _changed(gone, come)
        gone, come = "", ""
        pieces.append(DiffSpan(added))
    return (*pieces, *_changed(gone, come))


def _changed(gone: str, come: str) -> list[DiffSpan]:
    return [DiffSpan(text, mark) for text, mark in ((gone, "del"), (come, "ins")) if text]
