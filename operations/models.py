"""Tables of the server as a whole."""

from __future__ import annotations

from django.db import models


class PartState(models.Model):
    """The state of a part of the server when somebody last looked, and since when it was seen in that state."""

    name = models.CharField(max_length=40, primary_key=True)
    state = models.CharField(max_length=10)
    since = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name}: {self.state}"
