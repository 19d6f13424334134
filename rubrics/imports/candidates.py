"""Candidates by name during an import: looked up once, created where missing."""

from __future__ import annotations

from django.utils.translation import gettext as _

from rubrics.models import Benchmark, Candidate


class Candidates:
    """The candidates of a benchmark; `get` makes missing ones with the given kind."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.created = 0
        self._known = {candidate.name: candidate for candidate in Candidate.objects.filter(benchmark=benchmark)}
        self._used: set[str] = set()

    @property
    def unchanged(self) -> int:
        """How many of the requested candidates existed already."""
        return len(self._used) - self.created

    def get(self, name: str, kind: str) -> Candidate:
        """The candidate called ``name``, made as ``kind`` if there is none yet."""
        candidate = self._known.get(name)
        if candidate is None:
            # Others may make it meanwhile, such as a batch in which physicians write responses.
            candidate, is_new = Candidate.objects.get_or_create(
                benchmark=self.benchmark, name=name, defaults={"kind": kind}
            )
            self._known[name] = candidate
            self.created += is_new
        self._used.add(name)
        return candidate

    def mismatch(self, name: str, kind: str) -> str:
        """Why ``name`` cannot stand for a candidate of ``kind``; empty if it can."""
        known = self._known.get(name)
        if known is None or known.kind == kind:
            return ""
        return _("The candidate “%(name)s” already exists as another kind: %(kind)s.") % {
            "name": name,
            "kind": known.get_kind_display(),
        }
