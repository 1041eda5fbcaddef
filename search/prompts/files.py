"""Files of `prompts/` as templates: `$slot` is replaced, `$$` is a dollar sign, and nothing else is special."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from string import Template

PROMPTS = Path(__file__).resolve().parents[2] / "prompts"


class PromptFault(ValueError):
    """A prompt's file is missing, or its slots are not the expected ones."""


class PromptFiles:
    """The prompts in one folder, by their path within it (`plan/role.md`)."""

    def __init__(self, directory: Path = PROMPTS) -> None:
        self.directory = directory

    @cached_property
    def _texts(self) -> dict[str, str]:
        files = sorted(path for path in self.directory.rglob("*") if path.suffix in (".md", ".json"))
        return {path.relative_to(self.directory).as_posix(): path.read_text(encoding="utf-8").strip() for path in files}

    def __contains__(self, name: str) -> bool:
        return name in self._texts

    def text(self, name: str) -> str:
        """Return a file's text unchanged. Raises PromptFault if there is no such file."""
        try:
            return self._texts[name]
        except KeyError:
            raise PromptFault(f"There is no prompt {name} below {self.directory.name}/.") from None

    def render(self, name: str, /, **slots: str) -> str:
        """Return a file's text with its slots replaced.

        Values are inserted literally: a dollar sign in a question or a name has no meaning. Raises PromptFault if the
        file has a slot without a value, or if a value has no slot.
        """
        template = Template(self.text(name))
        wanted = set(template.get_identifiers())
        if not template.is_valid():
            raise PromptFault(f"{name} contains a $ that starts no slot; write a dollar sign as $$.")
        if wanted != set(slots):
            missing, unused = sorted(wanted - set(slots)), sorted(set(slots) - wanted)
            raise PromptFault(f"{name}: slots without a value {missing}, values without a slot {unused}.")
        return template.substitute(slots)


def fingerprint(*texts: str) -> str:
    """Return a short hash of texts in their order."""
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        digest.update(len(text).to_bytes(8, "big") + text.encode("utf-8", "replace"))
    return digest.hexdigest()
