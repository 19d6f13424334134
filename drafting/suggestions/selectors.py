"""Suggestions for pages and the API: those of a case as the editor's panel shows them, and cases that wait."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy, ngettext

from accounts.models import User
from accounts.unread_cases import unread_by
from consilium.core.i18n import translate
from documents.models import Passage
from documents.search.highlights import Part
from documents.search.shown import parts_of
from drafting.access import decides_on_suggestions, may_ask_for_draft, seen_by
from drafting.models import DraftingRun, Fact, Need, Suggestion, SuggestionsOpened
from drafting.stages.finding_words import finding_words
from drafting.suggestions.state import item_of
from rubrics import cited
from rubrics.editor import editing
from rubrics.editor.citation import Citation, citations_of
from rubrics.models import Benchmark, Case, Rubric, RubricContributor
from rubrics.waiting import MAX_LINES, Waits
from scoring.models import PipelineRun, PipelineStep


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage that a suggestion rests on: its text in stretches, the quoted words marked, and what it is called."""

    reference: str
    address: str
    marks: tuple[str, ...]  # what speaks against the document
    headings: str
    table_header: str
    parts: list[Part]


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """A finding in words; ``severity``: problem, caution or note."""

    severity: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownSuggestion:
    """A suggestion with all that it rests on."""

    suggestion: Suggestion
    findings: list[ShownFinding]  # the gravest first
    facts: list[Fact]
    needs: list[Need]
    passages: list[ShownPassage]
    cited: list[dict[str, Any]]  # what the editor shows of its citations

    @property
    def has_source(self) -> bool:
        """Whether it rests on words of a document."""
        return bool(self.suggestion.citations)

    @property
    def axis(self) -> str:
        """The axis as people read it."""
        return self.suggestion.axis.replace("_", " ")

    def as_json(self) -> dict[str, Any]:
        """What the panel's script knows of it."""
        row = self.suggestion
        return {
            "id": row.public_id,
            "item": item_of(row),
            "cited": self.cited,
            "state": row.state,
            "aside": row.put_aside,
            "reason": row.reason,
        }


def open_to(user: User, benchmark: Benchmark) -> QuerySet[Suggestion]:
    """The suggestions of a benchmark that have opened to an author."""
    opened = SuggestionsOpened.objects.filter(case=OuterRef("case"), author=user.pk)
    rows = Suggestion.objects.filter(Exists(opened), case__benchmark=benchmark).select_related("case", "run")
    return seen_by(user, benchmark, rows)


def in_panel(case: Case) -> QuerySet[Suggestion]:
    """The suggestions for a case that may be decided on, or were in the draft that is being written, each text once."""
    rows = Suggestion.objects.filter(case=case, published_in=None).without_repeats()
    return rows.exclude(state=Suggestion.State.WITHDRAWN)


def panel_rows(case: Case) -> list[ShownSuggestion]:
    """The suggestions of the panel: open ones first, those without a source after the others, decided ones last.

    A fixed number of queries, whatever the number of suggestions.
    """
    rows = list(in_panel(case).select_related("run__created_by"))
    rows.sort(key=lambda row: (_place(row), -row.run_id, row.number))
    runs = {row.run_id for row in rows}
    facts = {(fact.run_id, fact.number): fact for fact in Fact.objects.filter(run__in=runs, case=case)}
    needs = {(need.run_id, need.number): need for need in Need.objects.filter(run__in=runs, case=case)}
    citations = {row.pk: citations_of(row.citations) for row in rows}
    every = list(dict.fromkeys(citation for several in citations.values() for citation in several))
    shown = cited.describe(case.benchmark, every)
    passages = {row.public_id: row for row in Passage.objects.filter(public_id__in={each.passage for each in every})}
    return [
        ShownSuggestion(
            suggestion=row,
            findings=[ShownFinding(each["severity"], translate(finding_words(each))) for each in row.findings],
            facts=[facts[row.run_id, number] for number in row.facts if (row.run_id, number) in facts],
            needs=[needs[row.run_id, number] for number in row.needs if (row.run_id, number) in needs],
            passages=_passages(citations[row.pk], shown, passages),
            cited=editing.shown_json(citations[row.pk], shown),
        )
        for row in rows
    ]


def runs_of(rows: Iterable[ShownSuggestion]) -> list[PipelineRun]:
    """The runs that drafted these suggestions, each once, the newest first."""
    runs = {row.suggestion.run_id: row.suggestion.run for row in rows}
    return [runs[pk] for pk in sorted(runs, reverse=True)]


@dataclass(frozen=True, slots=True)
class RequestResult:
    """What the latest run that ended drafted for a case."""

    new: int  # suggestions that no earlier run drafted for the case, each text once
    repeated: int  # the others
    has_failed: bool  # it ended before it had drafted for the case


def runs_for(case: Case) -> list[DraftingRun]:
    """The runs that draft or drafted for a case, the newest first; of each, only its status."""
    of_case = Q(steps__case=case) | Q(suggestions__case=case)
    return list(DraftingRun.objects.filter(of_case).order_by("-pk").distinct().only("status"))


