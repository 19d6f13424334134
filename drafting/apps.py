from django.apps import AppConfig


class DraftingConfig(AppConfig):
    name = "drafting"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the links of the top bar, and what happens to suggestions when rubrics are written and published."""
        from drafting import navigation
        from drafting.suggestions import draft_hooks
        from rubrics import hooks

        navigation.register()
        hooks.register(
            draft_check=draft_hooks.check_suggestions,
            draft_listener=draft_hooks.follow_draft,
            discard_listener=draft_hooks.reopen_discarded,
            publication_check=draft_hooks.check_decided,
            publication_listener=draft_hooks.record_published,
        )
