"""The bottom layer as an app: it holds a command, two tables, and templates of third parties."""

from django.apps import AppConfig
from django.contrib.staticfiles.apps import StaticFilesConfig


class ConsiliumConfig(AppConfig):
    """What every app builds on; registers the checks of the database."""

    name = "consilium"
    default = True
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import consilium.checks  # noqa: F401


class StaticFiles(StaticFilesConfig):
    """Leaves out what no page uses, which is most of what the packages bring along."""

    default = False
    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "rest_framework", "redoc"]
