"""Lint of a rubric: remarks that say where, why, and what to do. Pure: criteria in, remarks out.

Remarks block nothing: what must hold is in `rubrics.editor.rules` and `rubrics.editor.draft_content.unready`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from consilium.core.phrases import Phrase
from rubrics.lint.likeness import Reference, similarities
from rubrics.lint.remark import ADVICE, PROBLEM, Fix, Remark
from rubrics.lint.stance import contradictions, same_figures, same_stance
from rubrics.lint.wording import remarks_on

__all__ = ["ADVICE", "PROBLEM", "Fix", "Remark", "lint"]

# Cosines of two criteria of a rubric: above ``SAME`` they count the same thing twice, above ``ALIKE`` they may.
SAME, ALIKE = 0.9, 0.6


def lint(criteria: Sequence[tuple[str, str, int, Sequence[str]]], *, reference_answer: str = "") -> list[Remark]:
    """Remarks on ``criteria`` (id, text, points, tags), in their order; problems of a criterion before advice."""
    remarks: list[Remark] = []
    for name, text, points, tags in criteria:
        remarks += remarks_on(name, text, points, from_cluster=_of_a_cluster(tags))
    # Cluster criteria are left out, since they share their preamble.
    own = [(name, text, points) for name, text, points, tags in criteria if text.strip() and not _of_a_cluster(tags)]
    alike = list(_near_duplicates(own))
    known = {(remark.item, remark.other) for remark in alike if remark.rule == "opposite"}
    opposite = list(contradictions(own, reference_answer=reference_answer, known=known))
    pairs = {(remark.item, remark.other) for remark in opposite}
    remarks += [remark for remark in alike if (remark.item, remark.other) not in pairs]
    remarks += opposite
    remarks += _copied([(name, text) for name, text, _points, _tags in criteria], reference_answer)
    place = {name: index for index, (name, *_rest) in enumerate(criteria)}
    return sorted(remarks, key=lambda remark: (place[remark.item], remark.severity != PROBLEM))


def _of_a_cluster(tags: Sequence[str]) -> bool:
    return any(tag.startswith("cluster:") for tag in tags)


def _near_duplicates(texts: Sequence[tuple[str, str, int]]) -> Iterator[Remark]:
    """A remark on the later of two similar criteria (id, text, points); it names the earlier one most like it."""
    if len(texts) < 2:
        return
    alike = similarities([text for _name, text, _points in texts])
    for row in range(1, len(texts)):
        nearest = int(alike[row, :row].argmax())
        likeness = float(alike[row, nearest])
        if likeness < ALIKE:
            continue
        same = likeness >= SAME
        if texts[row][2] * texts[nearest][2] < 0 and not same_figures(texts[row][1], texts[nearest][1]):
            continue  # one dose is right, another one is wrong
        if texts[row][2] * texts[nearest][2] < 0 and same_stance(texts[row][1], texts[nearest][1]):
            yield Remark(
                *("opposite", PROBLEM if same else ADVICE, texts[row][0], 0, len(texts[row][1])),
                Phrase(
                    "It is nearly identical to an earlier criterion, but one adds points and the other deducts them."
                ),
                Phrase("Check the signs of their points, or make the difference clear in the text."),
                other=texts[nearest][0],
            )
            continue
        yield Remark(
            *("duplicate", PROBLEM if same else ADVICE, texts[row][0], 0, len(texts[row][1])),
            Phrase("It has the same meaning as an earlier criterion, so one error costs points twice.")
            if same
            else Phrase("It is close to an earlier criterion: one error may cost points twice."),
            Phrase("Merge them, or state how they differ."),
            other=texts[nearest][0],
        )


def _copied(texts: Sequence[tuple[str, str]], reference_answer: str) -> Iterator[Remark]:
    reference = Reference(reference_answer)
    for name, text in texts:
        run = reference.shared(text)
        if run is not None:
            yield Remark(
                *("copied", ADVICE, name, *run),
                Phrase("The wording is that of the reference answer; a good response uses its own words."),
                Phrase("State the fact that must be included, not the sentence."),
            )
