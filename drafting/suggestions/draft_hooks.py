"""What drafting adds to saves, reviews and publication of rubrics: `rubrics` calls these functions by its registry.

The state of a suggestion follows from the saved draft. Who saves a list with a suggestion that was not there before
takes it; who saves one without it rejects it. What the database must hold whoever writes is in
`drafting.models.publication`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from django.utils.translation import gettext as _

from consilium.core.errors import LineError
from drafting.models import Suggestion, SuggestionsOpened
from drafting.suggestions.services import clear_decision
from drafting.suggestions.state import by_suggestion, nearest, state_of, words_of
from rubrics.access import is_author
from rubrics.editor.draft_content import DraftItem, from_rubric
from rubrics.hooks import DraftSave
from rubrics.models import Case, Rubric, RubricItem

State = Suggestion.State
PUBLISHED = (Rubric.Status.PUBLISHED, Rubric.Status.SUPERSEDED)


# Saving ---------------------------------------------------------------------------------------------------------------


def check_suggestions(save: DraftSave, items: Sequence[DraftItem]) -> tuple[Sequence[DraftItem], Sequence[LineError]]:
    """Faults where a suggestion cannot be taken by this save. No query where nothing new is taken in the editor."""
    faults: list[LineError] = []
    stored = by_suggestion(save.before)
    fresh = {item.suggestion: place for place, item in reversed(list(enumerate(items, start=1))) if item.suggestion}
    fresh = {name: place for name, place in fresh.items() if name not in stored}
    if fresh:
        faults += _taken(save, fresh)
    if not save.in_editor:
        faults += _smuggled(save, items)
    return items, faults


def _taken(save: DraftSave, fresh: dict[str, int]) -> list[LineError]:
    """What is wrong with taking these suggestions, each at the place of its criterion."""
    published = published_before(save.rubric.case, fresh)
    places = sorted((place, name) for name, place in fresh.items() if name not in published)
    if not places:
        return []
    case = save.rubric.case_id
    # Locked until the save is done: nobody withdraws or rejects one of them meanwhile.
    rows = Suggestion.objects.select_for_update(of=("self",)).filter(public_id__in=fresh, case=case).order_by("pk")
    known = {row.public_id: row for row in rows}
    refused = ""
    if save.writer != save.by or not is_author(save.writer, save.rubric.case.benchmark):
        refused = _(
            "Only an author of the benchmark can accept a suggestion, and no one can accept it for someone else."
        )
    elif known and not SuggestionsOpened.objects.filter(case=case, author=save.writer).exists():
        refused = _("The suggestions for this case are not open to you yet.")
    faults = []
    for number, (place, name) in enumerate(places):
        if name not in known:
            message = _("This suggestion does not exist for this case.")
        elif known[name].state == State.WITHDRAWN:
            message = _("This suggestion was withdrawn.")
        elif refused:
            message = refused
        elif number and not save.in_editor:
            message = _(
                "Outside the editor, suggestions can be accepted only one at a time, because each needs a decision."
            )
        else:
            continue
        faults.append(LineError(place, "suggestion", message))
    return faults


def _smuggled(save: DraftSave, items: Sequence[DraftItem]) -> list[LineError]:
    """Criteria of a list from elsewhere whose words are those of a suggestion that nobody has decided on."""
    before = {words_of(item.text) for item in save.before}
    fresh = [(place, item) for place, item in enumerate(items, start=1) if words_of(item.text) not in before]
    undecided = undecided_words(save.rubric.case_id) if fresh else {}
    return [
        LineError(place, "text", _same_words(undecided[words_of(item.text)]))
        for place, item in fresh
        if words_of(item.text) in undecided and undecided[words_of(item.text)].public_id != item.suggestion
    ]


def follow_draft(save: DraftSave, items: Sequence[DraftItem]) -> None:
    """Set the state of each suggestion that stands in the list, or stood in it until now.

    No query where none of their criteria has changed: this runs on every autosave.
    """
    carried, stored = by_suggestion(items), by_suggestion(save.before)
    names = {name for name in carried.keys() | stored.keys() if carried.get(name) != stored.get(name)}
    if not names:
        return
    rows = Suggestion.objects.filter(public_id__in=names, case=save.rubric.case_id, published_in=None)
    for row in rows.exclude(state=State.WITHDRAWN).select_for_update(of=("self",)).order_by("pk"):
        before = row.state
        if row.public_id in carried:
            row.state = state_of(row, carried[row.public_id])
            if before not in Suggestion.TAKEN:
                row.decided_by, row.decided_at = save.writer, save.at
                row.put_aside, row.reason, row.note = False, None, ""
        elif before in Suggestion.TAKEN:
            row.state, row.decided_by, row.decided_at = State.REJECTED, save.by, save.at
        if row.state != before:
            row.save()


def reopen_discarded(rubric: Rubric, items: Sequence[DraftItem]) -> None:
    """Whoever discards a draft has not decided on the suggestions in it: they are open again."""
    names = by_suggestion(items).keys()
    rows = Suggestion.objects.taken().filter(public_id__in=names, case=rubric.case_id, published_in=None)
    for row in rows.select_for_update(of=("self",)).order_by("pk"):
        clear_decision(row)
        row.save()


# Review and publication -----------------------------------------------------------------------------------------------


def check_decided(rubric: Rubric, items: Sequence[DraftItem]) -> list[LineError]:
    """Faults where a criterion began as a suggestion that nobody took, or has the words of one nobody decided on."""
    names = by_suggestion(items).keys()
    undecided = undecided_words(rubric.case_id)
    if not names and not undecided:
        return []
    taken = Suggestion.objects.taken().filter(public_id__in=names, case=rubric.case_id)
    allowed = {*taken.values_list("public_id", flat=True), *published_before(rubric.case, names)}
    stood = published_texts(rubric.case_id) if undecided else set()
    faults = []
    for place, item in enumerate(items, start=1):
        words = words_of(item.text)
        if item.suggestion and item.suggestion not in allowed:
            message = _("No one has accepted the suggestion that this criterion started from.")
            faults.append(LineError(place, "suggestion", message))
        elif words in undecided and words not in stood:
            faults.append(LineError(place, "text", _same_words(undecided[words])))
    return faults


def _same_words(suggestion: Suggestion) -> str:
    if suggestion.state == State.WITHDRAWN:
        return _("This is the text of a suggestion that was withdrawn. Write the criterion in your own words.")
    words = _("This is the text of suggestion %(number)d, which no one has decided on yet. Decide on it in the editor.")
    return words % {"number": suggestion.number}


def record_published(before: Rubric | None, after: Rubric, at: datetime) -> None:
    """Note of each suggestion in a new version the criterion that it has become, at its first publication."""
    items = from_rubric(list(after.items.exclude(suggestion="").select_related("criterion")))
    carried = by_suggestion(items)
    if not carried:
        return
    rows = Suggestion.objects.taken().filter(public_id__in=carried, case=after.case_id, published_in=None)
    for row in rows.select_for_update(of=("self",)).order_by("pk"):
        item, row.distance = nearest(row, carried[row.public_id])
        row.published_in, row.final_text = after, item.text
        row.save()


# Shared parts ---------------------------------------------------------------------------------------------------------


def published_before(case: Case, names: Iterable[str]) -> set[str]:
    """Of these suggestions those in published versions of the case, or of the case that it is an erratum of.

    A version that begins as a copy keeps them, also where they came from another instance by an import.
    """
    names = list(names)
    if not names:
        return set()
    cases = [pk for pk in (case.pk, case.supersedes_id) if pk is not None]
    items = RubricItem.objects.filter(rubric__case__in=cases, rubric__status__in=PUBLISHED, suggestion__in=names)
    return set(items.values_list("suggestion", flat=True))


def published_texts(case: int) -> set[str]:
    """The words of all criteria in published versions of a case."""
    items = RubricItem.objects.filter(rubric__case=case, rubric__status__in=PUBLISHED)
    return {words_of(text) for text in items.values_list("criterion__text", flat=True)}


def undecided_words(case: int) -> dict[str, Suggestion]:
    """The suggestions for a case on whose words nobody has decided, by these words; one query."""
    rows = list(Suggestion.objects.filter(case=case).only("public_id", "number", "text", "state").order_by("pk"))
    decided: Collection[str] = {words_of(row.text) for row in rows if row.state in Suggestion.DECIDED}
    return {words_of(row.text): row for row in rows if words_of(row.text) not in decided}
