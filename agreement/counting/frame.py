"""Maps the ids in ratings to cases, candidates, responses and criteria, and to slices of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from agreement.counting import item_slices
from agreement.counting.pairs import positions
from consilium.core.ratings import copy_columns
from rubrics.models import Benchmark, Candidate, Case, Difficulty, Register, Response
from rubrics.selectors.consensus_criteria import SCORED_TAGS

Index = NDArray[np.int64]

_RESPONSES = """
    SELECT r.id, r.case_id, r.candidate_id, r.sample::int4
    FROM rubrics_response r JOIN rubrics_case c ON c.id = r.case_id WHERE c.benchmark_id = %(benchmark)s ORDER BY r.id
"""
_CRITERIA = """
    SELECT k.id, k.case_id
    FROM rubrics_criterion k JOIN rubrics_case c ON c.id = k.case_id WHERE c.benchmark_id = %(benchmark)s ORDER BY k.id
"""
# The tags that a criterion has in the newest rubric that holds it.
_CRITERION_TAGS = f"""
    SELECT tag, array_agg(criterion_id)
    FROM (
        SELECT DISTINCT ON (i.criterion_id) i.criterion_id, {SCORED_TAGS} AS tags
        FROM rubrics_rubricitem i
        JOIN rubrics_rubric r ON r.id = i.rubric_id
        JOIN rubrics_case c ON c.id = r.case_id
        WHERE c.benchmark_id = %(benchmark)s AND r.status IN ('published', 'superseded')
        ORDER BY i.criterion_id, r.version DESC, i.id DESC
    ) AS newest, unnest(newest.tags) AS tag
    GROUP BY tag
