"""Finds out in which encoding a text file is written, from all of its bytes.

UTF-8, UTF-16 and UTF-32 have marks or fail to decode as anything else. The older encodings do not: charset-normalizer
measures how far each decoded text is from a natural one, and `_strangeness` adds what it does not see in short texts.
What both leave open is said, with how each encoding reads the file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from charset_normalizer import from_bytes

from search.ingest.faults import BundleError

MARKS = (
    (b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"), (b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)  # fmt: skip
"""Byte order mark → encoding; the longer marks first."""
CANDIDATES = (
    "cp1252", "gb18030", "big5", "cp932", "euc_jp", "cp949", "cp1251", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256",
    "cp1257", "koi8-r", "iso8859-2", "cp874", "cp866", "cp850", "mac-roman",
)  # fmt: skip
"""Encodings without a mark that are told apart, those preferred among equals first."""
PAIRED = ("gb18030", "big5", "cp932", "euc_jp", "cp949")
COMMON = (("gb2312", 0xB0, 0xD7), ("big5", 0xA4, 0xC6), ("shift_jis", 0x88, 0x97))
"""Encodings of Chinese and Japanese with the first bytes of their commonest characters (level 1)."""
SHIFT = b"\x1b$"
"""Bytes with which ISO 2022-JP, all of whose bytes are ASCII, goes over to Japanese."""
LOOKED_AT = 1 << 14
"""Most bytes of lines outside ASCII from which an older encoding is told."""
AS_GOOD = 0.06
"""Difference of two measures below which both encodings are possible."""
FEW_BY_CHANCE = 0.1
"""Distance added to readings of one byte a character where pairs of bytes all are common characters."""
LEAST_PAIRS = 4
SHOWN, MOST_OTHERS = 40, 5
"""Characters of a line that are shown, and most other encodings that are named."""
_WORD = re.compile(r"[^\W\d_]+")
_INSIDE = re.compile(r"(?<=[^\W\d_])([^\w\s'’‘·‐-])(?=[^\W\d_])")
_ODD_CATEGORIES = frozenset(("Cn", "Co", "Cc", "So", "Sm", "Sk"))
_ODD_NAMES = ("HALFWIDTH", "HANGUL LETTER", "BOX ", "BOPOMOFO")
_EAST_ASIAN = frozenset(("HIRAGANA", "KATAKANA", "CJK"))


@dataclass(frozen=True)
class Encoding:
    """The encoding of a file, sentences on how it was found, and why it cannot be told (empty: it can)."""

    name: str
    notes: tuple[str, ...] = ()
    unsure: str = ""


@dataclass(frozen=True)
class _Reading:
    """A text in one encoding, and its distance from a natural text: 0 is natural, 1 is noise."""

    encoding: str
    text: str
    distance: float

    @property
    def rank(self) -> int:
        """Position among the candidates."""
        return CANDIDATES.index(self.encoding)

    def shown(self, other: str = "") -> str:
        """Return the first words outside ASCII, or the first that the other text has otherwise."""
        pairs = enumerate(zip(self.text, other.ljust(len(self.text)), strict=False))
        at = next(place for place, (mark, theirs) in pairs if not mark.isascii() and mark != theirs)
        begin = max(self.text.rfind("\n", 0, at) + 1, at - SHOWN // 2)
        return f"{self.encoding} reads {self.text[begin : begin + SHOWN].splitlines()[0]!r}"


def find_encoding(path: str, blocks: Iterable[bytes]) -> Encoding:
    """Return the encoding of the file whose bytes are given; BundleError if it holds no text."""
    rest = iter(blocks)
    first = next(rest, b"")
    for mark, name in MARKS:
        if first.startswith(mark):
            return Encoding(name, () if name == "utf-8" else (f"{path} begins with the mark of {name.upper()}.",))
    if b"\0" in first:
        name = _unmarked_utf16(first)
        if not name:
            raise BundleError(f"{path} is no text: it contains bytes of the value 0.")
        return Encoding(name, (f"{path} has no mark, and reads as {name.upper()}.",))
    return _without_mark(path, _lines(first, rest))


def _lines(first: bytes, rest: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not ASCII, or that switch to other characters, with their numbers."""
    number, carried, block = 1, b"", first
    while True:
        nothing_more = not block
        carried += block
        end = len(carried) if nothing_more else carried.rfind(b"\n") + 1
        whole, carried = carried[:end], carried[end:]
        if whole.isascii() and SHIFT not in whole:
            number += whole.count(b"\n")
        else:
            for line in whole.splitlines(keepends=True) if b"\n" not in whole else whole.split(b"\n"):
                if not line.isascii() or SHIFT in line:
                    yield number, line
                number += 1
            number -= 1
        if nothing_more:
            return
        block = next(rest, b"")


