from django.apps import AppConfig


class ValidationConfig(AppConfig):
    name = "validation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the links of the top bar, files of rubric sets, and kinds of runs."""
        from rubrics import imports
        from validation import navigation
        from validation.coverage import kind as coverage_kind  # noqa: F401  # registers itself as a kind of run
        from validation.sets.services import FILE_OPTIONS, import_rubric_set

        navigation.register()
        imports.register(
            "rubric_set",
            import_rubric_set,
            options=FILE_OPTIONS,
            required=["name"],
            page="validation:rubric-set-new",
        )
