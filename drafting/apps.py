from django.apps import AppConfig


class DraftingConfig(AppConfig):
    name = "drafting"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the links of the top bar, the kind of run, and what suggestions add to rubrics."""
        from drafting import navigation
        from drafting.runs import kind  # noqa: F401  # registers itself as a kind of run
        from drafting.suggestions import registering

        navigation.register()
        registering.register()
