"""Judges whose verdicts were made elsewhere and are imported from files."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from scoring.judges.kinds.kind import JudgeKind
from scoring.models import Judge


class ImportedJudge(JudgeKind):
    """A judge that stands for imported verdicts; it makes none itself."""

    value = Judge.Kind.IMPORTED
    is_imported = True
    settings_template = "scoring/judges/_imported_settings.html"
    idle_template = "scoring/judges/_no_verdicts.html"
    no_runs = _("This judge represents verdicts made elsewhere. Import them to see them here.")

    def snapshot(self, judge: Judge, benchmark: Benchmark) -> tuple[dict[str, Any], str]:
        """Raise `DomainError`: it cannot run."""
        raise DomainError(
            gettext("“%(name)s” represents verdicts made elsewhere and cannot run.") % {"name": judge.name}
        )


KIND = ImportedJudge()
