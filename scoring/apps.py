from pathlib import Path

from django.apps import AppConfig

EXAMPLES = Path(__file__).parent / "examples"


class ScoringConfig(AppConfig):
    name = "scoring"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register navigation entries, overview steps, kinds of judges and runs, consequences of rubrics, imports."""
        from rubrics import consequences, imports, overview
        from scoring import navigation, steps
        from scoring.acuity.importing import check_acuity_options, import_acuity
        from scoring.classification import kind as classify_kind  # noqa: F401  # registers itself as a kind of run
        from scoring.coding import kind as coding_kind  # noqa: F401
        from scoring.generation import kind as responses_kind  # noqa: F401
        from scoring.judges.kinds import registered  # noqa: F401
        from scoring.runs import continuing
        from scoring.services.verdicts import check_verdict_options, import_verdicts

        navigation.register()
        overview.register(steps.steps)
        consequences.register(continuing.consequences)
        consequences.register_cost(continuing.verdict_cost)
        imports.register(
            "verdicts",
            import_verdicts,
            options=["judge", "candidate", "replicate", "learned"],
            required=["judge"],
            check=check_verdict_options,
            examples=[EXAMPLES / "verdicts.csv"],
        )
        imports.register(
            "acuity",
            import_acuity,
            options=[
                *("dataset", "scale", "scheme", "format", "candidate", "reading_format", "licence"),
                *("may_redistribute", "preview"),
            ],
            required=["dataset"],
            check=check_acuity_options,
            page="scoring:acuity-import",
            examples=[EXAMPLES / "acuity.csv"],
        )
