"""Exports physicians' decisions as training data for fine-tuning a language model as a judge.

Each decided (response, criterion) pair is a line ``{"instruction", "output"}``: the request that a chat judge with the
chosen prompt would be sent, and the answer that it should have given. The split is by candidate, as for a trained
judge, so that the fine-tuned judge can be measured on candidates that it never saw.

If wanted, `REQUESTS` has what the fine-tuned judge is to be asked: a line for each response and criterion, with the
columns by which ``import_verdicts`` finds them. `fine_tune.py` beside this module trains on the one and answers the
other.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Collate
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from annotation.models import ExpertGroup
from annotation.selectors.ratings import faulty_pairs
from consilium.core.errors import Conflict, DomainError
from consilium.core.ratings import Ratings
from consilium.core.version import VERSION
from consilium.llm.prompts import TEMPLATES, JudgeItem, Template, messages_for, nonce_for, prompt_hash
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark, Candidate, Criterion, Response, RubricItem
from scoring.trained.training_data import DEV_SHARE, LEFT_OUT, STAGE, Split, checked_ratings, split_candidates
from scoring.work.chat import nonce_key

PROMPT = "healthbench"
# Between the instructions and the question of a request, which are one text here.
JOINT = "\n\n"
RESPONSES_AT_ONCE = 200
MANIFEST = "manifest.json"
REQUESTS = "requests.jsonl"
FILES = ("train.jsonl", "dev.jsonl", REQUESTS, MANIFEST)
# Whose responses the requests are about.
REQUESTS_FOR = ("", "held-out", "all")

# The outcome of each annotator's decision after the check, and its explanation: the checker's reason where the
# outcome was amended, else the annotator's note. The conditions are those of stage `checked` in
# `annotation.selectors.ratings`.
_NOTES = """
    SELECT a.response_id, d.criterion_id, COALESCE(NULLIF(m.outcome, ''), d.outcome),
           CASE WHEN COALESCE(m.outcome, '') <> '' THEN m.reason ELSE d.note END
    FROM annotation_batch b
    JOIN annotation_assignment a ON a.batch_id = b.id
    JOIN annotation_decision d ON d.assignment_id = a.id AND d.round = a.round
    LEFT JOIN annotation_check c ON c.assignment_id = a.id AND c.round = a.round AND c.result = 'accepted'
    LEFT JOIN annotation_amendment m ON m.check_row_id = c.id AND m.criterion_id = d.criterion_id
    WHERE b.group_id = %(group)s AND a.response_id = ANY(%(responses)s)
      AND a.status = 'accepted' AND d.outcome IS NOT NULL AND a.purpose = 'work'
    ORDER BY a.submitted_at, a.id
