"""The input of a report on composition: labels and measures of every case that counts, criteria and responses.

Numbers come as arrays by binary COPY; only keys and labels become Python objects. Stubs, excluded cases and responses
of derived candidates are left out, as they are elsewhere. Lengths are in code points.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from agreement.composition.dimensions import Dimension, dimensions_of
from annotation.models import ReferenceSet
from consilium.core.ratings import copy_columns
from rubrics.models import Benchmark, Candidate, Case
from rubrics.selectors.case_selection import characters_sql, user_turns_sql
from rubrics.selectors.consensus_criteria import SCORED_TAGS

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
# A length of NO_TURN stands for a conversation without a turn of the user.
NO_TURN = -1

_CASES = f"""
    SELECT c.id, jsonb_array_length(c.conversation)::int4,
        {user_turns_sql("c.conversation")}, {characters_sql("c.conversation")},
        COALESCE((
            SELECT length(turn->>'content')
            FROM jsonb_array_elements(c.conversation) WITH ORDINALITY AS turns(turn, place)
            WHERE turn->>'role' = 'user' ORDER BY place DESC LIMIT 1
        ), -1)::int4
    FROM rubrics_case c
    WHERE c.benchmark_id = %(benchmark)s AND NOT c.is_stub AND c.excluded_at IS NULL ORDER BY c.id
"""
_CURRENT = """
    rubrics_rubricitem i
    JOIN rubrics_rubric u ON u.id = i.rubric_id AND u.track = 'gold' AND u.status = 'published'
    JOIN rubrics_case c ON c.id = u.case_id
"""
_COUNTS = "c.benchmark_id = %(benchmark)s AND NOT c.is_stub AND c.excluded_at IS NULL"
_CRITERIA = f"""
    SELECT i.id, c.id, i.points::int4, length(k.text)::int4
    FROM {_CURRENT} JOIN rubrics_criterion k ON k.id = i.criterion_id WHERE {_COUNTS} ORDER BY i.id
"""
_TAGS = f"""
    SELECT tag, array_agg(i.id ORDER BY i.id) FROM {_CURRENT}, unnest({SCORED_TAGS}) AS tag WHERE {_COUNTS}
    GROUP BY tag
"""
_RESPONSES = f"""
    SELECT r.id, r.case_id, r.candidate_id, length(r.text)::int4
    FROM rubrics_response r JOIN rubrics_case c ON c.id = r.case_id JOIN rubrics_candidate d ON d.id = r.candidate_id
    WHERE {_COUNTS} AND d.kind <> 'derived' ORDER BY r.id
