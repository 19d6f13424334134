"""What a report on failures reads: the codes that each rater gave to each response, and what is known of responses."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from agreement.reports.parameters import WrongParameters
from annotation.codes.batches import code_question
from annotation.codes.selectors import Coding, codings_of, newest_coded_book, rulings_of
from annotation.models import ExpertGroup, Physician
from rubrics.codes.code import Code
from rubrics.models import Benchmark, CodeBook, Response
from scoring.coding.selectors import JudgeCoding, coding_by, counting_runs, newest_book_of_judges
from scoring.scores.grid import grid_of
from scoring.scores.points import DEFAULT_RULES
from scoring.scores.sheet import Slice, read_sheet
from scoring.selectors.raters import Rater, resolve_rater

FINAL = "final"
JUDGE = "judge:"
ABSENT, PRESENT, UNKNOWN = 0, 1, -1
Marks = NDArray[np.int8]  # (responses, codes): PRESENT, ABSENT, or UNKNOWN where the rater gave no answer


@dataclass(frozen=True)
class FailureInputs:
    """Responses in the order of their ids, with the marks of each rater by its name."""

    book: CodeBook
    codes: tuple[Code, ...]
    response: NDArray[np.int64]
    case: NDArray[np.int64]  # a number of each response's case, from 0
    candidate: tuple[str, ...]  # of each response
    slices: tuple[tuple[str, ...], ...]  # of each response
    marks: Mapping[str, Marks]
    counts: NDArray[np.int64]  # (responses, codes, 2): physicians who left out and who marked the code
    accuracy: NDArray[np.float64]  # Rubric Accuracy as a share, NaN where there is none
    judges: Mapping[str, JudgeCoding]  # by the names of raters

    @property
    def n_cases(self) -> int:
        """How many cases the responses belong to."""
        return int(self.case.max()) + 1 if len(self.case) else 0

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that a report reads."""
        sha = hashlib.sha256(self.book.digest.encode())
        for name, marks in sorted(self.marks.items()):
            sha.update(f"\n{name}\n".encode())
            sha.update(marks.tobytes())
        for name, judge in self.judges.items():
            sha.update(f"\n{name} {judge.run.public_id} {judge.n_invalid} {judge.n_failed}".encode())
        for array in (self.response, self.case, np.nan_to_num(self.accuracy, nan=-1.0)):
            sha.update(np.ascontiguousarray(array).tobytes())
        sha.update(json.dumps([self.candidate, self.slices], ensure_ascii=False).encode())
        return sha.hexdigest()


def book_called(benchmark: Benchmark, version: Any) -> CodeBook:
    """The version of the code book that a report is about; `WrongParameters` where it is not in use.

    By default the newest by which a physician has coded; where none has, the newest by which a judge has.
    """
    books = CodeBook.objects.filter(benchmark=benchmark, used_at__isnull=False).order_by("-version")
    if version in (None, ""):
        book = newest_coded_book(benchmark) or newest_book_of_judges(benchmark) or books.first()
    else:
        number = int(version) if str(version).isascii() and str(version).isdigit() and len(str(version)) < 10 else -1
        book = books.filter(version=number).first()
    if book is None:
        message = _("“code_book” does not name a version of the code book that was used.")
        raise WrongParameters(message, field="parameters.code_book")
    return book


def rater_labels(book: CodeBook) -> list[str]:
    """The raters who coded by a version, as parameters and files name them: final codes, groups, physicians, judges.

    A judge is known by the run that counts for it (`counting_runs`).
    """
    question = code_question(book)
    codings = codings_of(question) if question else []
    groups, people = _names(book)
    return [
        *([FINAL] if codings else []),
        *sorted({f"group:{groups[coding.group]}" for coding in codings}),
        *sorted({f"physician:{people[coding.coder]}" for coding in codings}),
        *(f"{JUDGE}{name}" for name in counting_runs(book)),
    ]


def most_in_common(book: CodeBook) -> tuple[str, str] | None:
    """The two physicians who coded the most responses in common, by their labels; None where no two coded the same."""
    question = code_question(book)
    _groups, people = _names(book)
    coded: dict[str, set[int]] = defaultdict(set)
    for coding in codings_of(question) if question else []:
        coded[f"physician:{people[coding.coder]}"].add(coding.response)
    shared = {pair: len(coded[pair[0]] & coded[pair[1]]) for pair in combinations(sorted(coded), 2)}
    most = max(shared, key=lambda pair: shared[pair], default=None)
    return most if most and shared[most] else None


def is_part(book: CodeBook, part: str, whole: str) -> bool:
    """Whether the codes of one rater are made from those of another: final codes of all physicians, a group's of its
    members. A judge is a part of none.
    """
    if whole == FINAL:
        return not part.startswith(JUDGE)
    question = code_question(book)
    if question is None or not whole.startswith("group:") or not part.startswith("physician:"):
        return False
    groups, people = _names(book)
    return any(
        f"group:{groups[coding.group]}" == whole and f"physician:{people[coding.coder]}" == part
        for coding in codings_of(question)
    )


def _names(book: CodeBook) -> tuple[dict[int, str], dict[int, str]]:
    groups = dict(ExpertGroup.objects.filter(benchmark=book.benchmark_id).values_list("pk", "name"))
    people = dict(Physician.objects.filter(benchmark=book.benchmark_id).values_list("user_id", "pseudonym"))
    return groups, people


def coding_judges(parameters: Mapping[str, Any]) -> list[str]:
    """The names of the judges that a report compares or counts; it reads the codes of no others."""
    raters = {str(parameters.get(name) or "") for name in ("rater_a", "rater_b", "counted")}
    return sorted(rater.removeprefix(JUDGE) for rater in raters if rater.startswith(JUDGE))