"""


@dataclass(frozen=True, slots=True)
class SupervisionTerms:
    """What is to be written. Without ``held_out`` a quarter of the candidates is held out by the seed.

    ``candidates``: names of those whose responses are taken; empty for all that answered by themselves. ``requests``
    is one of `REQUESTS_FOR`: `REQUESTS` is written for the held-out candidates or for all of the split, or not at all.
    """

    group: str
    held_out: tuple[str, ...] = ()
    prompt: str = PROMPT
    seed: int = 0
    dev_share: float = DEV_SHARE
    candidates: tuple[str, ...] = ()
    requests: str = ""


@dataclass
class _Part:
    """A file that is being written, and the counts of what it holds so far."""

    candidates: tuple[str, ...]
    file: IO[bytes]
    digest: Any = field(default_factory=hashlib.sha256)
    size: int = 0
    met: int = 0
    not_met: int = 0

    def write(self, instruction: str, explanation: str, met: bool) -> None:
        answer = json.dumps({"explanation": explanation, "criteria_met": met}, ensure_ascii=False)
        line = json.dumps({"instruction": instruction, "output": answer}, ensure_ascii=False)
        data = f"{line}\n".encode()
        self.file.write(data)
        self.digest.update(data)
        self.size += len(data)
        self.met += met
        self.not_met += not met

    def counted(self, name: str) -> dict[str, Any]:
        return {
            "file": name,
            "sha256": self.digest.hexdigest(),
            "bytes": self.size,
            "rows": self.met + self.not_met,
            "met": self.met,
            "not_met": self.not_met,
            "candidates": list(self.candidates),
        }


@dataclass(frozen=True, slots=True, eq=False)
class _Source:
    """The decisions of a group, and whose response each is about; no texts."""

    benchmark: Benchmark
    group: ExpertGroup
    ratings: Ratings
    candidate: NDArray[np.int64]  # of each pair, by its place in `names`
    names: list[str]
    originals: set[str]  # the names of the candidates that answered by themselves

    def by(self, candidates: Collection[str]) -> NDArray[np.bool_]:
        """Which pairs are about responses of these candidates."""
        return np.isin(self.candidate, [place for place, name in enumerate(self.names) if name in candidates])

    def decided(self) -> NDArray[np.bool_]:
        """Which pairs are met or not met."""
        return np.isin(self.ratings.outcome, [Outcome.MET, Outcome.NOT_MET])

    def decided_names(self) -> set[str]:
        """The candidates with such pairs."""
        return {self.names[place] for place in np.unique(self.candidate[self.decided()]).tolist()}


def export_supervision(
    *, benchmark: Benchmark, terms: SupervisionTerms, out: Path, overwrite: bool = False
) -> dict[str, Any]:
    """Write `FILES` into the folder ``out`` (`REQUESTS` where the terms say so), all or none, and return the manifest.

    The same decisions and the same ``terms`` give the same bytes on the same installation. `DomainError` says what
    cannot be written, `Conflict` that the folder holds something already; ``overwrite`` replaces an earlier export and
    nothing else.
    """
    template = _template(terms.prompt)
    _check_folder(out, overwrite)
    partial = out.with_name(f".{out.name}.{secrets.token_hex(4)}.partial")
    partial.mkdir(parents=True)
    try:
        with transaction.atomic():  # for the cursor that the texts are read by
            manifest = _write(benchmark, terms, template, partial)
        _take_the_place(partial, out, overwrite)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return manifest


def _template(name: str) -> Template:
    if name not in TEMPLATES:
        raise DomainError(
            _("There is no prompt “%(name)s”. Prompts: %(known)s.")
            % {"name": name, "known": ", ".join(sorted(TEMPLATES))}
        )
    return TEMPLATES[name]


def _check_folder(out: Path, overwrite: bool) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise Conflict(_("“%(path)s” is a file. Specify a folder.") % {"path": out})
    names = {entry.name for entry in out.iterdir()}
    foreign = sorted(names - set(FILES))
    if foreign:
        raise Conflict(
            _("The folder “%(path)s” contains other files (%(name)s). Choose another folder.")
            % {"path": out, "name": foreign[0]}
        )
    if names and not overwrite:
        raise Conflict(
            _("The folder “%(path)s” is not empty. Use --overwrite to replace its contents.") % {"path": out}
        )


def _take_the_place(partial: Path, out: Path, overwrite: bool) -> None:
    if not out.exists():
        partial.rename(out)
        return
    _check_folder(out, overwrite)  # it may have changed meanwhile
    old = partial.with_name(f"{partial.name}.old")
    out.rename(old)
    partial.rename(out)
    shutil.rmtree(old)


def _write(benchmark: Benchmark, terms: SupervisionTerms, template: Template, folder: Path) -> dict[str, Any]:
    source = _read_source(benchmark, terms.group)
    split = _split(source, terms)
    used = source.by([*split.train, *split.dev])
    left_out = Counter(source.ratings.outcome[used & ~source.decided()].tolist())
    with (folder / FILES[0]).open("wb") as train, (folder / FILES[1]).open("wb") as dev:
        parts = {"train": _Part(split.train, train), "dev": _Part(split.dev, dev)}
        part_of = {name: part for part in parts.values() for name in part.candidates}
        for candidate, instruction, explanation, met in _lines(source, template, [*part_of]):
            part_of[candidate].write(instruction, explanation, met)
    requested = {"": (), "held-out": split.held_out, "all": (*split.train, *split.dev, *split.held_out)}[terms.requests]
    manifest: dict[str, Any] = {
        "benchmark": benchmark.slug,
        "canary": benchmark.canary,
        "group": source.group.name,
        "stage": STAGE,
        "prompt": {
            "name": template.name,
            "sha256": prompt_hash(template, benchmark.rule_sheet),
            "joint": JOINT,
            "system_characters": _system_characters(template, benchmark.rule_sheet),
        },
        "seed": terms.seed,
        "dev_share": terms.dev_share,
        "parts": {name: part.counted(file) for (name, part), file in zip(parts.items(), FILES[:2], strict=True)},
        "held_out": {
            "candidates": list(split.held_out),
            "decisions": int((source.by(split.held_out) & source.decided()).sum()),
        },
        "left_out": {word: left_out[code] for code, word in LEFT_OUT.items()},
        "left_out_candidates": sorted(source.decided_names() - {*split.train, *split.dev, *split.held_out}),
        "software": f"consilium {VERSION}",
    }
    if requested:
        manifest["requests"] = _write_requests(benchmark, template, requested, folder)
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8", newline="\n")
    return manifest


def _write_requests(
    benchmark: Benchmark, template: Template, candidates: Sequence[str], folder: Path
) -> dict[str, Any]:
    """Write `REQUESTS`: every criterion of the published gold rubric on every response of these candidates."""
    digest, size, rows = hashlib.sha256(), 0, 0
    with (folder / REQUESTS).open("wb") as file:
        for request in _requests(benchmark, template, candidates):
            data = f"{json.dumps(request, ensure_ascii=False)}\n".encode()
            file.write(data)
            digest.update(data)
            size += len(data)
            rows += 1
    names = sorted(candidates)
    return {"file": REQUESTS, "sha256": digest.hexdigest(), "bytes": size, "rows": rows, "candidates": names}


def _requests(benchmark: Benchmark, template: Template, candidates: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The requests in the order of `_lines`; excluded cases and cases without a published rubric have none."""
    items: dict[int, list[tuple[int, str, int]]] = {}
    rows = RubricItem.objects.filter(
        rubric__case__benchmark=benchmark,
        rubric__case__excluded_at=None,
        rubric__track="gold",
        rubric__status="published",
    ).order_by("rubric__case_id", "position")
    for case, position, text, points in rows.values_list(
        "rubric__case_id", "position", "criterion__text", "points"
    ).iterator():
        items.setdefault(case, []).append((position, text, points))
    key = nonce_key()
    for response in _responses_of(benchmark, candidates):
        for position, text, points in items.get(response.case_id, ()):
            yield {
                "case": response.case.key,
                "candidate": response.candidate.name,
                "setting": response.setting,
                "sample": response.sample,
                "criterion": position,
                "instruction": _instruction(template, benchmark, response, text, points, key),
            }


