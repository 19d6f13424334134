"""The project as an app: it holds commands, templates of third parties, and the Celery application."""

from django.apps import AppConfig
from django.contrib.staticfiles.apps import StaticFilesConfig


class ConsiliumConfig(AppConfig):
    """Binds the Celery application, so that ``shared_task`` finds it in web processes and commands."""

    name = "consilium"
    default = True
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import consilium.celery  # noqa: F401


class StaticFiles(StaticFilesConfig):
    """Leaves out what no page uses, which is most of what the packages bring along."""

    default = False
    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "rest_framework", "redoc"]
