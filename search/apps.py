from importlib import import_module

from django.apps import AppConfig


class SearchConfig(AppConfig):
    """Answers questions over knowledge bases."""

    name = "search"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register what cannot be imported before the models are there, and how dates are written."""
        import_module("search.reader_dates").write_dates_for_readers()
        import_module("search.checks")
        import_module("search.services.access.roles").watch_groups()
        import_module("search.services.audit.watch").watch_admin()
        import_module("search.services.collections.take_over").watch_sign_ins()