def _system_characters(template: Template, rule_sheet: str) -> int:
    """How many characters (code points) of every instruction are the system message: the same for all of them."""
    empty = JudgeItem(conversation=[], response="", criterion="", rule_sheet=rule_sheet)
    return len(messages_for(template, empty, nonce=nonce_for(empty, b""))[0]["content"])


def _read_source(benchmark: Benchmark, group_name: str) -> _Source:
    group = ExpertGroup.objects.filter(benchmark=benchmark, name=group_name).first()
    if group is None:
        raise DomainError(
            _("There is no expert group “%(group)s” in this benchmark.") % {"group": group_name}, field="group"
        )
    ratings = checked_ratings(group, faulty_pairs(benchmark))
    rows = Candidate.objects.filter(benchmark=benchmark)
    known = dict(rows.order_by("pk").values_list("pk", "name"))
    originals = set(rows.originals().values_list("name", flat=True))
    given = Response.objects.filter(case__benchmark=benchmark).order_by("pk").values_list("pk", "candidate_id")
    response, by = np.fromiter(chain.from_iterable(given.iterator()), np.int64).reshape(-1, 2).T
    candidate = by[np.searchsorted(response, ratings.response)]
    place = np.searchsorted(list(known), candidate)
    source = _Source(benchmark, group, ratings, place, list(known.values()), originals)
    if not source.decided().any():
        raise DomainError(
            _("“%(group)s” has no accepted decisions yet, so there is nothing to learn from.") % {"group": group_name}
        )
    return source


def _split(source: _Source, terms: SupervisionTerms) -> Split:
    if not 0 < terms.dev_share < 1:
        raise DomainError(_("The share of candidates for dev must be between 0 and 1."))
    if terms.seed < 0:
        raise DomainError(_("A seed must be a whole number of at least 0."))
    unknown = sorted({*terms.held_out, *terms.candidates} - set(source.names))
    if unknown:
        field = "held_out" if unknown[0] in terms.held_out else "candidates"
        message = _("The candidate “%(name)s” does not exist in this benchmark.") % {"name": unknown[0]}
        raise DomainError(message, field=field)
    candidates = source.decided_names() & (set(terms.candidates) or source.originals)
    rest = candidates - set(terms.held_out)
    if len(rest) < (2 if terms.held_out else 3):
        raise DomainError(
            _(
                "Apart from the held-out candidates, at least two must have decisions of this group: one "
                "for training and one for dev. In total there are %(n)s."
            )
            % {"n": len(candidates)}
        )
    names = sorted(candidates | set(terms.held_out))
    return split_candidates(names, terms.held_out, terms.seed, dev_share=terms.dev_share)


