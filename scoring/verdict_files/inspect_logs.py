"""Logs of Inspect (``.eval``), read by Inspect's own library, which is an extra: ``pip install inspect-ai``.

A sample of an evaluation after HealthBench's manner becomes an example of shape (d): its id (or ``prompt_id``) is the
case, the log's model the candidate, its epoch the sample, and the grades are those that its scorer kept beside the
score, as inspect_evals' HealthBench does in ``detailed_results``.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from consilium.core.phrases import Phrase
from rubrics.parsing.faults import Faults
from rubrics.parsing.reader import Limits, RecordReader
from scoring.verdict_files.elements import PlacedFaults

# Where scorers keep a grade for each criterion, in the metadata of their score.
GRADES = ("detailed_results", "criteria_results", "rubric_items")
SCORES = ("healthbench_score", "overall_score", "score")
# What is read of a sample; its events, messages and store are left where they are.
FIELDS = {"id", "epoch", "input", "output", "scores", "metadata", "error"}
LARGEST_SAMPLE_BYTES = 256 << 20

# A log as plain values: its model, then its samples.
PlainLog = tuple[str, Iterator[dict[str, Any]]]


class LibraryMissing(ImportError):
    """Inspect's library is not installed."""


class UnsoundLog(ValueError):
    """The file is no log of Inspect, or a damaged one."""


def open_log(file: BinaryIO, folder: str, *, limits: Limits | None = None) -> PlainLog:
    """The model of a log and its samples as plain values. Raises `LibraryMissing` and, while reading, `UnsoundLog`.

    The library reads files by name, so that ``file`` is copied into ``folder``, which must last as long as the samples.
    """
    try:
        from inspect_ai.log import read_eval_log, read_eval_log_samples
    except ImportError as error:
        raise LibraryMissing(str(error)) from error
    copy = Path(folder) / "log.eval"
    with copy.open("wb") as target:
        shutil.copyfileobj(file, target)
    _check_sizes(copy, limits or Limits())
    try:
        header = read_eval_log(copy, header_only=True, format="eval")
    except Exception as error:  # the library defines no exceptions of its own
        raise UnsoundLog(str(error)[:300]) from error

    def samples() -> Iterator[dict[str, Any]]:
        # Attachments are long texts that the log stores apart; resolving puts them back in their places.
        log_samples = read_eval_log_samples(copy, all_samples_required=False, resolve_attachments=True, format="eval")
        while True:
            try:
                sample = next(log_samples, None)
            except Exception as error:
                raise UnsoundLog(str(error)[:300]) from error
            if sample is None:
                return
            yield sample.model_dump(mode="json", include=FIELDS)

    return str(header.eval.model), samples()


def _check_sizes(path: Path, limits: Limits) -> None:
    """Refuse an archive that unpacks to more than a file may hold."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = [entry.file_size for entry in archive.infolist()]
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise UnsoundLog(str(error)) from error
    if sum(sizes) > limits.total_bytes or max(sizes, default=0) > LARGEST_SAMPLE_BYTES:
        raise UnsoundLog("it unpacks to more than is read")


def inspect_records(
    file: BinaryIO,
    faults: Faults,
    *,
    limits: Limits | None = None,
    progress: Callable[[int], None] | None = None,
    ungraded: Callable[[str], None] | None = None,
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(0, place, example) for each graded sample of a log; ``ungraded`` is called for the others. `LibraryMissing`."""
    with tempfile.TemporaryDirectory(prefix="consilium-inspect-") as folder:
        try:
            model, samples = open_log(file, folder, limits=limits)
            if progress is not None:
                progress(file.tell())
            yield from examples_of(model, samples, faults, limits=limits, ungraded=ungraded)
        except UnsoundLog as error:
            faults.add(0, "", Phrase("This is not a valid Inspect log: %(error)s.", error=str(error)))


def examples_of(
    model: str,
    samples: Iterable[dict[str, Any]],
    faults: Faults,
    *,
    limits: Limits | None = None,
    ungraded: Callable[[str], None] | None = None,
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Examples of shape (d) made of plain samples, each read again as strictly as a line of a file."""
    placed = PlacedFaults(faults)
    parser = RecordReader(io.BytesIO(), placed, limits=limits)
    graded = 0
    for sample in samples:
        name = f"{str(sample.get('id'))[:80]}/{sample.get('epoch', 1)}"
        placed.place = f"samples[{name}]"
        grading = _grades(sample, placed)
        if grading is None:
            if ungraded is not None:
                ungraded(name)
            continue
        graded += 1
        example = parser.parse(0, json.dumps(_example(model, sample, *grading)).encode())
        if example is not None:
            yield 0, placed.place, example
    if not graded and not faults.total:
        faults.add(0, "", Phrase("No scorer in this log recorded a grade for each criterion."))


def _grades(sample: dict[str, Any], faults: Faults) -> tuple[dict[str, Any], list[Any]] | None:
    """The score that keeps grades, and the grades; None where none does, and a fault where several do."""
    gradings = []
    for scorer, score in (sample.get("scores") or {}).items():
        metadata = score.get("metadata") or {}
        grades: list[Any] = next((metadata[name] for name in GRADES if isinstance(metadata.get(name), list)), [])
        if grades and all(isinstance(grade, dict) and "criterion" in grade for grade in grades):
            gradings.append((scorer, score, grades))
    if not gradings:
        return None
    if len(gradings) > 1:
        names = ", ".join(str(scorer) for scorer, _score, _grades in gradings)
        faults.add(0, "scores", Phrase("Several scorers recorded grades: %(names)s.", names=names))
    return gradings[0][1], gradings[0][2]


def _example(model: str, sample: dict[str, Any], score: dict[str, Any], grades: list[dict[str, Any]]) -> dict[str, Any]:
    metadata = sample.get("metadata") or {}
    tags = metadata.get("example_tags") if isinstance(metadata.get("example_tags"), list) else None
    rubric: list[Any] = metadata["rubrics"] if isinstance(metadata.get("rubrics"), list) else []
    items = []
    for index, grade in enumerate(grades):
        same = rubric[index] if index < len(rubric) and isinstance(rubric[index], dict) else {}
        known = same if same.get("criterion") == grade["criterion"] else {}
        own = grade.get("tags", known.get("tags"))
        items.append(
            {
                "criterion": grade["criterion"],
                "points": grade.get("points", known.get("points")),
                # inspect_evals writes the case's tags on each criterion as well.
                "tags": [tag for tag in own if tag not in (tags or ())] if isinstance(own, list) else own,
                "criteria_met": grade.get("met", grade.get("criteria_met")),
                "explanation": grade.get("explanation"),
            }
        )
    epoch = sample.get("epoch")
    return {
        "prompt_id": metadata.get("prompt_id") or sample.get("id"),
        "candidate": model,
        "sample": epoch - 1 if isinstance(epoch, int) else 0,
        "prompt": _conversation(metadata.get("conversation") or sample.get("input")),
        "completion": (sample.get("output") or {}).get("completion"),
        "example_tags": tags,
        "rubric_items": items,
        "score": _stored_score(score),
    }


def _conversation(value: Any) -> Any:
    """The conversation with what Inspect adds to its turns taken away; a text is the user's one turn."""
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    if not isinstance(value, list):
        return None
    return [
        {name: turn.get(name) for name in ("role", "content")} if isinstance(turn, dict) else turn for turn in value
    ]


def _stored_score(score: dict[str, Any]) -> float | None:
    value = score.get("value")
    if isinstance(value, dict):
        value = next((value[name] for name in SCORES if name in value), None)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
