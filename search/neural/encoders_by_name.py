"""The encoders of a process by name. Each is loaded at its first use, and a limited number stays in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from search.domain.errors import StageError
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
        self._most = most
        self._kept: OrderedDict[str, Encoder] = OrderedDict()
        self._loading: dict[str, Lock] = {}
        self._lock = Lock()

    def __call__(self, name: str = "") -> Encoder:
        """Return the encoder of that name, or the usual one; the first call loads the model.

        Raises a permanent StageError if the encoder cannot be loaded, or if the loaded encoder has another name,
        because vectors of two encoders must never be compared.
        """
        name = name or self._usual()
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
                return self._kept[name]
            loading = self._loading.setdefault(name, Lock())
        # Only one thread loads a model. Searches with other encoders are not blocked meanwhile.
        with loading:
            with self._lock:
                if name in self._kept:
                    return self._kept[name]
            encoder = self._loaded(name)
            with self._lock:
                self._kept[name] = encoder
                while len(self._kept) > max(1, self._most()):
                    self._kept.popitem(last=False)
                self._loading.pop(name, None)
        return encoder

    def cache_clear(self) -> None:
        """Remove every encoder from memory."""
        with self._lock:
            self._kept.clear()

    def _loaded(self, name: str) -> Encoder:
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
