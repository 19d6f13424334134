from pathlib import Path

from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

EXAMPLES = Path(__file__).parent / "examples"


class DocumentsConfig(AppConfig):
    name = "documents"

    def ready(self) -> None:
        """Register the files that this app reads, its entry in the top bar, and what it adds to rubrics."""
        from documents import access, citing, navigation, services
        from documents.editions import counterparts
        from documents.editions import selectors as edition_selectors
        from documents.editions import services as edition_services
        from documents.services.importing import OPTIONS
        from rubrics import beside, cited, hooks, imports, waiting

        imports.register(
            "documents",
            services.import_documents,
            options=(*OPTIONS, "collection_id"),  # which collection it was, whatever it is called later
            required=["collection"],
            page="documents:collections",
            examples=[EXAMPLES / "guideline.md"],
        )
        navigation.register()
        hooks.register(draft_check=citing.check_citations, publication_listener=edition_services.carry_published)
        waiting.register(edition_selectors.waiting_lines)
        cited.register(
            cited.Source(describe=citing.describe, resolve=citing.resolve, compare=counterparts.counterparts)
        )
        beside.register(
            beside.Panel(
                name="documents",
                title=_("Cite a passage"),
                address=lambda case: reverse("documents:beside", args=[case.benchmark.slug]),
                may_see=lambda user, case: access.may_read_documents(user, case.benchmark),
            )
        )
