"""What suggestions add to rubrics: checks of drafts and publications, the side panel, and lines of the dashboard."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from drafting.suggestions import draft_hooks, selectors
from rubrics import beside, hooks, waiting


def register() -> None:
    """Fill the registries of `rubrics`."""
    hooks.register(
        draft_check=draft_hooks.check_suggestions,
        draft_listener=draft_hooks.follow_draft,
        discard_listener=draft_hooks.reopen_discarded,
        publication_check=draft_hooks.check_decided,
        publication_listener=draft_hooks.record_published,
    )
    waiting.register(selectors.waiting_cases)
    beside.register(
        beside.Panel(
            name="suggestions",
            title=_("Suggestions"),
            address=lambda case: reverse("drafting:suggestions", args=[case.benchmark.slug, case.public_id]),
            may_see=selectors.may_see_panel,
            side=beside.Side(
                script="drafting/suggestions/panel",
                style="css/suggestions.css",
                words="drafting/suggestions/_words.html",
                keys="drafting/suggestions/_keys.html",
                key="G",
            ),
        )
    )
