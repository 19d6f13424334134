"""A changed paragraph of a document opens the revisions of exactly the criteria that cite it, drafted ones included."""

from __future__ import annotations

import pytest
from django.utils import timezone

from documents.editions.selectors import citing_criteria
from documents.editions.services import carry_citations, request_revisions
from rubrics.models import RevisionRequest
from tests import factories
from tests.documents.editions.editions_world import cite, make_collection, make_document
from tests.drafting.suggestions.drafted import Drafted, own, taken

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

ECG = "Record an electrocardiogram within ten minutes of arrival."
DOSE = "Give aspirin 300 mg unless it is contraindicated."
OXYGEN = "Give oxygen to every patient with chest pain."


def test_one_changed_paragraph_opens_exactly_its_criteria() -> None:
    """Of five criteria two cite the paragraph: one drafted and taken as it was, one drafted and reworded."""
    admin = factories.UserFactory()
    case = factories.CaseFactory(rubric=0, benchmark=factories.BenchmarkFactory(admin=admin))
    world = Drafted(0, case=case)
    first = make_document(make_collection(case.benchmark), [ECG, DOSE, OXYGEN], may_quote=True)
    passages = list(first.passages.all())
    ecg, dose, whole = ({"passage": row.public_id, "start": None, "end": None, "quote": ""} for row in passages)
    cites = [[ecg], [cite(passages[2], "oxygen to every patient")], [dose, whole], [dose]]
    world.suggestions = [
        factories.SuggestionFactory(
            case=case, run=world.run, number=number, text=f"Does what {number} says", citations=citation
        )
        for number, citation in enumerate(cites, start=1)
    ]
    world.open(world.author)
    a, b, c, d = world.suggestions
    rubric = world.publish([own("Is kind"), taken(a), taken(b), taken(c, text="Gives aspirin and oxygen"), taken(d)])
    edition = make_document(
        first.collection, [ECG, DOSE, "Give oxygen if the saturation is low."], version_label="2026"
    )
    carry_citations(edition=edition, at=timezone.now())
    behind = [row.item for row in citing_criteria(edition) if row.is_left_behind]
    assert [item.position for item in behind] == [3, 4]
    assert [item.suggestion for item in behind] == [b.public_id, c.public_id]
    request_revisions(edition=edition, items=[item.pk for item in behind], by=admin, at=timezone.now())
    requests = RevisionRequest.objects.filter(rubric=rubric).order_by("pk")
    assert [row.criterion_id for row in requests] == [item.criterion_id for item in behind]
    assert "oxygen to every patient" in requests[0].reason
