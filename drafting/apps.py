from django.apps import AppConfig


class DraftingConfig(AppConfig):
    name = "drafting"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the links of the top bar, the kind of run, and what suggestions add to rubrics."""
        from drafting import navigation
        from drafting.provenance import selectors as provenance
        from drafting.runs import kind  # noqa: F401  # registers itself as a kind of run
        from drafting.suggestions import registering
        from rubrics import origins

        navigation.register()
        registering.register()
        origins.register(origins.Source(describe=provenance.describe, is_shown_in_review=provenance.is_shown_in_review))
