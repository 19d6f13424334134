from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Write to the security log what Django and allauth announce."""
        from accounts import security_signals

        security_signals.connect()
