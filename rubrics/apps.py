from pathlib import Path

from django.apps import AppConfig

EXAMPLES = Path(__file__).parent / "imports" / "examples"
RESPONSE_EXAMPLES = ["responses.csv", "responses_by_model.csv", "responses.jsonl"]


class RubricsConfig(AppConfig):
    name = "rubrics"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the kinds of files that this app reads, and its entries in the top bar."""
        from accounts.services import second_factor
        from rubrics import imports, navigation, services
        from rubrics.imports.previews import PREVIEW, with_preview
        from rubrics.selectors.second_step import demands_of
        from rubrics.services.banks import import_bank
        from rubrics.tables.table import TABLE_OPTIONS

        own = ["candidate", "candidate_kind"]
        for kind, handler, check, options, examples in (
            ("cases", services.import_cases, services.check_case_options, ["format"], ["cases.csv", "cases.jsonl"]),
            ("responses", services.import_responses, services.check_response_options, own, RESPONSE_EXAMPLES),
            ("rubrics", services.import_rubrics, services.check_rubric_options, ["author"], ["rubrics.csv"]),
            ("candidates", services.import_attributes, services.check_attribute_options, [], ["candidates.csv"]),
        ):
            imports.register(
                kind,
                with_preview(kind, handler),
                options=[*options, *TABLE_OPTIONS, PREVIEW],
                check=check,
                examples=[EXAMPLES / name for name in examples],
            )
        imports.register(
            "bank", import_bank, options=["bank", "licence"], required=["bank"], examples=[EXAMPLES / "bank.csv"]
        )
        navigation.register()
        second_factor.register(demands_of)
