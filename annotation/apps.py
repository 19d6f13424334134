from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Tell the top bar and the home page what is here, and the imports which files are read."""
        from accounts import languages_read
        from annotation import imports, navigation, steps
        from annotation.regrading import lacking
        from annotation.services import new_versions
        from annotation.views.unread import message_about_unread
        from rubrics import consequences, hooks, overview

        navigation.register()
        imports.register()
        overview.register(steps.steps)
        languages_read.LISTENERS.append(message_about_unread)
        hooks.register(publication_listener=new_versions.move_untouched_work)
        consequences.register(lacking.consequences)
        consequences.register_cost(lacking.decision_cost)
