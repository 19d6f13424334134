from django.apps import AppConfig


class RubricsConfig(AppConfig):
    name = "rubrics"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Say which files this app reads, and what it offers in the top bar."""
        from rubrics import imports, navigation, services

        imports.register("cases", services.import_cases, options=["format"])
        imports.register("responses", services.import_responses, options=["candidate", "candidate_kind"])
        navigation.register()
