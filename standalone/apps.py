"""The embedded server as an app, for its commands."""

from django.apps import AppConfig


class StandaloneConfig(AppConfig):
    """Brings `up`, and a quicker `migrate`."""

    name = "standalone"
