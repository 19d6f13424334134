from pathlib import Path

from django.apps import AppConfig

EXAMPLES = Path(__file__).parent / "examples"


class ValidationConfig(AppConfig):
    name = "validation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the links of the top bar, files of rubric sets, and kinds of runs."""
        from consilium.core import i18n
        from rubrics import imports
        from validation import navigation
        from validation.coverage import kind as coverage_kind  # noqa: F401  # registers itself as a kind of run
        from validation.making import kind as making_kind  # noqa: F401  # the same
        from validation.models.coverage import EXTENT_WORDS
        from validation.pairs.importing import OPTIONS as PAIR_OPTIONS
        from validation.pairs.importing import import_pairs
        from validation.refinement import kind as refinement_kind  # noqa: F401  # the same
        from validation.sets.services import FILE_OPTIONS, import_rubric_set
        from validation.splitting import kind as splitting_kind  # noqa: F401  # the same
        from validation.trials import kind as trials_kind  # noqa: F401  # the same

        navigation.register()
        i18n.register_codes("extent", EXTENT_WORDS)
        imports.register(
            "rubric_set",
            import_rubric_set,
            options=FILE_OPTIONS,
            required=["name"],
            page="validation:rubric-set-new",
            examples=[EXAMPLES / "rubric_set.csv"],
        )
        imports.register(
            "pairs",
            import_pairs,
            options=PAIR_OPTIONS,
            required=["group"],
            page="validation:pairs-import",
            examples=[EXAMPLES / "pairs.csv"],
        )
