"""build_docs: build the documentation."""

from typing import Any

from django.core.management import BaseCommand, CommandError

from grasp_site.documentation.build import BuildError, build


class Command(BaseCommand):
    """Builds the pages below `/docs/` if their sources have changed, and says where they are."""

    help = (
        "Build the documentation that the site serves at /docs/. The site does so by itself at its first start and "
        "after every change; images of containers build it in, with GRASP_DOCS naming a folder of the image."
    )
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(f"The documentation is built in {build()}")
        except BuildError as error:
            raise CommandError(f"The documentation could not be built:\n{error}") from error
