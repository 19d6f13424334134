"""The made-up benchmark as an app, for its command."""

from django.apps import AppConfig


class DemoConfig(AppConfig):
    """Brings `load_demo`, and the sign-ins that the first page offers while the benchmark is there."""

    name = "demo"