"""
LABELS = ("pk", "key", "difficulty", "register", "language", "tags", "label_tags", "created_by")


@dataclass(frozen=True, eq=False)
class Criteria:
    """One entry for each criterion of a current rubric; ``case`` are places of cases. ``tagged`` marks those with a
    tag.
    """

    case: Ints
    points: Ints
    length: Ints
    tagged: Mapping[str, Mask]


@dataclass(frozen=True, eq=False)
class Responses:
    """One entry for each response; ``case`` and ``candidate`` are places in the lists of cases and candidates."""

    case: Ints
    candidate: Ints
    length: Ints


@dataclass(frozen=True, eq=False)
class CompositionData:
    """All cases of a benchmark that count, in the order of their ids; every array of cases is parallel to ``keys``."""

    keys: list[str]
    case_ids: Ints
    dimensions: Mapping[str, Dimension]
    messages: Ints
    user_turns: Ints
    characters: Ints
    last_user_characters: Ints
    criteria: Criteria
    responses: Responses
    candidates: list[tuple[str, str]]  # name and kind
    n_excluded: int

    def __len__(self) -> int:
        return len(self.keys)

    def inside(self, case_ids: Sequence[int]) -> Mask:
        """Which cases are among those with these ids."""
        return np.isin(self.case_ids, np.array(case_ids, dtype=np.int64))

    def criteria_by_case(self, weights: Ints | None = None) -> Ints:
        """How many criteria each case has, or the sum of ``weights``, which has a number for each criterion."""
        return np.rint(np.bincount(self.criteria.case, weights=weights, minlength=len(self))).astype(np.int64)

    def digest(self, inside: Mask) -> str:
        """SHA-256 of all of it, and of which cases are in the slice."""
        sha = hashlib.sha256()
        labels = {name: dimension.values_by_case for name, dimension in sorted(self.dimensions.items())}
        sha.update(json.dumps([self.keys, labels, self.candidates], ensure_ascii=False).encode())
        firsts = {name: own.firsts for name, own in sorted(self.dimensions.items()) if own.firsts is not None}
        if firsts:
            sha.update(json.dumps(firsts, ensure_ascii=False).encode())
        criteria, responses = self.criteria, self.responses
        for array in (
            *(self.messages, self.user_turns, self.characters, self.last_user_characters),
            *(criteria.case, criteria.points, criteria.length),
            *(responses.case, responses.candidate, responses.length),
        ):
            sha.update(len(array).to_bytes(8, "little") + array.astype("<i8").tobytes())
        for tag, mask in sorted(criteria.tagged.items()):
            sha.update(tag.encode() + b"\0" + np.packbits(mask).tobytes())
        sha.update(np.packbits(inside).tobytes())
        return sha.hexdigest()


def read_composition(benchmark: Benchmark, reference_set: ReferenceSet | None) -> CompositionData:
    """Read ``benchmark`` as it is now, with the levels of ``reference_set``."""
    params = {"benchmark": benchmark.pk}
    names = ("messages", "user_turns", "characters", "last_user_characters")
    measures = copy_columns(_CASES, params, types={"id": "int8", **dict.fromkeys(names, "int4")})
    rows = Case.objects.included().filter(benchmark=benchmark).order_by("pk").values_list(*LABELS)
    cases: list[dict[str, Any]] = [dict(zip(LABELS, row, strict=True)) for row in rows.iterator()]
    known = np.array([case["pk"] for case in cases], dtype=np.int64)
    kept = np.isin(measures["id"], known)
    case_ids = measures["id"][kept]
    counted = set(case_ids.tolist())
    cases = [case for case in cases if case["pk"] in counted]
    candidates = list(Candidate.objects.filter(benchmark=benchmark).order_by("name").values_list("pk", "name", "kind"))
    return CompositionData(
        keys=[case["key"] for case in cases],
        case_ids=case_ids,
        dimensions=dimensions_of(benchmark, cases, measures["user_turns"][kept], reference_set),
        messages=_ints(measures["messages"][kept]),
        user_turns=_ints(measures["user_turns"][kept]),
        characters=_ints(measures["characters"][kept]),
        last_user_characters=_ints(measures["last_user_characters"][kept]),
        criteria=_criteria(params, case_ids),
        responses=_responses(params, case_ids, [pk for pk, _name, _kind in candidates]),
        candidates=[(name, kind) for _pk, name, kind in candidates],
        n_excluded=Case.objects.filter(benchmark=benchmark, excluded_at__isnull=False).count(),
    )


def read_dimensions(benchmark: Benchmark, reference_set: ReferenceSet | None) -> dict[str, Dimension]:
    """The dimensions alone, without the conversations: every case then counts as one with a single turn."""
    rows = Case.objects.included().filter(benchmark=benchmark).order_by("pk").values_list(*LABELS)
    cases = [dict(zip(LABELS, row, strict=True)) for row in rows.iterator()]
    return dimensions_of(benchmark, cases, np.ones(len(cases), dtype=np.int64), reference_set)


def _ints(array: NDArray[Any]) -> Ints:
    return np.asarray(array, dtype=np.int64)


def _criteria(params: Mapping[str, Any], case_ids: Ints) -> Criteria:
    rows = copy_columns(_CRITERIA, params, types={"id": "int8", "case": "int8", "points": "int4", "length": "int4"})
    kept = np.isin(rows["case"], case_ids)
    ids = rows["id"][kept]
    with connection.cursor() as cursor:
        cursor.execute(_TAGS, params)
        tagged = {tag: np.isin(ids, np.array(items, dtype=np.int64)) for tag, items in cursor}
    return Criteria(
        case=np.searchsorted(case_ids, rows["case"][kept]),
        points=_ints(rows["points"][kept]),
        length=_ints(rows["length"][kept]),
        tagged=tagged,
    )


def _responses(params: Mapping[str, Any], case_ids: Ints, candidate_ids: list[int]) -> Responses:
    rows = copy_columns(_RESPONSES, params, types={"id": "int8", "case": "int8", "candidate": "int8", "length": "int4"})
    known = np.sort(np.array(candidate_ids, dtype=np.int64))
    place_of = np.argsort(np.array(candidate_ids, dtype=np.int64))
    kept = np.isin(rows["case"], case_ids) & np.isin(rows["candidate"], known)
    return Responses(
        case=np.searchsorted(case_ids, rows["case"][kept]),
        candidate=place_of[np.searchsorted(known, rows["candidate"][kept])],
        length=_ints(rows["length"][kept]),
    )
