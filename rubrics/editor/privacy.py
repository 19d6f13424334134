"""Privacy findings in a case and its draft, and the waivers of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from consilium.core.among import Among
from consilium.core.i18n import translate
from rubrics.editor.draft_content import DraftItem
from rubrics.models import Case, Criterion, PrivacyWaiver, Rubric
from rubrics.parsing.privacy import PrivacyFinding, findings

KEY, CONVERSATION, REFERENCE, TAGS, CRITERION = "key", "conversation", "reference", "tags", "criterion"
OF_AN_ITEM = ("text", "source", "element", "expectation")


@dataclass(frozen=True, slots=True)
class Place:
    """A text of a case or of its draft: ``number`` of the turn, tag or criterion from 1, ``item`` of the draft."""

    part: str
    number: int = 0
    field: str = ""
    item: str = ""


@dataclass(frozen=True, slots=True)
class PlacedFinding:
    """A finding and its place; ``waiver`` holds the reason why it may stay, and who gave it."""

    place: Place
    finding: PrivacyFinding
    before: str = ""  # the words before it, to recognise it by
    after: str = ""
    waiver: PrivacyWaiver | None = None

    @property
    def kind(self) -> str:
        """What it looks like."""
        return self.finding.kind

    @property
    def quote(self) -> str:
        """The words themselves."""
        return self.finding.quote

    @property
    def where(self) -> str:
        """The place in words."""
        place = {"n": self.place.number}
        if self.place.part == CONVERSATION:
            return _("Turn %(n)d") % place
        if self.place.part == CRITERION:
            return _("Criterion %(n)d") % place
        return {KEY: _("Short name"), TAGS: _("Tags"), REFERENCE: _("Reference answer")}[self.place.part]

    @property
    def what_to_do(self) -> str:
        """What it looks like, and what its author may do about it; for a page that shows the place itself."""
        values = {"quote": self.quote, "why": translate(self.finding.why)}
        return _("“%(quote)s”. %(why)s Remove it, or explain on the page of the case why it can stay.") % values

    def __str__(self) -> str:
        values = {"where": self.where, "quote": self.quote, "why": translate(self.finding.why)}
        return (
            _("%(where)s: “%(quote)s”. %(why)s Remove it, or explain on the page of the case why it can stay.") % values
        )


def cases_with_open_findings(cases: Collection[int]) -> set[int]:
    """The ids of those cases whose own texts have a finding that nobody has waived; three queries.

    As in `open_findings`, the texts of a case with a published rubric are public; drafts and tags are not looked at.
    """
    public = Rubric.objects.filter(Among("case", cases), status__in=(Rubric.Status.PUBLISHED, Rubric.Status.SUPERSEDED))
    rows = Case.objects.filter(Among("pk", set(cases).difference(public.values_list("case", flat=True))))
    marked = {
        (case.pk, finding.kind, finding.quote)
        for case in rows.only("key", "conversation", "reference_answer").order_by("pk")
        for _place, text in _of_case(case)
        for finding in findings(text)
    }
    waived = PrivacyWaiver.objects.filter(Among("case", {pk for pk, _kind, _quote in marked}))
    return {pk for pk, _kind, _quote in marked.difference(waived.values_list("case", "kind", "quote"))}


def waivers_of(case: Case, items: Iterable[DraftItem]) -> list[PrivacyWaiver]:
    """Words in the case or ``items`` that somebody kept although they look as if they named a person, with the reasons.

    Words that were kept once, and are no longer in any of these texts, are not among them.
    """
    waivers = PrivacyWaiver.objects.filter(case=case).select_related("waived_by").order_by("waived_at", "pk")
    placed = [*_of_case(case), *_of_items(items, {})]
    texts = [*(text for _place, text in placed), *case.tags]
    return [waiver for waiver in waivers if any(_has_words(text, waiver) for text in texts)]


# Letters and digits of scripts that part words by blanks: not Chinese characters, kana and hangul.
LETTER = r"[^\W_\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"


def has_whole_words(text: str, quote: str) -> bool:
    """Whether ``quote`` is in ``text``, and no part of a longer word: *Ann* is not in *Annual*.

    Where it begins or ends in a script without blanks between words, such as Chinese, anything may follow it there.
    """
    before = rf"(?<!{LETTER})" if re.match(LETTER, quote) else ""
    after = rf"(?!{LETTER})" if re.match(LETTER, quote[-1:]) else ""
    return bool(quote) and re.search(f"{before}{re.escape(quote)}{after}", text) is not None


def _has_words(text: str, waiver: PrivacyWaiver) -> bool:
    """Whether a text has the words of a waiver: as whole words, or marked in it, as in *A13812345678*."""
    if has_whole_words(text, waiver.quote):
        return True
    return waiver.quote in text and any(
        (finding.kind, finding.quote) == (waiver.kind, waiver.quote) for finding in findings(text)
    )


AROUND = 40


def content_is_public(case: Case) -> bool:
    """Whether a rubric of the case was published; then its content is public, too, and frozen."""
    return any(row.status in (Rubric.Status.PUBLISHED, Rubric.Status.SUPERSEDED) for row in case.rubrics.all())


def all_findings(case: Case, items: Sequence[DraftItem]) -> list[PlacedFinding]:
    """Findings, with their waivers, in texts that are not public yet, and in tags. At most three queries.

    Texts are the key, conversation and reference answer of the case and its new criteria; tags may change at any time.
    """
    texts = [] if content_is_public(case) else list(_of_case(case))
    texts += [(Place(TAGS, number), tag) for number, tag in enumerate(case.tags, start=1)]
    known = {item.criterion for item in items if item.criterion is not None}
    published = dict(Criterion.objects.filter(case=case, pk__in=known).values_list("pk", "text")) if known else {}
    texts += _of_items(items, published)
    placed = [(place, text, finding) for place, text in texts for finding in findings(text)]
    if not placed:
        return []
    waivers = {
        (row.kind, row.quote): row for row in PrivacyWaiver.objects.filter(case=case).select_related("waived_by")
    }
    return [
        PlacedFinding(
            place,
            finding,
            before=_before(text, finding.start),
            after=_after(text, finding.end),
            waiver=waivers.get((finding.kind, finding.quote)),
        )
        for place, text, finding in placed
    ]


def _before(text: str, start: int) -> str:
    """Some words before a place; the first one is whole."""
    cut = text[max(0, start - AROUND) : start]
    return cut if start <= AROUND else "…" + (cut.split(" ", 1)[1] if " " in cut else cut)


def _after(text: str, end: int) -> str:
    cut = text[end : end + AROUND]
    return cut if end + AROUND >= len(text) else (cut.rsplit(" ", 1)[0] if " " in cut else cut) + "…"


def open_findings(case: Case, items: Sequence[DraftItem]) -> list[PlacedFinding]:
    """Those of `all_findings` that nobody has waived: nothing is published while there are any."""
    return [finding for finding in all_findings(case, items) if finding.waiver is None]


def _of_case(case: Case) -> Iterator[tuple[Place, str]]:
    yield Place(KEY), case.key
    for number, turn in enumerate(case.conversation, start=1):
        yield Place(CONVERSATION, number), str(turn.get("content", ""))
    yield Place(REFERENCE), case.reference_answer


def _of_items(items: Iterable[DraftItem], published: dict[int, str]) -> Iterator[tuple[Place, str]]:
    for number, item in enumerate(items, start=1):
        stands = item.criterion is not None and published.get(item.criterion) == item.text
        for field in OF_AN_ITEM:
            # The text of a published criterion is public already; its notes may be new.
            if not (stands and field == "text"):
                yield Place(CRITERION, number, field, item.id), getattr(item, field)