def _without_mark(path: str, lines: Iterator[tuple[int, bytes]]) -> Encoding:
    good, bad, shifted, where, looked_at = 0, 0, 0, "", b""
    for number, line in lines:
        if line.isascii():
            shifted += 1
            continue
        try:
            line.decode()
            good += 1
        except UnicodeDecodeError as error:
            bad += 1
            where = where or f"{path}:{number}: byte 0x{line[error.start]:02x} is not UTF-8"
            if len(looked_at) < LOOKED_AT:
                looked_at += line[:LOOKED_AT] + b"\n"
    if shifted and not good + bad:
        return Encoding("iso2022_jp", (f"{path} switches between sets of characters as ISO 2022-JP does.",))
    # Bytes of another encoding are hardly ever UTF-8 by chance, so mostly good lines mean a damaged file.
    if good >= bad:
        return Encoding("utf-8")
    readings = sorted(_compared(list(_readings(looked_at))), key=lambda one: (one.distance, one.rank))
    if not readings:
        return Encoding("utf-8")
    near = [one for one in readings if one.distance - readings[0].distance < AS_GOOD]
    # cp1252 is by far the commonest of those that are as good for letters of Latin.
    best = min(near, key=lambda one: one.rank) if _all_latin(near) else near[0]
    others = list({one.text: one for one in reversed(near) if one.text != best.text}.values())[::-1][:MOST_OTHERS]
    if others and not _all_latin(near):
        read = "; ".join([best.shown(others[0].text), *(one.shown(best.text) for one in others)])
        return Encoding(best.encoding, (), f"{where}, and it cannot be told in which encoding it is: {read}.")
    called = "Latin-1 (cp1252)" if best.encoding == "cp1252" else best.encoding
    note = f"{where}; the file is read as {called}: {best.shown()}."
    if others:
        note += f" It may as well be another: {'; '.join(one.shown(best.text) for one in others)}."
    return Encoding(best.encoding, (note,))


def _readings(data: bytes) -> Iterator[_Reading]:
    for encoding in CANDIDATES:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        found = from_bytes(data, cp_isolation=[encoding], threshold=1.0).best()
        if found is not None:
            yield _Reading(encoding, text, found.chaos - 0.2 * found.coherence + _strangeness(text))


def _compared(readings: list[_Reading]) -> list[_Reading]:
    """Return the readings, those of single bytes farther where characters of two bytes explain every byte."""
    outside = (sum(not mark.isascii() for mark in one.text) for one in readings
               if one.encoding in PAIRED and one.distance <= 0)  # fmt: skip
    if not any(count >= LEAST_PAIRS for count in outside):
        return readings
    return [one if one.encoding in PAIRED else replace(one, distance=one.distance + FEW_BY_CHANCE) for one in readings]


def _strangeness(text: str) -> float:
    """Return the share of the characters outside ASCII that a natural text hardly has, or has not side by side."""
    outside = [mark for mark in text if not mark.isascii()]
    strange = sum(map(_is_strange, outside))
    for word in _WORD.findall(text):
        strange += len({_script(mark) for mark in word}) > 1
        strange += any(one.islower() and other.isupper() and not other.isascii()
                       for one, other in pairwise(word))  # fmt: skip
    strange += sum(not mark.isascii() for mark in _INSIDE.findall(text))
    return strange / max(1, len(outside))


def _is_strange(mark: str) -> bool:
    if unicodedata.category(mark) in _ODD_CATEGORIES:
        return True
    name = unicodedata.name(mark, "")
    if name.startswith(_ODD_NAMES):
        return True
    if name.startswith("HANGUL SYLLABLE"):
        return not _in_two_bytes(mark, "euc_kr")
    return name.startswith("CJK UNIFIED") and not _is_common(mark)


def _is_common(mark: str) -> bool:
    return any(_in_two_bytes(mark, name) and low <= mark.encode(name)[0] <= high for name, low, high in COMMON)


def _in_two_bytes(mark: str, encoding: str) -> bool:
    try:
        return len(mark.encode(encoding)) == 2
    except UnicodeEncodeError:
        return False


def _script(mark: str) -> str:
    script = unicodedata.name(mark, "?").split()[0]
    return "EAST ASIAN" if script in _EAST_ASIAN else script


def _all_latin(readings: list[_Reading]) -> bool:
    return all(
        _script(mark) == "LATIN" for one in readings for mark in one.text if not mark.isascii() and mark.isalpha()
    )


def _unmarked_utf16(first: bytes) -> str:
    """Return the UTF-16 whose ASCII characters have their zero bytes at the places where this file has them."""
    even, odd = first[::2].count(0), first[1::2].count(0)
    if max(even, odd) * 20 < len(first) or min(even, odd) * 20 > max(even, odd):
        return ""
    name = "utf-16-le" if odd > even else "utf-16-be"
    try:
        text = first[: len(first) // 2 * 2].decode(name)
    except UnicodeDecodeError as error:
        if error.end < len(first) - 2:
            return ""
        text = first[: error.start].decode(name)
    return name if not any(unicodedata.category(mark) in ("Cn", "Co") for mark in text[:2_000]) else ""
