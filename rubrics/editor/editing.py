"""Data of the rubric editor: items, rules not met yet, who saved last, and the lint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import connection

from accounts.models import User
from consilium.core.i18n import translate
from rubrics import cited, origins
from rubrics.axes import AXES
from rubrics.editor.case_content import unready_content
from rubrics.editor.citation import Citation, citation_row
from rubrics.editor.draft_content import DraftItem, from_rubric, items_of, unready
from rubrics.editor.privacy import CRITERION, PlacedFinding, open_findings
from rubrics.editor.rules import broken_rules, rules_of
from rubrics.lint import lint
from rubrics.lint.axis_names import axis_remarks, unknown_axes
from rubrics.lint.remark import PROBLEM, Remark
from rubrics.models import Benchmark, Case, Rubric, RubricDraft
from rubrics.selectors.axes import used_axes
from rubrics.services.drafts import TRACK

Status = Rubric.Status
MAX_SUGGESTIONS = 80


def current_rubric(case: Case) -> tuple[Rubric | None, list[DraftItem]]:
    """The version that is written or in review, else the published one, with its items; None before the first."""
    versions = Rubric.objects.filter(
        case=case, track=TRACK, status__in=[Status.DRAFT, Status.IN_REVIEW, Status.PUBLISHED]
    ).order_by("version")
    written = next((row for row in versions if row.status != Status.PUBLISHED and hasattr(row, "draft")), None)
    if written is not None:
        return written, items_of(written.draft.content)
    published = next((row for row in versions if row.status == Status.PUBLISHED), None)
    if published is None:
        return None, []
    return published, from_rubric(list(published.items.select_related("criterion").order_by("position")))


def draft_json(draft: RubricDraft, *, case: Case, reader: User) -> dict[str, Any]:
    """A draft of ``case`` as JSON for the editor and the API, as ``reader`` may see it."""
    items = origins.shown_items(reader, draft.rubric, items_of(draft.content))
    return {**saved_json(draft, case=case), **items_json(items, case.benchmark)}


def saved_json(draft: RubricDraft, *, case: Case) -> dict[str, Any]:
    """What there is to know of a draft of ``case`` beside its items."""
    items = items_of(draft.content)
    of_the_items = missing(items, case.benchmark, draft.rubric_id)
    return {
        "draft": draft.rubric_id,  # the versions of each draft count from 1
        "version": draft.version,
        "saved_at": draft.saved_at.isoformat(),
        "saved_by": str(draft.saved_by) if draft.saved_by else "",
        "missing": [*of_the_items, *_of_the_case(case), *_naming_people(case, items)],
    }


def items_json(items: Sequence[DraftItem], benchmark: Benchmark) -> dict[str, Any]:
    """Items, and what is shown of the citations in them (`rubrics.cited.ShownCitation.as_json`)."""
    citations = (citation for item in items for citation in item.citations)
    return {"items": [item.as_json() for item in items], "cited": cited_json(citations, benchmark)}


def cited_json(citations: Iterable[Citation], benchmark: Benchmark) -> list[dict[str, Any]]:
    """What is shown of citations, each once."""
    citations = list(citations)
    return shown_json(citations, cited.describe(benchmark, citations))


def shown_json(citations: Iterable[Citation], shown: Mapping[Citation, cited.ShownCitation]) -> list[dict[str, Any]]:
    """What is shown of citations that are described already, each once."""
    return [
        {**citation_row(citation), **shown[citation].as_json()}
        for citation in dict.fromkeys(citations)
        if citation in shown
    ]


def nothing_yet(benchmark: Benchmark) -> dict[str, Any]:
    """The JSON of a draft before the first save: version 0; saving it opens a draft."""
    return {
        "draft": None,
        "version": 0,
        "items": [],
        "cited": [],
        "saved_at": "",
        "saved_by": "",
        "missing": missing([], benchmark),
    }


def missing(items: Sequence[DraftItem], benchmark: Benchmark, rubric: int | None = None) -> list[dict[str, Any]]:
    """What keeps the rubric from review: half-done criteria, then broken rules; ``line`` 0 is the rubric as a whole."""
    faults = [*unready(items, rubric), *broken_rules(items, rules_of(benchmark))]
    return [{"line": fault.line, "field": fault.field, "message": translate(fault.message)} for fault in faults]


def _of_the_case(case: Case) -> list[dict[str, Any]]:
    """What of the case keeps the rubric from review: a conversation with an empty turn."""
    return [{"line": fault.line, "field": fault.field, "message": fault.message} for fault in unready_content(case)]


def _naming_people(case: Case, items: Sequence[DraftItem]) -> list[dict[str, Any]]:
    """What of the case and its criteria looks as if it named a person: it keeps the rubric from review as well."""
    return [
        {"line": finding.place.number, "field": finding.place.field, "message": finding.what_to_do}
        if finding.place.part == CRITERION
        else {"line": 0, "field": "privacy", "message": str(finding)}
        for finding in open_findings(case, items)
    ]


def remarks(items: Sequence[DraftItem], case: Case) -> list[dict[str, Any]]:
    """The lint of these items, in the reader's language, and what in them looks as if it named a person."""
    remarks = lint(
        [(item.id, item.text, item.points, item.tags) for item in items], reference_answer=case.reference_answer
    )
    people = [
        Remark("privacy", PROBLEM, *_span(finding), why=finding.what_to_do, advice="")
        for finding in open_findings(case, items)
        if finding.place.part == CRITERION
    ]
    return [remark.as_json(translate) for remark in (*people, *remarks, *_on_axes(items, case))]


def _on_axes(items: Sequence[DraftItem], case: Case) -> list[Remark]:
    """Remarks on axes that no other rubric of the benchmark has; a query only where an axis is not a common one."""
    if not any(unknown_axes(item.tags) for item in items):
        return []
    used = used_axes(case.benchmark, but=case)
    return list(axis_remarks([(item.id, item.tags) for item in items], used=used))


def _span(placed: PlacedFinding) -> tuple[str, int, int]:
    """The item of a finding, and its place in the text of the criterion; none in its other fields."""
    in_text = placed.place.field == "text"
    return placed.place.item, placed.finding.start if in_text else 0, placed.finding.end if in_text else 0


def tag_suggestions(benchmark: Benchmark) -> dict[str, list[str]]:
    """Axes, and other tags of criteria, by how often the published rubrics of the benchmark use them."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT tag FROM rubrics_rubricitem i
            JOIN rubrics_rubric r ON r.id = i.rubric_id AND r.status = 'published'
            JOIN rubrics_case c ON c.id = r.case_id AND c.benchmark_id = %s
            CROSS JOIN unnest(i.tags) AS tag
            GROUP BY tag ORDER BY count(*) DESC, tag LIMIT %s
            """,
            [benchmark.pk, MAX_SUGGESTIONS],
        )
        used = [row[0] for row in cursor.fetchall()]
    axes = [tag.removeprefix("axis:") for tag in used if tag.startswith("axis:")]
    return {
        "axes": list(dict.fromkeys([*axes, *AXES])),
        "tags": [tag for tag in used if not tag.startswith("axis:")],
    }
