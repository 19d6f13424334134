"""Rates of advice by a judge, put right by what physicians read in a sample of the same responses.

The estimates are those of the kind `acuity_judge` (`agreement.acuity.judge_tables.powered_rows`); here the judge's
readings are those that the other tables of a report count: of several replicates the first.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import replace
from typing import Any

from agreement.acuity.inputs import AcuityInputs
from agreement.acuity.judge_tables import POWERED_COLUMNS, Mark, ReadResponse, place_of_mark, powered_rows
from agreement.acuity.level_judges import LevelJudge
from agreement.acuity.measures import Price
from agreement.acuity.readings import AcuityData
from consilium.core.out_folder import OutTable
from rubrics.parsing.acuity_levels import State
from scoring.models import AcuityReading, JudgeRunItem

Row = dict[str, Any]
# A response by its case, candidate and sample.
Place = tuple[str, str, int]

TEXT_COLUMNS = ("candidate", "measure", "note")


def with_physicians(inputs: AcuityInputs) -> AcuityInputs:
    """The same with what physicians read in the responses of the judge's run, and a digest of both."""
    if inputs.judge is None:
        return inputs
    marks = _marks(inputs.judge)
    digest = inputs.digest
    if marks:
        levels = sorted((place, [(mark.level, mark.is_drawn) for mark in own]) for place, own in marks.items())
        digest = hashlib.sha256(f"{digest} {levels}".encode()).hexdigest()
    return replace(inputs, digest=digest, advice=list(_responses(inputs.data, marks)))


def _marks(judge: LevelJudge) -> dict[Place, tuple[Mark, ...]]:
    own: dict[int, list[Mark]] = defaultdict(list)
    for answer in judge.answers:
        own[answer.response].append(Mark(answer.level, is_drawn=answer.run == judge.address))
    items = JudgeRunItem.objects.filter(run__public_id=judge.address, response__in=own)
    names = items.values_list("response", "response__case__key", "response__candidate__name", "response__sample")
    return {
        # In an order that does not depend on who they are, which differs where a release was imported.
        (case, candidate, sample): tuple(sorted(own[response], key=place_of_mark))
        for response, case, candidate, sample in names
    }


def _responses(data: AcuityData, marks: dict[Place, tuple[Mark, ...]]) -> list[ReadResponse]:
    """The responses that the judge read, by case, candidate and sample."""
    is_clear = data.is_clear.tolist()
    low = data.low.tolist()
    places: list[tuple[int, str, int, int, int]] = []
    for series in range(len(data.series_names)):
        if data.source_of(series) == AcuityReading.Source.JUDGE:
            own = data.readings.of_series(series)
            columns = (column.tolist() for column in (own.case, own.sample, own.state, own.place))
            places += [(case, data.candidate_of(series), *rest) for case, *rest in zip(*columns, strict=True)]
    responses = []
    for case, candidate, sample, state, place in sorted(places):
        key = data.cases[case]
        responses.append(
            ReadResponse(
                case=key,
                candidate=candidate,
                judge=Mark(place if state == State.LEVEL else None),
                judge_state=State(state).word,
                physicians=marks.get((key, candidate, sample), ()),
                reference=low[case] if is_clear[case] else None,
            )
        )
    return responses


def powered_tables(inputs: AcuityInputs, *, price: Price) -> list[OutTable]:
    """The table ``powered``, where a judge's readings are among the inputs."""
    if inputs.judge is None:
        return []
    rows = powered_rows(inputs.advice, inputs.data.n_levels, price)
    return [
        OutTable(
            "powered", POWERED_COLUMNS, [dict(zip(POWERED_COLUMNS, row, strict=True)) for row in rows], TEXT_COLUMNS
        )
    ]
