from django.apps import AppConfig


class ValidationConfig(AppConfig):
    name = "validation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the link of the top bar, and files of rubric sets."""
        from rubrics import imports
        from validation import navigation
        from validation.sets.services import FILE_OPTIONS, import_rubric_set

        navigation.register()
        imports.register(
            "rubric_set",
            import_rubric_set,
            options=FILE_OPTIONS,
            required=["name"],
            page="validation:rubric-set-new",
        )
