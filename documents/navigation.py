"""The navigation entry of ``documents``; `DocumentsConfig.ready` registers it."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from consilium.core import navigation

# Names of roles as `rubrics.navigation` and the app of groups register them.
STAFF = frozenset({"admin", "researcher"})
READERS = STAFF | {"author", "auditor", "annotator", "checker", "adjudicator"}


def register() -> None:
    """Register the page of documents."""
    navigation.register(label=_("Documents"), view="documents:documents", section="content", roles=READERS, order=24)
