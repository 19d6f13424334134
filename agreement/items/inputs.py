"""Inputs of an item analysis: two raters' pairs, attributes of criteria and responses, physicians' own votes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from agreement.counting.inputs import Joined, join
from annotation.models import ExpertGroup, Physician
from annotation.models.outcomes import outcome_code_sql
from annotation.selectors.ratings import STAGES
from consilium.core.ratings import copy_columns
from rubrics.models import Benchmark, Case
from rubrics.versions import superseded
from scoring.selectors.raters import Rater

Ints = NDArray[np.int64]

# Fields of a criterion in the newest rubric that holds it.
_CRITERIA = """
    SELECT DISTINCT ON (i.criterion_id) i.criterion_id, i.position, i.points, i.tags, k.text
    FROM rubrics_rubricitem i
    JOIN rubrics_criterion k ON k.id = i.criterion_id
    JOIN rubrics_rubric r ON r.id = i.rubric_id
    JOIN rubrics_case c ON c.id = r.case_id
    WHERE c.benchmark_id = %(benchmark)s AND r.status IN ('published', 'superseded')
    ORDER BY i.criterion_id, r.version DESC, i.id DESC
"""
_RESPONSES = """
    SELECT r.public_id, char_length(r.text)
    FROM rubrics_response r JOIN rubrics_case c ON c.id = r.case_id WHERE c.benchmark_id = %(benchmark)s ORDER BY r.id
"""
# Own decisions of round 1, as `annotation.selectors.ratings.physician_ratings` reads them.
_VOTES = f"""
    SELECT DISTINCT ON (p.id, a.response_id, d.criterion_id)
           p.id::int8, b.group_id::int8, a.response_id::int8, d.criterion_id::int8,
           ({outcome_code_sql("d.outcome")})::int2, (d.note <> '')::int::int2, d.borderline::int::int2
    FROM annotation_physician p
    JOIN annotation_assignment a ON a.annotator_id = p.user_id
    JOIN annotation_batch b ON b.id = a.batch_id AND b.group_id = ANY(%(groups)s)
    JOIN annotation_decision d ON d.assignment_id = a.id AND d.round = 1
    JOIN rubrics_case x ON x.id = a.case_id
    WHERE p.benchmark_id = %(benchmark)s AND d.outcome IS NOT NULL AND a.submitted_at IS NOT NULL
      AND a.purpose = 'work' AND a.status <> 'released' AND x.excluded_at IS NULL
    ORDER BY p.id, a.response_id, d.criterion_id, a.submitted_at, a.id
"""


@dataclass(frozen=True, eq=False)
class Votes:
    """Physicians' own first decisions, parallel arrays; ``physician`` and ``group`` are ids."""

    physician: Ints
    group: Ints
    response: Ints
    criterion: Ints
    outcome: NDArray[np.int16]
    noted: NDArray[np.int16]
    borderline: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.physician)

    def chosen(self, rows: NDArray[Any]) -> Votes:
        """The votes at ``rows`` (positions or a mask)."""
        return Votes(*(getattr(self, name)[rows] for name in Votes.__dataclass_fields__))


@dataclass(frozen=True, eq=False)
class Items:
    """Everything behind the tables, and the digest of it.

    ``positions`` (0 where no rubric holds the criterion), ``points``, ``texts`` and ``tags`` stand at the places of
    criteria in the frame; ``response_ids`` (public ids) and ``response_lengths`` (code points) at those of responses;
    ``languages`` at those of cases. ``groups`` names the groups among the raters, ``side_of`` which of the two each is.
    """

    joined: Joined
    positions: list[int]
    points: Ints
    texts: list[str]
    tags: list[tuple[str, ...]]
    response_ids: list[str]
    response_lengths: Ints
    languages: list[str]
    groups: dict[int, str]
    side_of: dict[int, str]
    pseudonyms: dict[int, str]
    votes: Votes
    digest: str

    def criterion_slice(self, place: int) -> str:
        """The name of the slice of the decisions on one criterion; empty where no rubric holds it."""
        case = self.joined.frame.cases[int(self.joined.frame.criterion_case[place])]
        return f"criterion:{case.key}/{self.positions[place]}" if self.positions[place] else ""


