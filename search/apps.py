from django.apps import AppConfig


class SearchConfig(AppConfig):
    """Answers questions over knowledge bases."""

    name = "search"
    default_auto_field = "django.db.models.BigAutoField"
