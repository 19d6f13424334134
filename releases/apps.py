from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    name = "releases"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register what this app offers in the top bar, on the overview and among the imports."""
        from releases import navigation, steps
        from releases.acuity_import.services import import_release_acuity
        from rubrics import imports, overview

        navigation.register()
        overview.register(steps.steps)
        imports.register("release", import_release_acuity)