def read_items(benchmark: Benchmark, rater_a: str, rater_b: str) -> Items:
    """Read all inputs; `scoring.selectors.raters.UnknownRater` where a rater does not exist. The number of queries does
    not depend on the size.
    """
    joined = join(benchmark, rater_a, rater_b)
    frame, params = joined.frame, {"benchmark": benchmark.pk}
    with connection.cursor() as cursor:
        cursor.execute(_CRITERIA, params)
        newest = {row[0]: row[1:] for row in cursor.fetchall()}
        cursor.execute(_RESPONSES, params)
        responses = cursor.fetchall()
    criteria = [newest.get(pk, (0, 1, (), "")) for pk in frame.criterion_ids.tolist()]
    side_of, groups = groups_among(benchmark, joined.rater_a, joined.rater_b)
    votes = _votes(benchmark, groups)
    pseudonyms = dict(Physician.objects.filter(benchmark=benchmark).order_by("pk").values_list("pk", "pseudonym"))
    languages = dict(Case.objects.filter(benchmark=benchmark).values_list("pk", "language"))
    labels: dict[str, Any] = {
        "positions": [row[0] for row in criteria],
        "texts": [row[3] for row in criteria],
        "tags": [tuple(row[2]) for row in criteria],
        "response_ids": [row[0] for row in responses],
        "languages": [languages[pk] for pk in frame.case_ids.tolist()],
        "pseudonyms": {pk: name for pk, name in pseudonyms.items() if pk in set(votes.physician.tolist())},
    }
    points = np.array([row[1] for row in criteria], dtype=np.int64)
    lengths = np.array([row[1] for row in responses], dtype=np.int64)
    return Items(
        joined=joined,
        points=points,
        response_lengths=lengths,
        groups=groups,
        side_of=side_of,
        votes=votes,
        digest=_digest(joined, labels, groups, points, lengths, votes),
        **labels,
    )


def groups_among(benchmark: Benchmark, rater_a: Rater, rater_b: Rater) -> tuple[dict[int, str], dict[int, str]]:
    """Which rater each group among them is (a or b), and the groups' names; a group that is both is listed as a."""
    known = {group.name: group.pk for group in ExpertGroup.objects.filter(benchmark=benchmark).order_by("pk")}
    side_of: dict[int, str] = {}
    for side, rater in (("a", rater_a), ("b", rater_b)):
        kind, _colon, name = rater.label.partition(":")
        base, _at, stage = name.rpartition("@")
        name = base if stage in STAGES else name
        if kind == "group" and name in known:
            side_of.setdefault(known[name], side)
    return side_of, {pk: name for name, pk in known.items() if pk in side_of}


def _votes(benchmark: Benchmark, groups: dict[int, str]) -> Votes:
    columns = copy_columns(
        _VOTES,
        {"benchmark": benchmark.pk, "groups": list(groups)},
        types={
            **dict.fromkeys(("physician", "group", "response", "criterion"), "int8"),
            **dict.fromkeys(("outcome", "noted", "borderline"), "int2"),
        },
    )
    votes = Votes(**columns)
    gone = superseded.marked(votes.criterion, benchmark.pk)
    return votes if gone is None else votes.chosen(~gone)


def _digest(
    joined: Joined, labels: dict[str, Any], groups: dict[int, str], points: Ints, lengths: Ints, votes: Votes
) -> str:
    """SHA-256 over everything that a figure or a name in a table depends on. Of cases, responses and criteria only
    those with a decision go in, so that adding others does not make a report stale.
    """
    frame, pairs = joined.frame, joined.pairs
    responses = np.unique(frame.response_places(np.concatenate([pairs.response, votes.response])))
    criteria = np.unique(frame.criterion_places(np.concatenate([pairs.criterion, votes.criterion])))
    touched = {
        **dict.fromkeys(("positions", "texts", "tags"), criteria),
        "response_ids": responses,
        "languages": np.unique(frame.response_case[responses]),
    }
    named: dict[str, Any] = {name: [labels[name][place] for place in places] for name, places in touched.items()}
    named |= {"groups": sorted(groups.items()), "pseudonyms": sorted(labels["pseudonyms"].items())}
    sha = hashlib.sha256(joined.digest.encode() + json.dumps(named, sort_keys=True).encode())
    columns = (points[criteria], lengths[responses], *(getattr(votes, name) for name in Votes.__dataclass_fields__))
    for column in columns:
        sha.update(len(column).to_bytes(8, "little") + np.ascontiguousarray(column, dtype="<i8").tobytes())
    return sha.hexdigest()
