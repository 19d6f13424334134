from django.apps import AppConfig


class DocumentsConfig(AppConfig):
    name = "documents"

    def ready(self) -> None:
        """Register the files that this app reads, and its entry in the top bar."""
        from documents import navigation, services
        from documents.services.importing import OPTIONS
        from rubrics import imports

        imports.register(
            "documents",
            services.import_documents,
            options=OPTIONS,
            required=["collection"],
            page="documents:collections",
        )
        navigation.register()
