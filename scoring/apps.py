from django.apps import AppConfig


class ScoringConfig(AppConfig):
    name = "scoring"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Say which step of a benchmark is this app's."""
        from rubrics import overview
        from scoring import steps

        overview.register(steps.steps)
