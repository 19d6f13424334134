"""A case of a release with its published rubric, as plain data; the two forms are written from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rubrics.editor.citation import Citation
from rubrics.parsing import as_imported


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """A citation of a criterion: its locator, and the citation, None where this benchmark lacks the passage."""

    case: str
    criterion: int
    locator: str
    citation: Citation | None = None


@dataclass(frozen=True, slots=True)
class ReleasedCriterion:
    """A criterion in its place. ``extras`` are fields of its source file that the product does not read; ``kept`` is
    how it was written there.
    """

    position: int
    text: str
    points: int
    tags: tuple[str, ...] = ()
    source: str = ""
    element: str = ""
    expectation: str = ""
    bank: str = ""
    cited: tuple[CitedPlace, ...] = ()
    suggestion: str = ""
    extras: dict[str, Any] = field(default_factory=dict)
    kept: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Completions:
    """What a physician and models answered in the file that the case came from."""

    ideal: str = ""
    group: str = ""
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReleasedCase:
    """A case that counts, with the published version of its rubric.

    ``metadata`` is that of the source file, empty for a case that was written here; what the product stores there for
    its own use is not exported. ``tags`` hold those that physicians agreed on as well.
    """

    key: str
    conversation: list[dict[str, str]]
    criteria: tuple[ReleasedCriterion, ...]
    version: int = 1
    reference_answer: str = ""
    difficulty: str = ""
    register: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()
    own_tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    completions: Completions = Completions()
    written_here: bool = False

    @property
    def kept(self) -> dict[str, Any]:
        """The parts of its source line that rows do not hold."""
        kept = self.metadata.get(as_imported.KEY)
        return kept if isinstance(kept, dict) else {}

    @property
    def is_clinconsensus(self) -> bool:
        """Whether it was imported as a ClinConsensus case."""
        return isinstance(self.metadata.get("context_length"), int)

    @property
    def is_professional(self) -> bool:
        """Whether it was imported as a HealthBench Professional example."""
        return self.kept.get(as_imported.FORM) == as_imported.PROFESSIONAL

    def labels(self, prefix: str) -> list[str]:
        """Its tags of one kind, without the prefix, in their order."""
        start = f"{prefix}:"
        return [tag.removeprefix(start) for tag in self.tags if tag.startswith(start)]
