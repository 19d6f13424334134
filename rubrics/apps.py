from django.apps import AppConfig


class RubricsConfig(AppConfig):
    name = "rubrics"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the kinds of files that this app reads, and its entries in the top bar."""
        from rubrics import imports, navigation, services
        from rubrics.services.banks import import_bank

        imports.register("cases", services.import_cases, options=["format"])
        imports.register("responses", services.import_responses, options=["candidate", "candidate_kind"])
        imports.register("rubrics", services.import_rubrics, options=["author"])
        imports.register("bank", import_bank, options=["bank", "licence"], required=["bank"])
        navigation.register()
