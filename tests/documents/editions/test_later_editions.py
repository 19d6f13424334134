"""A later edition of a document: citations that it carries over, and criteria that it leaves behind."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from accounts.models import User
from consilium.core.errors import DomainError
from documents.editions.selectors import citing_criteria
from documents.editions.services import carry_citations, request_revisions
from documents.models import CarriedCitation, Document
from rubrics import hooks
from rubrics.models import Benchmark, RevisionRequest, Rubric
from rubrics.services.exclusion import exclude_case
from tests.documents.editions.editions_world import cite, cited_rubric, make_collection, make_document
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory

pytestmark = pytest.mark.django_db

ECG = "Record an electrocardiogram within ten minutes of arrival."
DOSE = "Give aspirin 300 mg unless it is contraindicated."
OXYGEN = "Give oxygen to every patient with chest pain."


@pytest.fixture
def admin() -> User:
    return UserFactory()


@pytest.fixture
def benchmark(admin: User) -> Benchmark:
    return BenchmarkFactory(admin=admin)


@pytest.fixture
def first(benchmark: Benchmark) -> Document:
    return make_document(make_collection(benchmark), [ECG, DOSE, OXYGEN])


def later(first: Document, paragraphs: list[str]) -> Document:
    edition = make_document(first.collection, paragraphs, version_label="2026")
    carry_citations(edition=edition, at=timezone.now())
    return edition


def test_a_dose_that_is_now_a_part_of_another_number_is_absent(benchmark: Benchmark) -> None:
    first = make_document(make_collection(benchmark), ["Give 5 mg/kg of paracetamol every 6 hours."])
    case = CaseFactory(benchmark=benchmark, rubric=0)
    cited_rubric(case, [[cite(first.passages.get(), "5 mg/kg of paracetamol")]])
    later(first, ["Give 15 mg/kg of paracetamol every 6 hours."])
    assert CarriedCitation.objects.get().match == "absent"


def test_words_that_are_there_are_carried_over_and_others_are_absent(benchmark: Benchmark, first: Document) -> None:
    ecg, dose, oxygen = first.passages.all()
    case = CaseFactory(benchmark=benchmark, rubric=0)
    cited_rubric(
        case,
        [[cite(ecg, "within ten minutes of arrival")], [cite(dose)], [cite(oxygen, "oxygen to every patient")], []],
    )
    edition = later(
        first, ["Introduction", "Record it  within ten\nminutes of arrival.", DOSE, "Give oxygen if hypoxic."]
    )

    rows = {row.passage_id: row for row in CarriedCitation.objects.filter(edition=edition)}
    _introduction, new_ecg, new_dose, _new_oxygen = edition.passages.all()
    assert (rows[ecg.pk].match, rows[ecg.pk].new_passage) == ("normalised", new_ecg)
    assert new_ecg.text[rows[ecg.pk].new_start : rows[ecg.pk].new_end] == "within ten\nminutes of arrival"
    assert (rows[dose.pk].match, rows[dose.pk].new_passage) == ("exact", new_dose)
    assert (rows[dose.pk].new_start, rows[dose.pk].new_end) == (0, len(DOSE))
    assert (rows[oxygen.pk].match, rows[oxygen.pk].new_passage) == ("absent", None)
    assert [criterion.item.position for criterion in citing_criteria(edition)] == [1, 2, 3]
    assert [criterion.item.position for criterion in citing_criteria(edition) if criterion.is_left_behind] == [3]


def test_looking_again_adds_only_citations_that_came_since(benchmark: Benchmark, first: Document) -> None:
    ecg, dose, _oxygen = first.passages.all()
    cited_rubric(CaseFactory(benchmark=benchmark, rubric=0), [[cite(ecg)]])
    edition = later(first, [ECG])
    assert carry_citations(edition=edition, at=timezone.now()) == 0
    cited_rubric(CaseFactory(benchmark=benchmark, rubric=0), [[cite(dose)]])
    assert carry_citations(edition=edition, at=timezone.now()) == 1


def test_a_third_edition_looks_for_the_words_of_the_first(benchmark: Benchmark, first: Document) -> None:
    """The second edition had dropped the words, and the third has them again."""
    ecg = first.passages.get(ordinal=1)
    cited_rubric(CaseFactory(benchmark=benchmark, rubric=0), [[cite(ecg)]])
    second = later(first, [DOSE])
    third = later(second, [ECG])
    assert CarriedCitation.objects.get(edition=second).match == "absent"
    assert CarriedCitation.objects.get(edition=third).match == "exact"


def test_only_rubrics_in_force_count(benchmark: Benchmark, first: Document, admin: User) -> None:
    ecg = first.passages.get(ordinal=1)
    superseded = cited_rubric(CaseFactory(benchmark=benchmark, rubric=0), [[cite(ecg)]])
    superseded.status = Rubric.Status.SUPERSEDED
    superseded.save(update_fields=["status"])
    excluded = CaseFactory(benchmark=benchmark, rubric=0)
    cited_rubric(excluded, [[cite(ecg)]])
    exclude_case(case=excluded, kind="decision", reason="A duplicate.", by=admin, at=timezone.now())
    cited_rubric(CaseFactory(rubric=0), [[cite(ecg)]])  # of another benchmark, which no page would allow
    assert citing_criteria(later(first, [DOSE])) == []


def test_words_that_go_on_in_the_next_passage_end_with_the_first(benchmark: Benchmark, first: Document) -> None:
    ecg = first.passages.get(ordinal=1)
    cited_rubric(CaseFactory(benchmark=benchmark, rubric=0), [[cite(ecg)]])
    edition = later(first, ["Record an electrocardiogram", "within ten minutes of arrival."])
    row = CarriedCitation.objects.get(edition=edition)
    assert row.match == "normalised"
    assert (row.new_passage.ordinal, row.new_start, row.new_end) == (1, 0, len("Record an electrocardiogram"))


def test_exactly_the_chosen_criteria_are_asked_to_be_reworded(
    benchmark: Benchmark, first: Document, admin: User
) -> None:
    Document.objects.filter(pk=first.pk).update(may_quote=True)
    ecg, dose, oxygen = first.passages.all()
    rubric = cited_rubric(CaseFactory(benchmark=benchmark, rubric=0), [[cite(ecg)], [cite(dose)], [cite(oxygen)]])
    edition = later(first, [ECG])
    kept, second, third = rubric.items.all()
    rows = request_revisions(edition=edition, items=[third.pk], by=admin, at=timezone.now())
    assert [row.criterion for row in rows] == [third.criterion]
    assert RevisionRequest.objects.get().reason == (
        f"It is based on words that are not in the later edition of “Chest pain in adults” (2026): “{OXYGEN}”"
    )
    assert [criterion.is_requested for criterion in citing_criteria(edition)] == [False, False, True]
    with pytest.raises(DomainError):
        request_revisions(edition=edition, items=[second.pk, kept.pk], by=admin, at=timezone.now())
    with pytest.raises(DomainError):
        request_revisions(edition=edition, items=[], by=admin, at=timezone.now())
    assert RevisionRequest.objects.count() == 1


def test_a_request_names_words_that_may_not_be_quoted_by_their_locator(
    benchmark: Benchmark, first: Document, admin: User
) -> None:
    """The table of requests has the reasons."""
    oxygen = first.passages.get(ordinal=3)
    rubric = cited_rubric(CaseFactory(benchmark=benchmark, rubric=0), [[cite(oxygen)]])
    edition = later(first, [ECG])
    (row,) = request_revisions(edition=edition, items=[rubric.items.get().pk], by=admin, at=timezone.now())
    assert row.reason.endswith(f"(2026): {oxygen.locator}")


def test_what_was_found_never_changes(benchmark: Benchmark, first: Document) -> None:
    cited_rubric(CaseFactory(benchmark=benchmark, rubric=0), [[cite(first.passages.get(ordinal=1))]])
    later(first, [DOSE])
    row = CarriedCitation.objects.get()
    with pytest.raises(DatabaseError), transaction.atomic():
        CarriedCitation.objects.filter(pk=row.pk).update(match="exact", new_passage=row.passage, new_start=0, new_end=1)
    with pytest.raises(DatabaseError), transaction.atomic():
        row.delete()


def test_a_version_that_is_published_later_is_looked_at_as_well(benchmark: Benchmark, first: Document) -> None:
    second = later(first, [DOSE])
    third = later(first, [ECG])
    rubric = cited_rubric(CaseFactory(benchmark=benchmark, rubric=0), [[cite(first.passages.get(ordinal=2))], []])
    hooks.published(None, rubric, timezone.now())
    rows = CarriedCitation.objects.order_by("edition__edition")
    assert [(row.edition, row.match, row.quote) for row in rows] == [(second, "exact", DOSE), (third, "absent", DOSE)]
