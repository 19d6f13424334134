from django.apps import AppConfig


class AgreementConfig(AppConfig):
    name = "agreement"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register links of the top bar, first steps of a benchmark, and converters of addresses."""
        from agreement import navigation, steps
        from agreement.reports import converters
        from rubrics import overview

        converters.register()
        navigation.register()
        overview.register(steps.steps)
