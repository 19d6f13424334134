from django.apps import AppConfig


class OperationsConfig(AppConfig):
    """The app of the server's pages; it registers the checks of the keys of endpoints."""

    name = "operations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import operations.system_checks  # noqa: F401
