"""The encoders of a process by name. Each is loaded at its first use, and a limited number stays in memory."""

from __future__ import annotations

from collections.abc import Callable

from search.domain.errors import StageError
from search.domain.kept import Kept
from search.interfaces import Encoder

STAGE = "encoder"


class EncodersByName:
    """Loads encoders and keeps those that were used last. Threads may share it.

    `load` returns the encoder of a name or raises StageError. `usual` returns the default name. `most` returns the
    number of encoders that are kept. An encoder that is no longer kept can still be used by whoever holds it.
    """

    def __init__(self, load: Callable[[str], Encoder], usual: Callable[[], str], most: Callable[[], int]) -> None:
        self._load = load
        self._usual = usual
        self._kept: Kept[str, Encoder] = Kept(most)

    def __call__(self, name: str = "") -> Encoder:
        """Return the encoder of that name, or the usual one; the first call loads the model.

        Raises a permanent StageError if the encoder cannot be loaded, or if the loaded encoder has another name,
        because vectors of two encoders must never be compared.
        """
        name = name or self._usual()
        return self._kept.get(name, lambda make_room: self._loaded(name, make_room))

    def cache_clear(self) -> None:
        """Remove every encoder from memory."""
        self._kept.clear()

    def _loaded(self, name: str, make_room: Callable[[], None]) -> Encoder:
        make_room()
        try:
            encoder = self._load(name)
        except (ImportError, OSError, ValueError, RuntimeError) as error:
            reason = f"the encoder {name} cannot be loaded ({_first_line(error)})"
            raise StageError(STAGE, reason, permanent=True) from error
        if encoder.name != name:
            reason = f"the encoder {name} is needed, but the one installed under that name is {encoder.name}"
            raise StageError(STAGE, reason, permanent=True)
        return encoder


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
