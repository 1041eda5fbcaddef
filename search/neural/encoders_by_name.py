"""The encoders of a process, each loaded by its name when it is first asked for; a bounded number is kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from search.domain.errors import StageError
from search.interfaces import Encoder

STAGE = "encoder"


class EncodersByName:
    """Loads encoders and keeps those that were used last. Safe to share by threads.

    `load` returns the encoder of a name or raises StageError, `usual` the name of the one that is meant where none is
    named, `most` how many encoders are kept. An encoder that is let go stays alive as long as somebody works with it.
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

        Raises a permanent StageError that names it where it cannot be loaded, or where what is loaded calls itself
        otherwise: vectors of two encoders must never be compared.
        """
        name = name or self._usual()
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
                return self._kept[name]
            loading = self._loading.setdefault(name, Lock())
        # One thread loads a model; searches with other encoders go on meanwhile.
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
        """Let go of every encoder."""
        with self._lock:
            self._kept.clear()

    def _loaded(self, name: str) -> Encoder:
        try:
            encoder = self._load(name)
        except (ImportError, OSError, ValueError, RuntimeError) as error:
            reason = f"the encoder {name} cannot be loaded ({_first_line(error)})"
            raise StageError(STAGE, reason, permanent=True) from error
        if encoder.name != name:
            reason = f"the encoder {name} is wanted, and what is installed under that name is {encoder.name}"
            raise StageError(STAGE, reason, permanent=True)
        return encoder


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