def read_failures(
    benchmark: Benchmark, book: CodeBook, graded_by: str = "", judges: Sequence[str] = ()
) -> tuple[FailureInputs, Rater | None]:
    """The inputs with the codes of ``judges``, and the rater by whose decisions coverage is low or not, or None."""
    question = code_question(book)
    codings = codings_of(question) if question else []
    rulings = rulings_of(question) if question else {}
    counting = counting_runs(book) if judges else {}
    coded_by = {f"{JUDGE}{name}": coding_by(counting[name]) for name in judges if name in counting}
    codes = tuple(book.entries)
    coded = {coding.response for coding in codings}.union(*(judge.codes for judge in coded_by.values()))
    ids = np.array(sorted(coded), dtype=np.int64)
    place = {int(pk): at for at, pk in enumerate(ids)}
    rows: dict[int, list[Any]] = {
        pk: own
        for pk, *own in Response.objects.filter(pk__in=ids.tolist()).values_list(
            "pk", "case_id", "candidate__name", "case__difficulty", "case__tags", "case__label_tags"
        )
    }
    facts: list[list[Any]] = [rows[int(pk)] for pk in ids]
    _cases, case = np.unique(np.array([own[0] for own in facts], dtype=np.int64), return_inverse=True)
    marks, counts = _marks_of(book, codes, codings, rulings, place)
    marks |= {name: _marks_of_judge(judge, codes, place) for name, judge in coded_by.items()}
    rater = resolve_rater(benchmark, graded_by) if graded_by else None
    return (
        FailureInputs(
            book=book,
            codes=codes,
            response=ids,
            case=case.astype(np.int64),
            candidate=tuple(own[1] for own in facts),
            slices=tuple(_slices(*own[2:]) for own in facts),
            marks=marks,
            counts=counts,
            accuracy=_accuracy(benchmark, rater, ids, {own[1] for own in facts}),
            judges=coded_by,
        ),
        rater,
    )


def _slices(difficulty: str, tags: Sequence[str], label_tags: Sequence[str]) -> tuple[str, ...]:
    own = [tag for tag in (*tags, *label_tags) if tag.startswith("theme:")]
    return tuple(dict.fromkeys([*own, *([f"difficulty:{difficulty}"] if difficulty else [])]))


def _marks_of(
    book: CodeBook,
    codes: Sequence[Code],
    codings: Sequence[Coding],
    rulings: Mapping[int, frozenset[str]],
    place: Mapping[int, int],
) -> tuple[dict[str, Marks], NDArray[np.int64]]:
    groups, people = _names(book)
    keys = [code.key for code in codes]
    shape = (len(place), len(keys))
    counts = np.zeros((*shape, 2), dtype=np.int64)
    of_group: dict[str, NDArray[np.int64]] = {}
    marks: dict[str, Marks] = {}
    for coding in codings:
        row = np.array([key in coding.codes for key in keys], dtype=np.int8)
        at = place[coding.response]
        own = marks.setdefault(f"physician:{people[coding.coder]}", np.full(shape, UNKNOWN, dtype=np.int8))
        own[at] = row
        votes = of_group.setdefault(f"group:{groups[coding.group]}", np.zeros((*shape, 2), dtype=np.int64))
        for table in (counts, votes):
            table[at, :, 0] += row == ABSENT
            table[at, :, 1] += row == PRESENT
    if not codings:
        return marks, counts
    final = majority(counts)
    for response, ruled in rulings.items():
        if response in place:
            final[place[response]] = [key in ruled for key in keys]
    named = {FINAL: final, **{name: majority(votes) for name, votes in sorted(of_group.items())}}
    return named | dict(sorted(marks.items())), counts


def _marks_of_judge(judge: JudgeCoding, codes: Sequence[Code], place: Mapping[int, int]) -> Marks:
    marks = np.full((len(place), len(codes)), UNKNOWN, dtype=np.int8)
    for response, given in judge.codes.items():
        marks[place[response]] = [code.key in given for code in codes]
    return marks


def majority(votes: NDArray[np.int64]) -> Marks:
    """What most say of each code; UNKNOWN where as many mark it as do not, or nobody answered."""
    difference = votes[..., 1] - votes[..., 0]
    return np.where(difference == 0, UNKNOWN, np.where(difference > 0, PRESENT, ABSENT)).astype(np.int8)


def _accuracy(
    benchmark: Benchmark, rater: Rater | None, ids: NDArray[np.int64], candidates: Collection[str]
) -> NDArray[np.float64]:
    """The Rubric Accuracy of each response by ``rater``, as scores count it; NaN where it has none."""
    shares = np.full(len(ids), np.nan)
    if rater is None or not len(ids):
        return shares
    sheet = read_sheet(benchmark, rater, named=candidates)
    grid = grid_of(sheet, [Slice("overall")], DEFAULT_RULES)
    hits, n_positive = grid.hits[0], grid.n_positive[0]
    known = grid.has_hits[0] & (n_positive > 0) & np.isin(sheet.response_ids, ids)
    shares[np.searchsorted(ids, sheet.response_ids[known])] = hits[known] / n_positive[known]
    return shares


def members_of(names: Sequence[str]) -> dict[str, list[int]]:
    """Name → places that have it, in the order of names."""
    places: dict[str, list[int]] = defaultdict(list)
    for at, name in enumerate(names):
        places[name].append(at)
    return dict(sorted(places.items()))
