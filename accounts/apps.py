from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect the receivers of signals, and those that write the security log."""
        from accounts import receivers, security_signals  # noqa: F401
        from accounts.services import confirmations  # noqa: F401

        security_signals.connect()
