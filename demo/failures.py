"""Made-up coding of failures: one physician of each group marks what 24 made-up responses show, and a ruling follows.

The responses are composed of sentences about criteria, so nothing in them is a failure of its own. Which failures one
is said to show is drawn by how much of its case it covers; each physician then sees most of them, and now and then one
more.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from accounts.models import User
from annotation.codes.batches import CodingTerms, make_coding_batch
from annotation.codes.rulings import request_code_rulings, rule_on_codes
from annotation.labels.services import AnswerInput, save_answer, submit_labels
from annotation.models import Batch, CodeRuling, ExpertGroup, LabelTask
from annotation.services import close_batch
from demo import SEED
from demo.acuity import keyed_draw
from demo.responses import CANDIDATES, DemoResponse
from rubrics.codes.code import NONE_OF_THESE
from rubrics.codes.services import adopt_starter
from rubrics.models import Benchmark

SIZE = 24
TITLE = "Failures"
# How often a response shows a failure, where it covers none of its case and where it covers all of it.
RATES = {
    "omitted-content": (0.95, 0.05),
    "missing-context": (0.6, 0.15),
    "overconfidence": (0.45, 0.1),
    "unsafe-advice": (0.25, 0.02),
    "excessive-hedging": (0.05, 0.25),
}
SENTENCE = re.compile(r"[A-Z][^.\n]{20,}\.?")  # that shows a failure: the first with some words
OMISSIONS = ("omitted-content", "missing-context")  # no words show them
SEEN_RATE = 0.85  # of the failures that a response shows, by a physician
EXTRA_RATE = 0.04  # of the others
NOTE = "Made up: the two physicians differ, and the words decide."


def code_failures(
    demo: Benchmark,
    groups: Sequence[ExpertGroup],
    responses: Sequence[DemoResponse],
    people: Mapping[str, User],
    start: datetime,
) -> None:
    """Both groups code the same responses; the first group's adjudicator has ruled on half of those that differ."""
    admin = people["admin@example.org"]
    book = adopt_starter(benchmark=demo, by=admin, at=start)
    shown = {response.key: failures_of(response) for response in responses}
    batches: list[Batch] = []
    for group in groups:
        terms = CodingTerms(
            title=TITLE,
            coders=1,
            seed=SEED,
            size=None if batches else SIZE,
            candidates=tuple(candidate.name for candidate in CANDIDATES),
            same_as=batches[0].public_id if batches else "",
        )
        batches.append(make_coding_batch(group=group, book=book, terms=terms, by=admin, at=start))
        _hand_in(batches[-1], shown, start)
        close_batch(batch=batches[-1], at=start + timedelta(days=2))
    question = demo.label_questions.get(code_book=book)
    requested_at = start + timedelta(days=2, hours=1)
    request_code_rulings(group=groups[0], question=question, seed=SEED, by=admin, at=requested_at)
    rulings = list(CodeRuling.objects.filter(question=question).select_related("response__case", "response__candidate"))
    adjudicator = people["adjudicator-a@example.org"]
    for number, ruling in enumerate(rulings[: len(rulings) // 2]):
        own = ruling.response
        codes = sorted(shown[f"{own.case.key}/{own.candidate.name}/{own.sample}"]) or [NONE_OF_THESE]
        at = requested_at + timedelta(hours=2, minutes=3 * number)
        rule_on_codes(ruling=ruling, adjudicator=adjudicator, codes=codes, note=NOTE, at=at)


def failures_of(response: DemoResponse) -> frozenset[str]:
    """The failures that a made-up response shows."""
    covered = sum(response.truth) / len(response.truth)
    return frozenset(
        code
        for code, (lowest, highest) in RATES.items()
        if _draw("failure", response.key, code).random() < lowest + covered * (highest - lowest)
    )


def _hand_in(batch: Batch, shown: Mapping[str, frozenset[str]], start: datetime) -> None:
    question = batch.frame["questions"][0]
    tasks = LabelTask.objects.filter(batch=batch).select_related(
        "annotator", "batch", "case", "response__case", "response__candidate"
    )
    for number, task in enumerate(tasks.order_by("annotator__email", "position")):
        response = task.response
        assert response is not None
        key = f"{response.case.key}/{response.candidate.name}/{response.sample}"
        codes = _marked(task.annotator.email, key, shown[key])
        sentence = SENTENCE.search(response.text)
        evidence = [{"start": sentence.start(), "end": sentence.end()}] if sentence else []
        given = [{"code": code, "criterion": None, "evidence": [] if code in OMISSIONS else evidence} for code in codes]
        at = start + timedelta(hours=1, minutes=4 * number)
        change = AnswerInput(question=question, value="coded" if given else NONE_OF_THESE, codes=given)
        save_answer(task=task, annotator=task.annotator, change=change, at=at)
        submit_labels(task=task, annotator=task.annotator, at=at + timedelta(seconds=90))


def _marked(email: str, key: str, shown: frozenset[str]) -> list[str]:
    return [
        code
        for code in RATES
        if _draw("marks", email, key, code).random() < (SEEN_RATE if code in shown else EXTRA_RATE)
    ]


def _draw(*names: str) -> random.Random:
    return keyed_draw(SEED, *names)
