"""Shape (c): ClinConsensus' judgement lists, about existing responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO

from django.utils.translation import gettext as _

from consilium.core.jobs import Progress
from consilium.llm.parsing import storable
from rubrics.imports.bulk import weighed_chunks
from rubrics.imports.registry import Counts
from rubrics.models import Benchmark, Response
from scoring.services.verdicts.collected import Collected, CollectedVerdict
from scoring.services.verdicts.sheets import Sheet, sheets_of
from scoring.verdict_files import Container, JudgedResponse, read_judgements

CHUNK = 200
CHUNK_CHARACTERS = 4 << 20  # an explanation may be long before it is cut
# (case, candidate's name, sample) to the response of each setting.
Responses = Mapping[tuple[int, str, int], Mapping[str, int]]


def collect_judgements(
    benchmark: Benchmark,
    file: BinaryIO,
    container: Container,
    candidate: str,
    collected: Collected,
    progress: Progress,
    replicate: int | None = None,
) -> Counts:
    """Collect the verdicts of the lists. An element with no results has none: all its verdicts are missing.

    The lists have such an element also for each case without a response of the candidate; it is left out.
    """
    faults = collected.faults
    lines: dict[tuple[int, int], int] = {}  # by response and replicate
    elements = read_judgements(file, faults, container, candidate=candidate, replicate=replicate, progress=progress)
    for chunk in weighed_chunks(elements, CHUNK, weight=CHUNK_CHARACTERS, weigh=JudgedResponse.weight):
        sheets = sheets_of(benchmark, {element.case for element in chunk})
        responses = _responses(sheets, chunk)
        for element in chunk:
            sheet = sheets.get(element.case)
            if sheet is None:
                message = _("There is no case “%(key)s” with a published rubric in this benchmark.")
                faults.add(element.line, element.case_field, message % {"key": element.case[:80]})
                continue
            response = _response(element, sheet, responses)
            if response is None and not element.texts:
                continue
            if response is None:
                message = _("There is no response of “%(candidate)s” to this case with sample %(sample)s.")
                names = {"candidate": element.candidate[:80], "sample": element.sample}
                faults.add(element.line, element.case_field, message % names)
                continue
            answer = (response, element.replicate)
            if answer in lines:
                message = _("A judgement of this response is already on line %(line)s.")
                faults.add(element.line, element.case_field, message % {"line": lines[answer]})
                continue
            lines[answer] = element.line
            _collect(element, sheet, response, collected)
    return {}


def _collect(element: JudgedResponse, sheet: Sheet, response: int, collected: Collected) -> None:
    collected.rubrics[response] = sheet.rubric
    places = [element.field(index) for index in range(len(element.texts))]
    criteria = sheet.criteria_called(element.texts, places, element.line, collected.faults)
    for criterion, grade, place in zip(criteria, element.grades, places, strict=True):
        if criterion is not None:
            verdict = CollectedVerdict(element.line, grade.outcome, storable(grade.explanation))
            collected.add(response, criterion, sheet.rubric, verdict, element.replicate, place)


def _responses(sheets: Mapping[str, Sheet], elements: list[JudgedResponse]) -> Responses:
    rows = Response.objects.filter(
        case__in={sheet.case for sheet in sheets.values()},
        candidate__name__in={element.candidate for element in elements},
        sample__in={element.sample for element in elements},
    )
    responses: dict[tuple[int, str, int], dict[str, int]] = {}
    for pk, case, name, sample, setting in rows.values_list("pk", "case_id", "candidate__name", "sample", "setting"):
        responses.setdefault((case, name, sample), {})[setting] = pk
    return responses


def _response(element: JudgedResponse, sheet: Sheet, responses: Responses) -> int | None:
    """The response that is meant: that of the setting ``chat``, or the only one there is."""
    by_setting = responses.get((sheet.case, element.candidate, element.sample), {})
    return by_setting.get("chat") or (next(iter(by_setting.values())) if len(by_setting) == 1 else None)
