"""Reads of runs of refinement: lists, progress, and one case with its texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from rubrics.models import Benchmark, Case
from scoring.models import JudgeRun, PipelineRun, PipelineStep
from validation.coverage.content import Points
from validation.models import RefinementRun
from validation.models.refinement import EDIT, PLAN
from validation.refinement.checks import NEW_DRUG, NEW_NUMBER, SIZE, STRAY
from validation.refinement.config import ArmConfig, refinement_config
from validation.refinement.marking import Segment, marked


def runs_on(benchmark: Benchmark) -> QuerySet[RefinementRun]:
    """The runs of a benchmark, the newest first, without their settings, which hold all texts."""
    return RefinementRun.objects.filter(benchmark=benchmark).select_related("created_by").defer("config")


def reported_runs(
    benchmark: Benchmark, *, with_settings: bool = False, replays: bool = False
) -> QuerySet[RefinementRun]:
    """The runs that a report may be about: those that have ended, brought a text, and are no replay.

    With ``replays`` those are there as well, and runs that were made elsewhere: grades from a file may be about them.
    """
    runs = RefinementRun.objects.filter(benchmark=benchmark).exclude(status__in=PipelineRun.LIVE)
    if not replays:
        runs = runs.filter(replay=False, imported=False)
    # A join with the steps would read the settings, which hold all texts, once for each of them.
    answered = PipelineStep.objects.filter(run=OuterRef("pk"), state=PipelineStep.State.DONE, stage=EDIT)
    runs = runs.filter(Exists(answered)).order_by("-created_at", "-pk")
    return runs if with_settings else runs.defer("config")


def grading_runs(run: RefinementRun) -> QuerySet[JudgeRun]:
    """The runs of judges over refined responses of this run, the newest first."""
    rows = JudgeRun.objects.filter(benchmark=run.benchmark_id, purpose=JudgeRun.Purpose.GRADE)
    rows = rows.filter(items__response__candidate__name__in=run.derived_names).distinct()
    return rows.select_related("judge").defer("snapshot").order_by("-created_at", "-pk")


@dataclass(frozen=True)
class ArmCase:
    """A case in one arm: what was planned, the texts with their changes marked, and what code finds."""

    arm: ArmConfig
    criteria: Points
    state: str
    error: str
    plan: dict[str, Any] | None
    edit: dict[str, Any] | None
    before: list[Segment] = field(default_factory=list)
    after: list[Segment] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The findings of one kind."""
        return [finding for finding in self.findings if finding["kind"] == kind]

    @property
    def new_numbers(self) -> list[dict[str, Any]]:
        """Numbers with units that nothing accounts for."""
        return self.of(NEW_NUMBER)

    @property
    def new_drugs(self) -> list[dict[str, Any]]:
        """Words like names of drugs that nothing accounts for."""
        return self.of(NEW_DRUG)

    @property
    def strays(self) -> list[dict[str, Any]]:
        """Sentences that no edit explains."""
        return self.of(STRAY)

    @property
    def size(self) -> dict[str, Any]:
        """Changed share of words and length ratio; empty where there is no text."""
        return next(iter(self.of(SIZE)), {})

    @property
    def changed_percent(self) -> float:
        """The changed share of words in percent."""
        return 100 * float(self.size.get("changed_words", 0.0))

    @property
    def edits(self) -> list[dict[str, Any]]:
        """The planned edits, each with whether it was done, and why not."""
        if self.plan is None:
            return []
        refused = {row["number"]: row["why"] for row in (self.edit or {}).get("edits_refused", [])}
        done = set((self.edit or {}).get("edits_done", []))
        return [
            {**edit, "done": edit["number"] in done, "refused": refused.get(edit["number"], "")}
            for edit in self.plan["edits"]
        ]


def arm_cases(run: RefinementRun, case: Case) -> list[ArmCase]:
    """One case of a run in every arm that has it; empty where the run has not."""
    config = refinement_config(run.config, may_call=False)
    place = config.place_of.get(case.key)
    if place is None:
        return []
    steps = {(step.stage, step.key): step for step in run.steps.filter(case=case)}
    base = config.cases[place].base
    rows = []
    for number, arm in enumerate(config.arms):
        plan, edit = steps.get((PLAN, str(number))), steps.get((EDIT, str(number)))
        if plan is None or edit is None:
            continue
        refined = edit.output["text"] if edit.output else None
        before, after = marked(base, refined) if refined is not None else ([Segment(base)], [])
        failed = next((step for step in (plan, edit) if step.state == PipelineStep.State.FAILED), None)
        rows.append(
            ArmCase(
                arm=arm,
                criteria=config.criteria(place, number) or (),
                state=edit.state,
                error=failed.error if failed else "",
                plan=plan.output,
                edit=edit.output,
                before=before,
                after=after,
                findings=list(edit.findings or []),
            )
        )
    return rows


@dataclass(frozen=True)
class CaseRow:
    """A case in the list of a run: in how many arms it has a text, and what code finds in them."""

    case: Case
    texts: int
    arms: int
    new_numbers: int
    new_drugs: int
    strays: int

    @property
    def has_new(self) -> bool:
        """Whether a text has a number or a drug that nothing accounts for."""
        return bool(self.new_numbers or self.new_drugs)


def case_rows(run: RefinementRun) -> list[CaseRow]:
    """The cases of a run in the order of import; those with something new come first. Two queries."""
    own: dict[int, list[tuple[str, list[dict[str, Any]]]]] = {}
    for case, state, findings in run.steps.filter(stage=EDIT).order_by().values_list("case", "state", "findings"):
        own.setdefault(case, []).append((state, findings or []))
    rows = []
    for case in Case.objects.filter(pk__in=own).order_by("pk").only("public_id", "key", "benchmark"):
        kinds = [finding["kind"] for _state, findings in own[case.pk] for finding in findings]
        done = sum(state == PipelineStep.State.DONE for state, _findings in own[case.pk])
        rows.append(
            CaseRow(case, done, len(own[case.pk]), *(kinds.count(kind) for kind in (NEW_NUMBER, NEW_DRUG, STRAY)))
        )
    return sorted(rows, key=lambda row: not row.has_new)
