from django.apps import AppConfig


class AgreementConfig(AppConfig):
    name = "agreement"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Say what this app offers in the top bar."""
        from agreement import navigation, steps
        from rubrics import overview

        navigation.register()
        overview.register(steps.steps)
