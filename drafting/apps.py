from django.apps import AppConfig


class DraftingConfig(AppConfig):
    name = "drafting"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the links of the top bar."""
        from drafting import navigation

        navigation.register()
