"""Rubric sets, runs, pairs and decisions, fetched for a user; forbidden and missing look the same (404)."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from accounts.models import User
from accounts.unread_cases import unread_by
from annotation.models import Membership
from drafting.access import hidden_cases
from rubrics.access import get_benchmark, get_written_benchmark, is_author, may_see_grading_evidence
from rubrics.models import AuthoringRole, Benchmark, BenchmarkRole, Case, Rubric
from validation.models import (
    CoverageDecision,
    CoverageRun,
    MakingRun,
    NearMissPair,
    PairJudgement,
    RefinementRun,
    RubricSet,
    RubricSetItem,
    SplittingRun,
    TrialRun,
)

AnyUser = User | AnonymousUser


def get_rubric_set(user: AnyUser, slug: str, public_id: str) -> RubricSet:
    """A set of a benchmark that ``user`` runs.

    It is missing where it is hidden (`hidden_sets`).
    """
    benchmark = get_benchmark(user, slug)
    sets = RubricSet.objects.finished().filter(benchmark=benchmark)
    row: RubricSet = get_object_or_404(
        sets.select_related("benchmark", "created_by", "source", "split_run", "drafting_run"), public_id=public_id
    )
    may_be_drafted = row.drafting_run_id is not None or row.source_id is not None
    if may_be_drafted and hidden_sets(user, benchmark).filter(pk=row.pk).exists():
        raise Http404
    return row


def hidden_sets(user: AnyUser, benchmark: Benchmark) -> QuerySet[RubricSet]:
    """Sets that ``user`` must not see yet: they may still review the rubric of one of the cases.

    So it is with what a run drafted, and with what was split from it.
    """
    if not (drafted := _drafted_sets(benchmark)):
        return RubricSet.objects.none()
    items = RubricSetItem.objects.filter(rubric_set__in=drafted, case__in=hidden_cases(user, benchmark))
    return RubricSet.objects.filter(pk__in=items.order_by().values("rubric_set"))


def _drafted_sets(benchmark: Benchmark) -> set[int]:
    """The ids of sets whose criteria a run drafted, as they are or split. A set is younger than its source."""
    drafted: set[int] = set()
    rows = RubricSet.objects.filter(benchmark=benchmark).order_by("pk")
    for pk, run, source in rows.values_list("pk", "drafting_run", "source"):
        if run or source in drafted:
            drafted.add(pk)
    return drafted


# Coverage ----------------------------------------------------------------------------------------------------------


def get_coverage_run(user: AnyUser, slug: str, public_id: str) -> CoverageRun:
    """A run of coverage on a benchmark that ``user`` runs."""
    runs = CoverageRun.objects.filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(runs.select_related("benchmark", "created_by"), public_id=public_id)


def decides_in(user: AnyUser) -> Q:
    """A condition on benchmarks: ``user`` is a physician there, a member of an expert group or an author.

    Not one who runs the benchmark as well: who decides must not know which set is which, nor where a pair is from.
    """
    members = Membership.objects.filter(user=user.pk, active=True, group__benchmark=OuterRef("pk"))
    authors = AuthoringRole.objects.filter(
        user=user.pk, active=True, role=AuthoringRole.Role.AUTHOR, benchmark=OuterRef("pk")
    )
    runs_it = BenchmarkRole.objects.filter(user=user.pk, active=True, benchmark=OuterRef("pk"))
    return (Q(Exists(members)) | Q(Exists(authors))) & ~Q(Exists(runs_it))


def get_deciding_benchmark(user: AnyUser, slug: str) -> Benchmark:
    """A benchmark in which ``user`` may decide about coverage and pairs."""
    return get_object_or_404(Benchmark.objects.filter(decides_in(user)), slug=slug)


def get_coverage_decision(user: AnyUser, slug: str, public_id: str) -> CoverageDecision:
    """A decision that nobody has made, or that ``user`` has made, on a case that counts.

    Not on a case whose first rubric ``user`` is writing; an open one only on a case that they read.
    """
    rows = _coverage_decisions(user, get_deciding_benchmark(user, slug))
    decision: CoverageDecision = get_object_or_404(rows.select_related("run__benchmark"), public_id=public_id)
    return decision


def _coverage_decisions(user: AnyUser, benchmark: Benchmark) -> QuerySet[CoverageDecision]:
    rows = CoverageDecision.objects.filter(run__benchmark=benchmark)
    rows = rows.but_on_own_drafts(user.pk).filter(step__case__excluded_at=None)
    return rows.filter(Q(answer="") & ~unread_by(user.pk or 0, "step__case") | Q(decided_by=user.pk))


def open_question_about(user: AnyUser, case: Case) -> CoverageDecision | None:
    """The first question about the coverage of a case that is open and that ``user`` may answer."""
    if not Benchmark.objects.filter(decides_in(user), pk=case.benchmark_id).exists():
        return None
    return _coverage_decisions(user, case.benchmark).filter(step__case=case, answer="").order_by("pk").first()


def get_covered_case(user: AnyUser, slug: str, public_id: str, case: str) -> tuple[CoverageRun, Case]:
    """A case of a run, for those who run the benchmark, and for authors once nothing about it waits for a decision.

    Authors see none without a published rubric, which they may be about to write. Nobody sees one with criteria of a
    set that is hidden from them because of it (`hidden_sets`).
    """
    try:
        run = get_coverage_run(user, slug, public_id)
    except Http404:
        benchmark = get_deciding_benchmark(user, slug)
        if not is_author(user, benchmark):
            raise
        runs = CoverageRun.objects.filter(benchmark=benchmark).select_related("benchmark")
        run = get_object_or_404(runs, public_id=public_id)
        published = Rubric.objects.current().filter(case__benchmark=benchmark, case__public_id=case)
        if _awaits_decision(benchmark, case) or not published.exists():
            raise
    row: Case = get_object_or_404(Case.objects.filter(benchmark=run.benchmark_id), public_id=case)
    if _compares(run, _hidden_with(user, row)):
        raise Http404
    return run, row


def _hidden_with(user: AnyUser, case: Case) -> set[str]:
    """The public ids of sets with criteria for ``case`` that are hidden from ``user`` because of it."""
    if not hidden_cases(user, case.benchmark).filter(pk=case.pk).exists():
        return set()
    drafted = RubricSet.objects.filter(pk__in=_drafted_sets(case.benchmark), items__case=case)
    return set(drafted.values_list("public_id", flat=True))


def _compares(run: CoverageRun, sets: set[str]) -> bool:
    """Whether a run measures one of ``sets``, public ids, or measures by it."""
    return bool(sets) and not sets.isdisjoint(own.get("id") for own in (run.config["gold"], *run.config["sets"]))


def _awaits_decision(benchmark: Benchmark, case: str) -> bool:
    """Whether any question about coverage on a case, by its public id, is open."""
    open_ones = CoverageDecision.objects.filter(run__benchmark=benchmark, step__case__public_id=case, answer="")
    return open_ones.exists()


def may_see_coverage_of(user: AnyUser, case: Case) -> bool:
    """Whether the coverage of a case that ``user`` may write is shown to them: to authors as in `get_covered_case`.

    To nobody from whom a set is hidden because of the case.
    """
    if _hidden_with(user, case):
        return False
    return _runs(user, case) or not _awaits_decision(case.benchmark, case.public_id)


def may_see_trials_of(user: AnyUser, case: Case) -> bool:
    """Whether trials on the pairs of a case that ``user`` may write are shown to them.

    Those who run the benchmark see them. Authors do once no pair of the case waits for their judgement, and not while a
    group of theirs grades: a reference may be a response that they are to grade.
    """
    if _runs(user, case):
        return True
    waiting = NearMissPair.objects.filter(case=case).on_cases_that_count().filter(state=NearMissPair.State.PROPOSED)
    return not waiting.exclude(Exists(_own_judgements(user))).exists() and may_see_grading_evidence(
        user, case.benchmark
    )


def _runs(user: AnyUser, case: Case) -> bool:
    return Benchmark.objects.run_by(user).filter(pk=case.benchmark_id).exists()


# Near-miss pairs ---------------------------------------------------------------------------------------------------


def get_pair(user: AnyUser, slug: str, public_id: str) -> NearMissPair:
    """A pair of a benchmark that ``user`` runs."""
    rows = NearMissPair.objects.filter(group__benchmark=get_benchmark(user, slug))
    pair: NearMissPair = get_object_or_404(rows.select_related("group__benchmark", "case"), public_id=public_id)
    return pair


def get_pair_to_judge(user: AnyUser, slug: str, public_id: str) -> NearMissPair:
    """A pair on a case that counts which ``user`` has judged, or which needs a judgement on a case that they read."""
    rows = NearMissPair.objects.filter(group__benchmark=get_deciding_benchmark(user, slug)).on_cases_that_count()
    rows = rows.filter(_needs_judgement(user) | Exists(_own_judgements(user)))
    pair: NearMissPair = get_object_or_404(rows.select_related("group__benchmark", "case"), public_id=public_id)
    return pair


def _needs_judgement(user: AnyUser) -> Q:
    return Q(state=NearMissPair.State.PROPOSED) & ~unread_by(user.pk or 0, "case")


def _own_judgements(user: AnyUser) -> QuerySet[PairJudgement]:
    return PairJudgement.objects.filter(pair=OuterRef("pk"), physician=user.pk)


def pair_to_judge_of(user: AnyUser, case: Case) -> NearMissPair | None:
    """The first pair of a case that waits for the judgement of ``user``."""
    if not Benchmark.objects.filter(decides_in(user), pk=case.benchmark_id).exists():
        return None
    rows = NearMissPair.objects.filter(case=case, group__benchmark=case.benchmark_id).on_cases_that_count()
    return rows.filter(_needs_judgement(user)).exclude(Exists(_own_judgements(user))).order_by("pk").first()


def get_making_run(user: AnyUser, slug: str, public_id: str) -> MakingRun:
    """A run that makes pairs, on a benchmark that ``user`` runs."""
    runs = MakingRun.objects.filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(runs.select_related("benchmark", "created_by"), public_id=public_id)


def get_trial_run(user: AnyUser, slug: str, public_id: str) -> TrialRun:
    """A run of trials on a benchmark that ``user`` runs."""
    runs = TrialRun.objects.filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(runs.select_related("benchmark", "created_by"), public_id=public_id)


# Refinement --------------------------------------------------------------------------------------------------------


def get_refinement_run(user: AnyUser, slug: str, public_id: str) -> RefinementRun:
    """A run of refinement on a benchmark that ``user`` runs."""
    runs = RefinementRun.objects.filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(runs.select_related("benchmark", "created_by"), public_id=public_id)


def get_refined_case(user: AnyUser, slug: str, public_id: str, case: str) -> tuple[RefinementRun, Case]:
    """A case of a run of refinement on a benchmark that ``user`` runs."""
    run = get_refinement_run(user, slug, public_id)
    cases = Case.objects.filter(pk__in=run.steps.values("case"))
    return run, get_object_or_404(cases, public_id=case)


# Points of criteria ------------------------------------------------------------------------------------------------


def get_splitting_run(user: AnyUser, slug: str, public_id: str) -> SplittingRun:
    """A run that splits criteria, on a benchmark that ``user`` runs; not of a set that is hidden (`hidden_sets`)."""
    benchmark = get_benchmark(user, slug)
    runs = SplittingRun.objects.filter(benchmark=benchmark).exclude(pk__in=hidden_splitting_runs(user, benchmark))
    return get_object_or_404(runs.select_related("benchmark", "created_by"), public_id=public_id)


def hidden_splitting_runs(user: AnyUser, benchmark: Benchmark) -> QuerySet[SplittingRun]:
    """The runs that split a set which is hidden from ``user``."""
    sets = hidden_sets(user, benchmark).values_list("public_id", flat=True)
    runs: QuerySet[SplittingRun] = SplittingRun.objects.filter(benchmark=benchmark, terms__gold_id__in=list(sets))
    return runs


def get_points_run(user: AnyUser, slug: str, public_id: str) -> SplittingRun:
    """A run whose points ``user``, an author or one who runs the benchmark, may correct: it has ended, and is no
    replay. It is missing where its set is hidden (`hidden_sets`).
    """
    benchmark = get_written_benchmark(user, slug)
    runs = SplittingRun.objects.filter(benchmark=benchmark).correctable()
    runs = runs.exclude(pk__in=hidden_splitting_runs(user, benchmark))
    return get_object_or_404(runs.select_related("benchmark"), public_id=public_id)


def get_case_of_points(user: AnyUser, slug: str, public_id: str, case: str) -> tuple[SplittingRun, Case]:
    """A case of such a run."""
    run = get_points_run(user, slug, public_id)
    return run, get_object_or_404(Case.objects.filter(pk__in=run.steps.values("case")), public_id=case)
