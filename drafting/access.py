"""Recipes, runs of drafting, cases of runs and suggestions, fetched for a user; forbidden and missing look the same."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from accounts.models import User
from drafting.models import DraftingRecipe, DraftingRun, DraftingTerms, Suggestion, SuggestionsOpened
from rubrics import origins
from rubrics.access import get_benchmark, get_written_benchmark, is_author
from rubrics.models import AuthoringRole, Benchmark, BenchmarkRole, Case, Rubric
from scoring.models import PipelineRun

AnyUser = User | AnonymousUser


# Recipes -----------------------------------------------------------------------------------------------------------


def get_recipe(user: AnyUser, slug: str, public_id: str) -> DraftingRecipe:
    """A version of a recipe of a benchmark that ``user`` runs."""
    rows = DraftingRecipe.objects.filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(rows.select_related("benchmark", "created_by"), public_id=public_id)


# Runs --------------------------------------------------------------------------------------------------------------


def may_order(user: AnyUser, benchmark: Benchmark) -> bool:
    """Whether ``user`` may order drafts for any cases by any recipe: those who run the benchmark."""
    return BenchmarkRole.objects.filter(benchmark=benchmark.pk, user=user.pk, active=True).exists()


def may_ask_for_draft(user: AnyUser, benchmark: Benchmark) -> bool:
    """Whether ``user`` may ask for a draft for one case by a button: an author, where there is a recipe for authors."""
    terms = DraftingTerms.objects.filter(benchmark=benchmark.pk, recipe__isnull=False)
    return terms.exists() and is_author(user, benchmark)


def get_drafting_run(user: AnyUser, slug: str, public_id: str) -> DraftingRun:
    """A run of drafting on a benchmark that ``user`` runs."""
    runs = DraftingRun.objects.filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(runs.select_related("benchmark", "created_by"), public_id=public_id)


def get_drafted_case(user: AnyUser, slug: str, public_id: str, case: str) -> tuple[DraftingRun, Case]:
    """A case of a run, for those who may see what was drafted for it (`drafted_cases`)."""
    benchmark = get_written_benchmark(user, slug)
    runs = DraftingRun.objects.filter(benchmark=benchmark).select_related("benchmark", "created_by")
    run = get_object_or_404(runs, public_id=public_id)
    row: Case = get_object_or_404(drafted_cases(user, run), public_id=case)
    row.benchmark = benchmark
    return run, row


def drafted_cases(user: AnyUser, run: PipelineRun) -> QuerySet[Case]:
    """The cases of a run, for those who run the benchmark, and for authors to whom its suggestions have opened.

    An author who has not opened them must not see them: their own list comes first. A physician who may still decide
    on the rubric in review must not either, whether they run the benchmark or had opened them before. A run that came
    with a release has no steps here, and so no cases.
    """
    cases = Case.objects.filter(benchmark=run.benchmark_id, pk__in=run.steps.values("case"))
    cases = cases.exclude(pk__in=hidden_cases(user, run.benchmark))
    if may_order(user, run.benchmark):
        return cases
    return cases.filter(Exists(SuggestionsOpened.objects.filter(case=OuterRef("pk"), author=user.pk)))


# Suggestions -------------------------------------------------------------------------------------------------------


def hidden_rubrics(user: AnyUser, benchmark: Benchmark) -> QuerySet[Rubric]:
    """The rubrics in review whose suggestions ``user`` must not see before their decision (`rubrics.origins`)."""
    return origins.hidden_from(user, benchmark) if isinstance(user, User) else Rubric.objects.none()


def hidden_cases(user: AnyUser, benchmark: Benchmark) -> QuerySet[Case]:
    """The cases of these rubrics: what was drafted for them is in no page, table or answer for ``user``."""
    return Case.objects.filter(pk__in=hidden_rubrics(user, benchmark).values("case"))


def decides_on_suggestions(user: AnyUser, benchmark: Benchmark) -> bool:
    """Whether ``user`` may decide on suggestions: an author. Running the benchmark is not enough."""
    return is_author(user, benchmark)


def get_deciding_benchmark(user: AnyUser, slug: str) -> Benchmark:
    """A benchmark on whose suggestions ``user`` may decide."""
    authors = AuthoringRole.objects.filter(
        benchmark=OuterRef("pk"), user=user.pk, role=AuthoringRole.Role.AUTHOR, active=True
    )
    return get_object_or_404(Benchmark.objects.filter(Exists(authors)), slug=slug)


def get_case_to_decide(user: AnyUser, slug: str, public_id: str) -> Case:
    """A case on whose suggestions ``user`` may decide, whether they have opened or not.

    It is missing for a physician who may still decide on its rubric in review.
    """
    benchmark = get_deciding_benchmark(user, slug)
    cases = Case.objects.filter(benchmark=benchmark).exclude(pk__in=hidden_cases(user, benchmark))
    case = get_object_or_404(cases, public_id=public_id)
    case.benchmark = benchmark
    return case


def get_suggestion(user: AnyUser, slug: str, public_id: str) -> Suggestion:
    """A suggestion for a case on which ``user`` may decide, once its suggestions have opened to this author."""
    benchmark = get_deciding_benchmark(user, slug)
    rows = seen_by(user, benchmark, Suggestion.objects.filter(case__benchmark=benchmark))
    suggestion = get_object_or_404(rows.select_related("case", "run"), public_id=public_id)
    if not SuggestionsOpened.objects.filter(case=suggestion.case_id, author=user.pk).exists():
        raise Http404
    suggestion.case.benchmark = benchmark
    return suggestion


def seen_by(user: AnyUser, benchmark: Benchmark, rows: QuerySet[Suggestion]) -> QuerySet[Suggestion]:
    """Of suggestions of a benchmark those that no review hides from ``user``. Published ones are no secret."""
    return rows.exclude(published_in=None, case__in=hidden_cases(user, benchmark))


def get_origin(user: AnyUser, slug: str, public_id: str) -> Suggestion:
    """A suggestion that a published criterion began as, for those who write or run the benchmark.

    One that is not published is there for those who run it and write nothing for it, and for authors to whom the
    suggestions of its case have opened: physicians who may still review the rubric must not see it.
    """
    benchmark = get_written_benchmark(user, slug)
    rows = seen_by(user, benchmark, Suggestion.objects.filter(case__benchmark=benchmark))
    rows = rows.select_related("case", "run__created_by", "decided_by")
    if is_author(user, benchmark) or not may_order(user, benchmark):
        opened = SuggestionsOpened.objects.filter(case=OuterRef("case"), author=user.pk)
        rows = rows.filter(Q(published_in__isnull=False) | Exists(opened))
    suggestion: Suggestion = get_object_or_404(rows, public_id=public_id)
    suggestion.case.benchmark = suggestion.run.benchmark = benchmark
    return suggestion
