"""How a worker does a trial. See `consilium.core.jobs`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from consilium.core.errors import DomainError
from consilium.core.jobs import Attempt, JobKind, register
from scoring.endpoint_trials.time_limit import seconds_left
from scoring.generation.trial import response_of_form
from scoring.judges.creating import create_after_check
from scoring.judges.trial import criterion_of_form
from scoring.models import EndpointTrial

DELETE_AFTER = timedelta(hours=1)
# Gets the values of the form and the seconds that are left, and returns the result as JSON.
Work = Callable[[EndpointTrial, QueryDict, float], str]
WORK: dict[str, Work] = {
    EndpointTrial.Kind.RESPONSE: response_of_form,
    EndpointTrial.Kind.CRITERION: criterion_of_form,
}


class TrialJobs(JobKind[EndpointTrial]):
    """One request each. It is never sent a second time: by then nobody waits for it."""

    model = EndpointTrial
    task = "scoring.tasks.ask_on_trial"
    sweep_task = "scoring.tasks.sweep_runs"
    worker_lost = gettext_lazy("The worker was lost %(times)s times during this request.")
    crashed = gettext_lazy("The request failed; the log of the worker has the details.")
    related = ("benchmark", "created_by", "judge")

    def work(self, attempt: Attempt[EndpointTrial]) -> None:
        """Send the request within the time that is left; `DomainError` where none is."""
        trial = attempt.job
        seconds = seconds_left(trial, at=attempt.clock())
        if seconds < 1:
            raise DomainError(_("No worker was free within a minute. No request was sent. Try again later."))
        form = QueryDict(trial.form)
        if trial.kind == EndpointTrial.Kind.NEW_JUDGE:
            create_after_check(trial, form, seconds, finish=attempt.finish, at=attempt.clock())
        else:
            attempt.finish(result=WORK[trial.kind](trial, form, seconds), progress=1.0)

    def sweep(self, *, at: datetime) -> int:
        """Delete old trials, and enqueue again what a lost worker left behind."""
        EndpointTrial.objects.filter(created_at__lt=at - DELETE_AFTER).delete()
        return super().sweep(at=at)


TRIALS = register(TrialJobs())
