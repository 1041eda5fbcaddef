"""document_settings: write the page of every setting."""

from typing import Any

from django.core.management import BaseCommand

from grasp_site.documentation.settings_page import settings_page


class Command(BaseCommand):
    """Writes `docs/settings.md` to stdout."""

    help = "Write the page of every setting: document_settings > docs/settings.md"
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(settings_page(), ending="")
