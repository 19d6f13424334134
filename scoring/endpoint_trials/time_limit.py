"""How long a trial may take, from the moment when somebody began to wait."""

from __future__ import annotations

from datetime import datetime, timedelta

from scoring.models import EndpointTrial

TIME_LIMIT = timedelta(seconds=60)


def seconds_left(trial: EndpointTrial, *, at: datetime) -> float:
    """How long somebody still waits for a trial; negative where nobody does."""
    return (trial.created_at + TIME_LIMIT - at).total_seconds()