def latest_result(case: Case, runs: Sequence[DraftingRun]) -> RequestResult | None:
    """The result of the latest of ``runs`` (`runs_for`).

    None while one drafts, where there is no other, and where all that the latest drafted for the case was withdrawn.
    """
    if not runs or any(run.status in DraftingRun.LIVE for run in runs):
        return None
    latest = runs[0]
    rows = list(
        Suggestion.objects.filter(case=case, run__lte=latest.pk)
        .exclude(state=Suggestion.State.WITHDRAWN)
        .only("run", "state", "citations", "words_digest")
    )
    drafted = {row.words_digest: row for row in rows if row.run_id == latest.pk}
    if drafted and len(runs) == 1:
        return None
    if not drafted and latest.suggestions.filter(case=case).exists():
        return None
    repeated = {row.words_digest for row in rows if row.run_id < latest.pk and _repeats(drafted, row)}
    is_done = not latest.steps.filter(case=case).exclude(state=PipelineStep.State.DONE).exists()
    has_failed = not is_done and not drafted
    return RequestResult(new=len(drafted) - len(repeated), repeated=len(repeated), has_failed=has_failed)


def _repeats(drafted: Mapping[str, Suggestion], earlier: Suggestion) -> bool:
    """Whether a suggestion repeats an earlier one; a rejected text with other passages is offered again."""
    row = drafted.get(earlier.words_digest)
    return row is not None and (earlier.state != Suggestion.State.REJECTED or row.citations == earlier.citations)


def _place(row: Suggestion) -> int:
    if row.state != Suggestion.State.OPEN:
        return 3
    return 1 if row.put_aside and row.citations else 2 if not row.citations else 0


def _passages(
    citations: Sequence[Citation], shown: dict[Citation, cited.ShownCitation], passages: dict[str, Passage]
) -> list[ShownPassage]:
    """Each cited passage once, with all words that are quoted from it marked."""
    spans: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    first: dict[str, Citation] = {}
    for citation in citations:
        if citation not in shown or citation.passage not in passages:
            continue
        first.setdefault(citation.passage, citation)
        if citation.quote:
            spans[citation.passage].append((citation.start or 0, citation.end or 0))
    return [
        ShownPassage(
            reference=shown[citation].reference,
            address=shown[citation].address,
            marks=shown[citation].marks,
            headings=" › ".join(passages[name].headings),
            table_header=passages[name].table_header,
            parts=parts_of(passages[name].text, _joined(spans[name])),
        )
        for name, citation in first.items()
    ]


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those that overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def waiting_cases(user: User, benchmark: Benchmark, case: Case | None = None) -> list[Waits]:
    """Lines of the authors' dashboard: cases with suggestions to decide on.

    They are those on which ``user`` writes, or which ``user`` reads and on which nobody writes yet; put-aside
    suggestions wait too. Where the rubric is published, the panel opens in a new version alone, and the line says so.
    """
    if not decides_on_suggestions(user, benchmark):
        return []
    drafts = Rubric.objects.filter(case=OuterRef("pk"), track="gold", status=Rubric.Status.DRAFT, draft__isnull=False)
    published = Rubric.objects.filter(case=OuterRef("pk"), track="gold", status=Rubric.Status.PUBLISHED)
    reviewed = Rubric.objects.filter(case=OuterRef("pk"), track="gold", status=Rubric.Status.IN_REVIEW)
    wrote = RubricContributor.objects.filter(rubric__case=OuterRef("pk"), rubric__status="draft", user=user)
    own = {} if case is None else {"pk": case.pk}
    offered = Suggestion.objects.filter(case__benchmark=benchmark, **({} if case is None else {"case": case}))
    cases = (
        Case.objects.filter(benchmark=benchmark, excluded_at=None, **own)
        .annotate(n_open=Count("suggestions", filter=Q(suggestions__in=offered.to_decide())))
        .annotate(in_new_version=Exists(published) & ~Exists(drafts))
        .filter(Q(Exists(wrote)) | ~Q(Exists(drafts)) & ~unread_by(user.pk, ""), ~Q(Exists(reviewed)), n_open__gt=0)
        .order_by("key")[:MAX_LINES]
    )
    return [
        Waits(
            label=gettext_lazy("Suggestions to decide"),
            key=row.key,
            address=reverse("rubrics:write-rubric", args=[benchmark.slug, row.public_id]),
            detail=_waiting_words(row.n_open, in_new_version=row.in_new_version),
        )
        for row in cases
    ]


def _waiting_words(number: int, *, in_new_version: bool) -> str:
    if in_new_version:
        words = ngettext(
            "%(n)d suggestion: start a new version", "%(n)d suggestions: start a new version", number
        )  # fmt: skip
    else:
        words = ngettext("%(n)d suggestion", "%(n)d suggestions", number)
    return words % {"n": number}


def may_see_panel(user: User, case: Case) -> bool:
    """Whether ``user`` decides on suggestions, and the case has some or drafts of it may be asked for."""
    if not decides_on_suggestions(user, case.benchmark):
        return False
    return in_panel(case).exists() or may_ask_for_draft(user, case.benchmark)
