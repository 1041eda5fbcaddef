"""Makes the Python client of today's API: `make client`, or `.venv/bin/python client/generate.py`.

The OpenAPI description, the generated package and the wheel are not in the repository: openapi.json,
grasp_search_client/generated and dist/ are written here from the code of today, so they cannot lag behind it. The
generator runs in a virtual environment of its own (client/.generator), because it asks for other versions of libraries
than the site.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

CLIENT = Path(__file__).resolve().parent
PACKAGE = "grasp_search_client"
TOOLS = CLIENT / ".generator"


def schema_of_today() -> bytes:
    """Return the OpenAPI description of the API as JSON; needs Django's settings, but no database."""
    sys.path.insert(0, str(CLIENT.parent))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grasp_site.settings")
    import django

    django.setup()
    from drf_spectacular.generators import SchemaGenerator
    from drf_spectacular.renderers import OpenApiJsonRenderer

    described = SchemaGenerator().get_schema(request=None, public=True)
    return bytes(OpenApiJsonRenderer().render(described, renderer_context={}))


def generate(schema: bytes, target: Path) -> None:
    """Write what the generator makes of a description into a folder, which is replaced."""
    binaries = tools()
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "openapi.json", Path(folder) / "generated"
        given.write_bytes(without_optional_security(schema))
        command = ["generate", "--path", given, "--output-path", made, "--meta", "none", "--fail-on-warning"]
        _run(binaries / "openapi-python-client", *command, "--config", CLIENT / "generator.yaml")
        _import_unset(made)
        _run(binaries / "ruff", "format", "--quiet", "--isolated", "--no-cache", made)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(made, target)


def without_optional_security(schema: bytes) -> bytes:
    """Return the description without the security of operations that need no credentials.

    An empty requirement says that credentials are optional. The generator does not know that, and would ask for a
    client with a token.
    """
    described = json.loads(schema)
    for path in described["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict) and {} in operation.get("security", ()):
                del operation["security"]
    return json.dumps(described).encode()


def _import_unset(made: Path) -> None:
    """Add the import of `Unset` that version 0.29.1 forgets for operations with several kinds of bodies."""
    for path in made.glob("api/*/*.py"):
        text = path.read_text(encoding="utf-8")
        if "| Unset" in text and not re.search(r"^from \.\.\.types import .*\bUnset\b", text, re.MULTILINE):
            path.write_text(f"from ...types import Unset\n{text}", encoding="utf-8")


def package(target: Path) -> None:
    """Write the whole package, the hand-written layer and what is generated, into a folder."""
    shutil.copytree(CLIENT / PACKAGE, target / PACKAGE, ignore=shutil.ignore_patterns("generated", "__pycache__"))
    generate(schema_of_today(), target / PACKAGE / "generated")


def tools() -> Path:
    """Return the folder of the generator's programs; they are installed when they are not there yet."""
    wanted = (CLIENT / "generator.txt").read_bytes()
    mark = TOOLS / "installed.txt"
    if not mark.exists() or mark.read_bytes() != wanted:
        venv.create(TOOLS, clear=True, with_pip=True)
        _run(TOOLS / "bin" / "pip", "install", "--quiet", "--requirement", CLIENT / "generator.txt")
        mark.write_bytes(wanted)
    return TOOLS / "bin"


def _run(*command: object) -> None:
    subprocess.run([str(part) for part in command], check=True)


def main() -> int:
    """Write openapi.json, the generated package and the wheel; return the exit status."""
    schema = schema_of_today()
    (CLIENT / "openapi.json").write_bytes(schema)
    generate(schema, CLIENT / PACKAGE / "generated")
    shutil.rmtree(CLIENT / "dist", ignore_errors=True)
    pip = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", CLIENT / "dist", CLIENT)
    _run(tools() / "pip", *pip)
    sys.stdout.write("".join(f"{wheel}\n" for wheel in (CLIENT / "dist").glob("*.whl")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
