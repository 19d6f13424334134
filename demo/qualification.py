"""Keys of the demo: the set on which its annotators qualified before the study, and its gold items."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from accounts.models import User
from annotation.models import ExpertGroup, Involvement, KeyedResponse, Membership
from annotation.qualification.keys import CSV_COLUMNS, import_keys, set_rule
from annotation.qualification.services import start_attempt
from demo import SEED
from demo.physician_work import PhysicianWork
from demo.responses import DemoResponse, Span
from demo.simulator import MET, NOT_MET
from demo.story import Calendar
from rubrics.models import Benchmark, Candidate, Response

# The marks are below what a simulated physician reaches: nobody fails, and nobody's assignments are paused.
RULE: dict[str, object] = {"required": True, "pass_mark": 0.55, "attempts": 2, "gold_mark": 0.5, "gold_minimum": 60}
GOLD_PER_ANNOTATOR = 2
WHY = {
    "en": {MET: "The response states it: “{quote}”", NOT_MET: "Nothing in the response states it."},
    "zh": {MET: "回答中写明：“{quote}”", NOT_MET: "回答中没有这一内容。"},
}


def qualify_annotators(work: PhysicianWork, groups: Sequence[ExpertGroup], by: User, calendar: Calendar) -> None:
    """Keys from a made-up file, the rule, and one passed attempt of every annotator, before any batch was graded.

    Called once part 1 has been assigned: an annotator can qualify only on a response in which they have no part.
    """
    benchmark = groups[0].benchmark
    annotators = [user for group in groups for user in work.members(group, Membership.Role.ANNOTATOR)]
    unused = _unused_by(annotators, benchmark)
    chosen: set[int] = set()
    at = calendar.days_ago(54)
    for use, each in ((KeyedResponse.Use.QUALIFICATION, 1), (KeyedResponse.Use.GOLD, GOLD_PER_ANNOTATOR)):
        keys = _enough_for_all(annotators, unused, each, without=chosen)
        chosen |= set(keys)
        import_keys(benchmark=benchmark, file=_file(work, keys), use=use, by=by, at=at)
    set_rule(benchmark=benchmark, values=RULE)
    for group in groups:
        for user in work.members(group, Membership.Role.ANNOTATOR):
            _pass(work, group, user, calendar)


def _unused_by(annotators: Iterable[User], benchmark: Benchmark) -> dict[int, set[int]]:
    """Model response of an assigned case → the annotators who have no part in it."""
    responses = Response.objects.filter(case__benchmark=benchmark, candidate__kind=Candidate.Kind.MODEL)
    users = {user.pk for user in annotators}
    parts: dict[int, set[int]] = defaultdict(set)
    for response, user in Involvement.objects.filter(response__in=responses).values_list("response_id", "user_id"):
        parts[response].add(user)
    ordered = responses.filter(pk__in=parts).order_by("case__key", "candidate__name").values_list("pk", flat=True)
    return {response: users - parts[response] for response in ordered}


def _enough_for_all(
    annotators: Sequence[User], unused: Mapping[int, set[int]], each: int, *, without: set[int]
) -> list[int]:
    """The first responses that leave every annotator with at least ``each``, none of them in ``without``."""
    missing = dict.fromkeys((user.pk for user in annotators), each)
    responses = []
    for response, users in unused.items():
        helped = [user for user in users if missing[user] > 0]
        if response in without or not helped:
            continue
        responses.append(response)
        for user in helped:
            missing[user] -= 1
    assert not any(missing.values())
    return responses


def _file(work: PhysicianWork, responses: Iterable[int]) -> io.BytesIO:
    """The keys of the responses as a CSV file: how they were composed is the truth."""
    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_COLUMNS)
    writer.writeheader()
    for response in responses:
        writer.writerows(_rows(work.responses[response], work.cases[work.responses[response].case].language[:2]))
    return io.BytesIO(out.getvalue().encode())


def _rows(response: DemoResponse, language: str) -> Iterator[dict[str, object]]:
    for position, span in enumerate(response.met_spans, start=1):
        yield {
            "case": response.case,
            "candidate": response.candidate.name,
            "sample": response.candidate.sample,
            "criterion": position,
            "outcome": NOT_MET if span is None else MET,
            "explanation": _why(span, language),
        }


def _why(span: Span | None, language: str) -> str:
    return WHY[language][NOT_MET] if span is None else WHY[language][MET].format(quote=span.quote)


def _pass(work: PhysicianWork, group: ExpertGroup, user: User, calendar: Calendar) -> None:
    moment: datetime = calendar.days_ago(53) + timedelta(minutes=calendar.rng.randrange(120))
    attempt = start_attempt(user=user, group=group, at=moment, seed=SEED)
    for task in work.tasks(attempt.batch):
        ended = moment + calendar.grading(len(task.criteria))
        work.hand_in(task, start=moment, end=ended)
        moment = ended
    attempt.refresh_from_db()
    assert attempt.status == attempt.Status.PASSED, f"{user}: {attempt.mf1}"