"""
DEFAULT_SETTING = "chat"


@dataclass(frozen=True, slots=True)
class CaseLabels:
    """What a case is called and sliced by."""

    key: str
    difficulty: str
    register: str
    tags: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Slice:
    """A part of the benchmark: the cases marked in ``cases``, or only the criteria marked in ``criteria``."""

    name: str
    cases: NDArray[np.bool_]
    criteria: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False)
class Frame:
    """Ids in ascending order, and for each the place of what it belongs to.

    ``response_case`` and ``criterion_case`` are places in ``cases``, ``response_candidate`` places in ``candidates``.
    """

    response_ids: Index
    response_case: Index
    response_candidate: Index
    response_sample: NDArray[np.int32]
    other_settings: dict[int, str]
    criterion_ids: Index
    criterion_case: Index
    case_ids: Index
    cases: list[CaseLabels]
    candidate_ids: Index
    candidates: list[str]
    criterion_tags: dict[str, Index]
    more: tuple[Slice, ...] = ()  # slices of cases that were asked for besides

    def response_places(self, ids: Index) -> Index:
        """Places of response ids; ValueError where one is not of this benchmark."""
        return _places(self.response_ids, ids, "response")

    def criterion_places(self, ids: Index) -> Index:
        """Places of criterion ids; ValueError where one is not of this benchmark."""
        return _places(self.criterion_ids, ids, "criterion")

    def response_name(self, place: int) -> str:
        """``CANDIDATE/KEY/SAMPLE``."""
        case, candidate = self.cases[self.response_case[place]], self.candidates[self.response_candidate[place]]
        return f"{candidate}/{case.key}/{self.response_sample[place]}"

    def response_setting(self, place: int) -> str:
        """The setting under which the response was made, empty where it is the usual one."""
        return self.other_settings.get(int(self.response_ids[place]), "")

    @cached_property
    def slices(self) -> list[Slice]:
        """Slices that hold for all candidates alike: difficulties, registers, the tags of case and criterion, `more`.

        A tag of a case and the same tag of another case's criteria are one slice.
        """
        return list(self._slices())

    def _slices(self) -> Iterator[Slice]:
        labels: list[tuple[str, list[str], list[Any]]] = [
            ("difficulty", [case.difficulty for case in self.cases], list(Difficulty.values)),
            ("register", [case.register for case in self.cases], list(Register.values)),
        ]
        for kind, of_case, values in labels:
            for value in values:
                if value in of_case:
                    yield Slice(f"{kind}:{value}", np.array([label == value for label in of_case], dtype=bool))
        by_tag: dict[str, list[int]] = {}
        for place, case in enumerate(self.cases):
            for tag in case.tags:
                by_tag.setdefault(tag, []).append(place)
        for tag in sorted(by_tag.keys() | self.criterion_tags.keys()):
            on_case = np.zeros(len(self.cases), dtype=bool)
            on_case[by_tag.get(tag, [])] = True
            criteria = None
            if tag in self.criterion_tags:
                criteria = on_case[self.criterion_case]
                criteria[self.criterion_tags[tag]] = True
            yield Slice(tag, on_case, criteria)
        yield from self.more

    def described(self, response: Index, criterion: Index) -> str:
        """SHA-256 of the names and labels of everything that the given places (of responses, of criteria) touch."""
        responses, criteria = np.zeros(len(self.response_ids), bool), np.zeros(len(self.criterion_ids), bool)
        responses[response], criteria[criterion] = True, True
        return self.described_by(responses, criteria)

    def described_by(self, responses: NDArray[np.bool_], criteria: NDArray[np.bool_]) -> str:
        """The same digest, for the marked responses and criteria."""
        sha = hashlib.sha256()
        for place in np.unique(self.response_case[responses]).tolist():
            sha.update(json.dumps(astuple(self.cases[place])).encode())
        for place in np.flatnonzero(responses).tolist():
            sha.update(f"{self.response_name(place)}\0{self.response_setting(place)}\0".encode())
        for tag, members in sorted(self.criterion_tags.items()):
            touched = np.sort(self.criterion_ids[members[criteria[members]]])
            sha.update(tag.encode() + b"\0" + len(touched).to_bytes(8, "little") + touched.astype("<i8").tobytes())
        behind = np.unique(self.response_case[responses])
        for part in self.more:
            keys = sorted(self.cases[place].key for place in behind[part.cases[behind]].tolist())
            sha.update(json.dumps([part.name, keys]).encode())
        return sha.hexdigest()

    def selection(self, name: str, response: Index, criterion: Index) -> NDArray[np.bool_]:
        """Which pairs, given as places of responses and criteria, belong to the slice called ``name``; KeyError when
        there is no such slice.
        """
        if name == "all":
            return np.ones(len(response), dtype=bool)
        kind, _, rest = name.partition(":")
        if kind == "candidate" and rest in self.candidates:
            return np.asarray(self.response_candidate[response] == self.candidates.index(rest))
        if kind == "response":
            named = [p for p in np.unique(response).tolist() if self.response_name(p) == rest]
            if named:
                return np.isin(response, named)
        if kind == "case":
            named = [place for place, case in enumerate(self.cases) if case.key == rest]
            if named:
                return np.isin(self.response_case[response], named)
        part = {part.name: part for part in self.slices}.get(name)
        if part is None:
            return item_slices.selection(
                name,
                case=self.case_ids[self.response_case[response]],
                response=self.response_ids[response],
                criterion=self.criterion_ids[criterion],
            )
        return part.criteria[criterion] if part.criteria is not None else part.cases[self.response_case[response]]


def _places(ids: Index, values: Index, what: str) -> Index:
    places, is_present = positions(ids, values)
    if not is_present.all():
        raise ValueError(f"a {what} of the ratings is not of this benchmark")
    return places


def read_frame(benchmark: Benchmark) -> Frame:
    """Read the frame of ``benchmark``; ids come by binary COPY, only names become Python objects."""
    params = {"benchmark": benchmark.pk}
    responses = copy_columns(
        _RESPONSES, params, types={"id": "int8", "case": "int8", "candidate": "int8", "sample": "int4"}
    )
    criteria = copy_columns(_CRITERIA, params, types={"id": "int8", "case": "int8"})
    case_ids, cases = [], []
    labels = Case.objects.filter(benchmark=benchmark).order_by("pk")
    columns = ("pk", "key", "difficulty", "register", "tags", "label_tags")
    for pk, key, difficulty, register, tags, label_tags in labels.values_list(*columns):
        case_ids.append(pk)
        cases.append(CaseLabels(key, difficulty, register, tuple(dict.fromkeys([*tags, *label_tags]))))
    candidates = dict(Candidate.objects.filter(benchmark=benchmark).order_by("pk").values_list("pk", "name"))
    settings = Response.objects.filter(case__benchmark=benchmark).exclude(setting=DEFAULT_SETTING)
    with connection.cursor() as cursor:
        cursor.execute(_CRITERION_TAGS, params)
        # Row by row, so that the ids of only one tag at a time are Python's numbers.
        criterion_tags = {tag: np.searchsorted(criteria["id"], np.sort(np.array(ids, np.int64))) for tag, ids in cursor}
    case_index, candidate_index = np.array(case_ids, np.int64), np.array(list(candidates), np.int64)
    return Frame(
        response_ids=responses["id"],
        response_case=np.searchsorted(case_index, responses["case"]),
        response_candidate=np.searchsorted(candidate_index, responses["candidate"]),
        response_sample=responses["sample"],
        other_settings=dict(settings.values_list("pk", "setting")),
        criterion_ids=criteria["id"],
        criterion_case=np.searchsorted(case_index, criteria["case"]),
        case_ids=case_index,
        cases=cases,
        candidate_ids=candidate_index,
        candidates=list(candidates.values()),
        criterion_tags=criterion_tags,
    )
