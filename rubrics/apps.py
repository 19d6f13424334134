from django.apps import AppConfig


class RubricsConfig(AppConfig):
    name = "rubrics"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Tell the top bar and the home page what is here."""
        from rubrics import navigation

        navigation.register()
