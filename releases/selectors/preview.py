"""Preview of a release: counts for the form, in a fixed number of queries."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from annotation.contributions import acknowledged_names
from annotation.models import LabelAnswer, LabelQuestion, LabelTask, ReferenceSet
from releases.content.acuity import has_acuity
from releases.content.cases import cases_to_release
from releases.content.failure_codes import answers_to_release, has_codes
from releases.content.later_decisions import may_have_later_decisions
from releases.content.optional_content import raters_of
from releases.content.options import ReleaseOptions
from rubrics.models import Benchmark, Candidate, Case, Response, Rubric, RubricItem
from scoring.coding.selectors import judges_that_coded
from scoring.models import AcuityReading, JudgeRun, JudgeRunItem


@dataclass(frozen=True, slots=True)
class Preview:
    """Counts, and the names that may be chosen from."""

    cases: int
    criteria: int
    excluded: int
    unpublished: int
    with_reference_answer: int
    responses: int
    candidates: list[tuple[str, int]]  # name, responses
    raters: list[str]
    later_decisions: bool  # whether there are changes of returned work, amendments of checkers, or rulings
    judges: list[str]
    codes: bool  # whether any response was coded
    code_answers: int  # of physicians
    coding_judges: list[str]
    names: int
    acuity: bool  # whether there is a scale
    readings: int
    votes: int
    reference_sets: int
    responses_read: int  # by judges of levels or physicians
    advice: int  # answers of physicians on them

    @property
    def all_judges(self) -> list[str]:
        """The judges that gave verdicts or codes, by name."""
        return sorted({*self.judges, *self.coding_judges})

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to release."""
        return not (self.cases or self.acuity)


def preview_of(benchmark: Benchmark) -> Preview:
    """Count what a release of the benchmark can contain."""
    cases = cases_to_release(benchmark).order_by()
    published = Rubric.objects.current().values("case")
    included = Case.objects.included().filter(benchmark=benchmark)
    responses = Response.objects.filter(case__in=cases).order_by()
    counted = dict(responses.values_list("candidate").annotate(n=Count("pk")))
    names = Candidate.objects.filter(pk__in=counted).order_by("name").values_list("pk", "name")
    graded = JudgeRun.objects.graded().filter(benchmark=benchmark)
    return Preview(
        cases=cases.count(),
        criteria=RubricItem.objects.filter(rubric__in=Rubric.objects.current().filter(case__in=cases)).count(),
        excluded=Case.objects.filter(benchmark=benchmark, excluded_at__isnull=False).count(),
        unpublished=included.exclude(pk__in=published).count(),
        with_reference_answer=cases.exclude(reference_answer="").count(),
        responses=responses.of_originals().count(),
        candidates=[(name, counted[pk]) for pk, name in names],
        raters=raters_of(benchmark, ReleaseOptions()),
        later_decisions=may_have_later_decisions(benchmark),
        judges=sorted(set(graded.values_list("judge__name", flat=True))),
        codes=has_codes(benchmark),
        code_answers=answers_to_release(benchmark, responses.of_originals()).count(),
        coding_judges=judges_that_coded(benchmark),
        names=len(acknowledged_names(benchmark)),
        acuity=has_acuity(benchmark),
        readings=AcuityReading.objects.filter(scale__benchmark=benchmark, case__excluded_at=None).count(),
        votes=LabelAnswer.objects.filter(
            question__benchmark=benchmark,
            question__kind=LabelQuestion.Kind.LEVELS,
            task__status=LabelTask.Status.SUBMITTED,
        ).count(),
        reference_sets=ReferenceSet.objects.filter(benchmark=benchmark).count(),
        responses_read=JudgeRunItem.objects.filter(
            run__benchmark=benchmark, run__purpose__in=JudgeRun.READS_LEVELS, response__case__excluded_at=None
        )
        .values("response")
        .distinct()
        .count(),
        advice=LabelAnswer.objects.filter(
            question__benchmark=benchmark,
            question__kind=LabelQuestion.Kind.READ,
            task__status=LabelTask.Status.SUBMITTED,
            task__case__excluded_at=None,
        ).count(),
    )
