"""Reads a run of refinement with its grades: those of a rater by the published gold rubrics, or those of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from rubrics.models import Case, Response, Rubric, RubricItem
from scoring.models import EndpointKind, PipelineStep
from scoring.scores.sheet import Sheet, read_sheet
from scoring.selectors.raters import Rater
from validation.files.table_rows import nfc
from validation.models import RefinementRun
from validation.models.refinement import EDIT, PLAN
from validation.refinement.config import RefinementConfig, refinement_config
from validation.refinement.grades import Grades
from validation.refinement.inputs import Graded, Grader, Refined, RefinementInputs
from validation.sets.content import axis_of


def read_refinement_run(run: RefinementRun, rater: Rater) -> RefinementInputs:
    """Read the texts of a run, and how ``rater`` grades bases and refined texts by the published gold rubrics.

    Where the gold criteria are split, only the half that does not guide grades.
    """
    config = refinement_config(run.config, may_call=False)
    derived = Response.objects.filter(case__benchmark=run.benchmark_id, candidate__name__in=run.derived_names)
    rows = derived.values_list("candidate__name", "case__key", "public_id")
    texts = _texts(run, config, {(name, nfc(key)): public_id for name, key, public_id in rows})
    sheet = read_sheet(run.benchmark, rater, named=run.derived_names)
    criteria, lost = _criteria(run, config)
    return RefinementInputs(
        run, config, _grader(rater), texts, criteria, _outcomes(sheet, texts, criteria), _tags(run, config), lost
    )


def read_graded_run(run: RefinementRun, grades: Grades) -> RefinementInputs:
    """Read the texts of a run, which may be a replay or made elsewhere, and how a file says that they were graded."""
    config = refinement_config(run.config, may_call=False)
    by_arm = {nfc(arm.name): arm.candidate for arm in config.arms}
    responses = {(by_arm[arm], case): own for (arm, case), own in grades.responses.items() if arm in by_arm}
    texts = _texts(run, config, responses)
    return RefinementInputs(run, config, grades.grader, texts, grades.criteria, grades.outcomes, _tags(run, config))


def _grader(rater: Rater) -> Grader:
    judges = ((run.judge.name, str((run.snapshot.get("config") or {}).get("model") or "")) for run in rater.runs)
    by_rules = any(run.endpoint_kind == EndpointKind.RULES for run in rater.runs)
    return Grader(rater.label, tuple(dict.fromkeys(judges)), by_rules)


def _tags(run: RefinementRun, config: RefinementConfig) -> dict[str, tuple[str, ...]]:
    """The tags of each case when the run began; of runs that do not hold them, those of now."""
    if all(case.tags is not None for case in config.cases):
        return {nfc(case.key): tuple(map(nfc, case.tags or ())) for case in config.cases}
    keys = [case.key for case in config.cases]
    rows = Case.objects.filter(benchmark=run.benchmark, key__in=keys).values_list("key", "tags", "label_tags")
    return {nfc(key): tuple(dict.fromkeys(map(nfc, (*own, *labels)))) for key, own, labels in rows}


def _texts(run: RefinementRun, config: RefinementConfig, responses: Mapping[tuple[str, str], str]) -> list[Refined]:
    """In the order of arms, then of cases. Excluded cases are left out.

    ``responses``: the public id of the refined response of a candidate to a case.
    """
    counting = Case.objects.filter(benchmark=run.benchmark_id).included()
    steps: dict[tuple[str, str, str], PipelineStep] = {}
    for step in run.steps.filter(case__in=counting).select_related("case"):
        steps[step.stage, step.key, step.case.key] = step
    rows = []
    for number, arm in enumerate(config.arms):
        for case in config.cases:
            plan = steps.get((PLAN, str(number), case.key))
            edit = steps.get((EDIT, str(number), case.key))
            if plan is None or edit is None:
                continue
            rows.append(
                Refined(
                    arm=number,
                    case=nfc(case.key),
                    base=case.base,
                    base_id=case.base_id,
                    text=edit.output["text"] if edit.output else None,
                    response=responses.get((arm.candidate, nfc(case.key)), ""),
                    findings=list(edit.findings or []),
                    plan=plan.output,
                    edit=edit.output,
                )
            )
    return rows


def _criteria(run: RefinementRun, config: RefinementConfig) -> tuple[dict[int, Graded], int]:
    """The criteria of the published rubrics that grade, and how many that should are no longer there."""
    current = Rubric.objects.current().filter(case__benchmark=run.benchmark_id)
    items = RubricItem.objects.filter(rubric__in=current).order_by("rubric__case_id", "position")
    columns = ("rubric__case__key", "criterion_id", "criterion__text", "points", "tags", "position")
    half = {case.key: set(case.graded_by) for case in config.cases if case.graded_by is not None}
    lacking = {(key, text) for key, texts in half.items() for text in texts}
    graded = {}
    for key, criterion, text, points, tags, position in items.values_list(*columns):
        if key in config.place_of and (not config.split or text in half[key]):
            graded[criterion] = Graded(nfc(key), text, points, nfc(axis_of(tags)), position)
            lacking.discard((key, text))
    return graded, len(lacking)


def _outcomes(sheet: Sheet, texts: Iterable[Refined], criteria: Mapping[int, Graded]) -> dict[str, dict[int, int]]:
    """The outcomes of bases and refined texts by the public ids of the responses."""
    graded_ids = {public_id for text in texts for public_id in (text.base_id, text.response) if public_id}
    public = dict(Response.objects.filter(public_id__in=graded_ids).values_list("pk", "public_id"))
    chosen = np.isin(sheet.response_ids[sheet.response], np.array(list(public), dtype=np.int64))
    outcomes: dict[str, dict[int, int]] = {}
    for place in np.flatnonzero(chosen).tolist():
        criterion = int(sheet.criterion_ids[sheet.criterion[place]])
        if criterion in criteria:
            response = public[int(sheet.response_ids[sheet.response[place]])]
            outcomes.setdefault(response, {})[criterion] = int(sheet.answer[place])
    return outcomes
