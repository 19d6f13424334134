"""Remarks on axes that no other criterion has: most are misspelled. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches

from consilium.core.phrases import Phrase
from rubrics.axes import AXES, PREFIX, axis_word
from rubrics.lint.remark import ADVICE, Remark

# The similarity of two names (`difflib.SequenceMatcher.ratio`) above which one may be meant by the other.
ALIKE = 0.8


def unknown_axes(tags: Sequence[str]) -> list[str]:
    """The axes among tags that are none of the common ones."""
    axes = [tag.removeprefix(PREFIX) for tag in tags if tag.startswith(PREFIX)]
    return [axis for axis in axes if axis not in AXES]


def axis_remarks(criteria: Sequence[tuple[str, Sequence[str]]], *, used: Collection[str]) -> Iterator[Remark]:
    """Remarks on ``criteria`` (id, tags) with an axis that is neither common nor ``used`` elsewhere in the benchmark.

    An axis like a known one is remarked on at each criterion, since each must be corrected; a new one at the first.
    """
    known = [*AXES, *sorted(used)]
    seen = set()
    for item, tags in criteria:
        for axis in unknown_axes(tags):
            if axis in used:
                continue
            [*meant] = get_close_matches(axis.casefold(), known, n=1, cutoff=ALIKE)
            if not meant and axis in seen:
                continue
            seen.add(axis)
            why = Phrase("No other rubric of this benchmark has the axis “%(axis)s”.", axis=axis_word(axis))
            advice = (
                Phrase("Check its spelling: “%(axis)s” is a known axis.", axis=axis_word(meant[0]))
                if meant
                else Phrase("Check its spelling. Results by axis show a new axis separately.")
            )
            yield Remark("axis", ADVICE, item, 0, 0, why, advice)
