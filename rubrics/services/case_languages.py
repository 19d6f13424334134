"""Sets the languages of cases: those that a person gives, and those that the words of a case show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from consilium.core.errors import DomainError
from consilium.core.language_tags import normalise_language
from rubrics.models import Benchmark, Candidate, Case, Response
from rubrics.parsing.language import detect_case_language

ANSWERS_READ = 2  # of physicians, then references, for a case whose own words do not decide
CHUNK = 500


@transaction.atomic
def set_language(*, benchmark: Benchmark, cases: Collection[str], language: str) -> int:
    """Give ``cases`` (public ids) of the benchmark a language, or none; returns how many of them there are.

    What a person has given counts as given, also where it is what was detected. An author who has a case open is told
    that it changed. `DomainError` for an unknown tag.
    """
    try:
        tag = normalise_language(language) if language else ""
    except ValueError as error:
        raise DomainError(_("“%(language)s” is not a language code.") % {"language": language[:40]}) from error
    if not cases:
        raise DomainError(_("Choose at least one case."))
    rows = Case.objects.filter(benchmark=benchmark, public_id__in=cases)
    return rows.update(language=tag, language_detected=False, edit_version=F("edit_version") + 1)


@transaction.atomic
def detect_languages(*, benchmark: Benchmark) -> tuple[int, int]:
    """Detect the languages of cases that have none: how many were detected, and how many stay without one."""
    rows = Case.objects.filter(benchmark=benchmark, language="").select_for_update(no_key=True).order_by("pk")
    detected, missing = 0, 0
    columns = ("pk", "conversation", "reference_answer")
    cases = list(rows.values_list("pk", flat=True))
    for start in range(0, len(cases), CHUNK):
        chunk = cases[start : start + CHUNK]
        answers = _answers(chunk)
        by_language: dict[str, list[int]] = defaultdict(list)
        for pk, conversation, reference in Case.objects.filter(pk__in=chunk).values_list(*columns):
            by_language[detect_case_language(conversation, [reference, *answers[pk]])].append(pk)
        missing += len(by_language.pop("", []))
        for language, keys in by_language.items():
            detected += Case.objects.filter(pk__in=keys).update(
                language=language, language_detected=True, edit_version=F("edit_version") + 1
            )
    return detected, missing


def _answers(cases: Collection[int]) -> dict[int, list[str]]:
    """The first answers of physicians to each case, then references; models answer in any language."""
    kinds = (Candidate.Kind.PHYSICIAN, Candidate.Kind.REFERENCE)
    rows = Response.objects.filter(case__in=cases, candidate__kind__in=kinds).order_by("candidate__kind", "sample")
    answers: dict[int, list[str]] = defaultdict(list)
    for case, text in rows.values_list("case_id", "text"):
        if len(answers[case]) < ANSWERS_READ:
            answers[case].append(text)
    return answers
