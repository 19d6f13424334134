"""Juries: judges whose verdicts are combined. A jury makes no calls and has no runs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest
from rubrics.models import Benchmark
from scoring.judges.jury_forms import JuryForm
from scoring.judges.jury_services import create_jury
from scoring.judges.jury_views import NEW, even_number_part, jury_page
from scoring.judges.kinds.kind import JudgeKind
from scoring.judges.services import no_run_of_a_jury
from scoring.models import Judge


class Jury(JudgeKind):
    """Members and the rule by which they decide."""

    value = Judge.Kind.JURY
    has_members = True
    form = JuryForm
    new_label = _("New jury")
    new_template = NEW
    page = staticmethod(jury_page)
    idle_template = "scoring/judges/_jury_state.html"

    def make_form(self, benchmark: Benchmark, data: Any = None, initial: dict[str, Any] | None = None) -> JuryForm:
        """The form with the judges of the benchmark as possible members."""
        return JuryForm(data, benchmark=benchmark, initial=initial)

    def form_part(self, request: SignedInRequest) -> HttpResponse | None:
        """The warning about the number of ticked members."""
        return even_number_part(request) if request.htmx else None

    def create(
        self, *, benchmark: Benchmark, name: str, config: Mapping[str, Any], by: User | None, at: datetime
    ) -> Judge:
        """The next version of a jury."""
        return create_jury(benchmark=benchmark, name=name, config=config, by=by)

    def snapshot(self, judge: Judge, benchmark: Benchmark) -> tuple[dict[str, Any], str]:
        """Raise `DomainError`: a jury cannot run; its members can."""
        raise DomainError(no_run_of_a_jury(judge))


KIND = Jury()
