from django.apps import AppConfig


class DocumentsConfig(AppConfig):
    name = "documents"

    def ready(self) -> None:
        """Take part in publishing rubrics."""
        from documents.editions import services
        from rubrics import hooks

        hooks.register(publication_listener=services.carry_published)
