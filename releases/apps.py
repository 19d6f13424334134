from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    name = "releases"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register what this app offers in the top bar and on the overview."""
        from releases import navigation, steps
        from rubrics import overview

        navigation.register()
        overview.register(steps.steps)
