"""The bottom layer as an app: it has a command, two tables, and templates that replace those of other packages."""

from django.apps import AppConfig
from django.contrib.staticfiles.apps import StaticFilesConfig


class ConsiliumConfig(AppConfig):
    """The app that all others build on; it registers the checks of the database."""

    name = "consilium"
    default = True
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import consilium.checks  # noqa: F401


class StaticFiles(StaticFilesConfig):
    """Leaves out the static files of packages that no page uses, which are most of them."""

    default = False
    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "rest_framework", "redoc"]
