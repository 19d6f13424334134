"""The list of judge kinds, in the order of the pages; `ScoringConfig.ready` imports it."""

from __future__ import annotations

from scoring.judges.kinds import acuity, chat, imported, jury, trained
from scoring.judges.kinds.kind import register

for _kind in (chat.KIND, acuity.KIND, trained.KIND, jury.KIND, imported.KIND):
    register(_kind)
