from django.apps import AppConfig


class DocumentsConfig(AppConfig):
    name = "documents"

    def ready(self) -> None:
        """Register the files that this app reads, its entry in the top bar, and its part in publishing rubrics."""
        from documents import navigation, services
        from documents.editions import services as edition_services
        from documents.services.importing import OPTIONS
        from rubrics import hooks, imports

        imports.register(
            "documents",
            services.import_documents,
            options=OPTIONS,
            required=["collection"],
            page="documents:collections",
        )
        hooks.register(publication_listener=edition_services.carry_published)
        navigation.register()