def _lines(source: _Source, template: Template, candidates: Sequence[str]) -> Iterator[tuple[str, str, str, bool]]:
    """(candidate, instruction, explanation, met) by case, candidate, setting, sample and place in the rubric.

    Texts are read a few responses at a time.
    """
    responses = _responses_of(source.benchmark, candidates)
    key = nonce_key()
    while chunk := list(islice(responses, RESPONSES_AT_ONCE)):
        pairs = _pairs_of(source, chunk)
        places = _places({criterion for decided in pairs.values() for criterion, _met in decided})
        notes = _notes(source.group, [response.pk for response in chunk])
        for response in chunk:
            for criterion, met in sorted(pairs[response.pk], key=lambda pair: places[pair[0]][:2]):
                _position, text, points = places[criterion]
                instruction = _instruction(template, source.benchmark, response, text, points, key)
                yield response.candidate.name, instruction, notes.get((response.pk, criterion, met), ""), met


def _responses_of(benchmark: Benchmark, candidates: Sequence[str]) -> Iterator[Response]:
    """By case, candidate, setting and sample; the order is that of code points, whatever the database sorts by."""
    return (
        Response.objects.filter(case__benchmark=benchmark, candidate__name__in=candidates)
        .select_related("case", "candidate")
        .order_by(*(Collate(F(name), "C") for name in ("case__key", "candidate__name", "setting")), "sample")
        .iterator(chunk_size=RESPONSES_AT_ONCE)
    )


def _instruction(
    template: Template, benchmark: Benchmark, response: Response, criterion: str, points: int, key: bytes
) -> str:
    """What a chat judge with the prompt would be sent about a criterion, as one text."""
    item = JudgeItem(
        conversation=response.case.conversation,
        response=response.text,
        criterion=criterion,
        points=points,
        rule_sheet=benchmark.rule_sheet,
    )
    return JOINT.join(message["content"] for message in messages_for(template, item, nonce=nonce_for(item, key)))


def _pairs_of(source: _Source, responses: Sequence[Response]) -> dict[int, list[tuple[int, bool]]]:
    """The decided (criterion, met) of each response."""
    ratings = source.ratings
    pairs: dict[int, list[tuple[int, bool]]] = {}
    for response in responses:
        start, end = np.searchsorted(ratings.response, [response.pk, response.pk + 1])
        outcomes = zip(ratings.criterion[start:end].tolist(), ratings.outcome[start:end].tolist(), strict=True)
        pairs[response.pk] = [
            (criterion, outcome == Outcome.MET)
            for criterion, outcome in outcomes
            if outcome in (Outcome.MET, Outcome.NOT_MET)
        ]
    return pairs


def _places(criteria: set[int]) -> dict[int, tuple[int, str, int]]:
    """Position, text and points of each criterion in the published gold rubric, as a run would ask. If that no longer
    has the criterion, the newest rubric that has it is used.
    """
    rows = RubricItem.objects.filter(criterion__in=criteria).values_list(
        "criterion", "position", "points", "rubric__track", "rubric__status", "rubric"
    )
    # The one that counts comes last and stays.
    ordered = sorted(rows, key=lambda row: (row[3] == "gold", row[4] == "published", row[5]))
    place = {criterion: (position, points) for criterion, position, points, *_which in ordered}
    texts = Criterion.objects.filter(pk__in=criteria).values_list("pk", "text")
    return {pk: (place.get(pk, (0, 1))[0], text, place.get(pk, (0, 1))[1]) for pk, text in texts}


def _notes(group: ExpertGroup, responses: list[int]) -> dict[tuple[int, int, bool], str]:
    """By (response, criterion, met): the first note among the annotators with that outcome."""
    notes: dict[tuple[int, int, bool], str] = {}
    with connection.cursor() as cursor:
        cursor.execute(_NOTES, {"group": group.pk, "responses": responses})
        for response, criterion, outcome, note in cursor.fetchall():
            if outcome in (Outcome.MET.word, Outcome.NOT_MET.word) and note.strip():
                notes.setdefault((response, criterion, outcome == Outcome.MET.word), note.strip())
    return notes


def write_zip(folder: Path, file: IO[bytes]) -> None:
    """The files of an export in ``folder`` as one ZIP; the same files give the same bytes."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in FILES:
            if not (folder / name).exists():
                continue  # requests that nobody asked for
            entry = zipfile.ZipInfo(name)  # without the time of day
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as target, (folder / name).open("rb") as source:
                shutil.copyfileobj(source, target)


def zipped_supervision(*, benchmark: Benchmark, terms: SupervisionTerms) -> IO[bytes]:
    """An export as a ZIP in a file without a name, ready to be read; gone when it is closed."""
    with tempfile.TemporaryDirectory(prefix="supervision-") as directory:
        folder = Path(directory) / "files"
        export_supervision(benchmark=benchmark, terms=terms, out=folder)
        file = tempfile.TemporaryFile()  # noqa: SIM115  # the response that sends it closes it
        try:
            write_zip(folder, file)
            file.seek(0)
        except BaseException:
            file.close()
            raise
    return file
