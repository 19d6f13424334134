"""The project as an app: it holds commands, templates of third parties, and the Celery application."""

from django.apps import AppConfig


class ConsiliumConfig(AppConfig):
    """Binds the Celery application, so that ``shared_task`` finds it in web processes and commands."""

    name = "consilium"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import consilium.celery  # noqa: F401
