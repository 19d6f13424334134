from django.apps import AppConfig


class DraftingConfig(AppConfig):
    name = "drafting"
    default_auto_field = "django.db.models.BigAutoField"
