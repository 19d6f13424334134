"""Two groups that code responses of two candidates by the starter code book."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from accounts.models import User
from annotation.codes.batches import CodingTerms, make_coding_batch
from annotation.labels.services import AnswerInput, save_answer, submit_labels
from annotation.models import Batch, ExpertGroup, LabelAnswer, LabelQuestion, LabelTask
from rubrics.codes.services import adopt_starter
from rubrics.models import Benchmark, CodeBook, Response
from tests.factories import (
    BenchmarkFactory,
    CandidateFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    UserFactory,
)

TEXT = "Take two tablets. It is certainly harmless."


@dataclass
class CodingWorld:
    benchmark: Benchmark
    admin: User
    book: CodeBook
    groups: tuple[ExpertGroup, ExpertGroup]
    responses: dict[str, Response]  # by "case candidate"
    batches: tuple[Batch, ...]

    @property
    def question(self) -> LabelQuestion:
        return LabelQuestion.objects.get(code_book=self.book)

    def task(self, name: str, group: int = 0, place: int = 0) -> LabelTask:
        rows = LabelTask.objects.filter(batch=self.batches[group], response=self.responses[name])
        return rows.select_related("annotator", "batch", "response").order_by("annotator")[place]

    def code(self, task: LabelTask, *codes: str, submit: bool = True, **more: Any) -> LabelAnswer:
        """The codes, each without evidence, or none of these."""
        given = [{"code": code, "criterion": None, "evidence": []} for code in codes]
        version = LabelAnswer.objects.filter(task=task).values_list("version", flat=True).first() or 0
        change = AnswerInput(
            question=self.question.public_id,
            value="coded" if codes else "none",
            codes=more.pop("given", given),
            version=version,
            **more,
        )
        saved = save_answer(task=task, annotator=task.annotator, change=change, at=timezone.now())
        if submit:
            submit_labels(task=task, annotator=task.annotator, at=timezone.now())
        return saved

    def say(self, name: str, *answers: Iterable[str], group: int = 0) -> None:
        """What the coders of a group give to a response, in their order."""
        for place, codes in enumerate(answers):
            self.code(self.task(name, group, place), *codes)


def build_coding(
    *,
    cases: str = "ab",
    coders: int = 2,
    groups: int = 1,
    criteria: bool = False,
    texts: Mapping[str, str] | None = None,
) -> CodingWorld:
    """All responses of each case, two each, for all annotators of each group; adjudicators are in both groups.

    ``texts`` of responses by "case candidate"; others have `TEXT`.
    """
    admin = UserFactory()
    benchmark = BenchmarkFactory(slug="ward", admin=admin)
    candidates = [CandidateFactory(benchmark=benchmark, name=name) for name in ("alpha", "beta")]
    responses = {}
    for key in cases:
        case = CaseFactory(benchmark=benchmark, key=key)
        for candidate in candidates:
            name = f"{key} {candidate.name}"
            responses[name] = ResponseFactory(case=case, candidate=candidate, text=(texts or {}).get(name, TEXT))
    both = tuple(ExpertGroupFactory(benchmark=benchmark, name=name, annotators=coders, adjudicators=1) for name in "AB")
    book = adopt_starter(benchmark=benchmark, by=admin, at=timezone.now())
    batches = tuple(
        make_coding_batch(
            group=group,
            book=book,
            terms=CodingTerms(title=f"Failures {group.name}", coders=coders, seed=3, criteria=criteria),
            by=admin,
            at=timezone.now(),
        )
        for group in both[:groups]
    )
    return CodingWorld(benchmark, admin, book, (both[0], both[1]), responses, batches)
