"""bibliography: what of a node fits an entry of BibTeX, by the names of its fields, its neighbours, and its id.

Names of fields, node types and relations are compared with the words below, aliases of types and relations included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pylatexenc.latexencode import UnicodeToLatexEncoder

from search.domain.graph import Schema
from search.text import words

Json = Mapping[str, Any]
WORDS: Mapping[str, frozenset[str]] = {
    "author": frozenset(
        {"author", "authors", "author names", "creator", "creators", "written by", "editor", "editors"}
    ),
    "title": frozenset({"title", "paper title"}),
    "journal": frozenset({"journal", "venue", "conference", "published in", "source title", "booktitle"}),
    "year": frozenset({"year", "publication year", "published", "publication date", "date", "year of publication"}),
    "volume": frozenset({"volume"}),
    "number": frozenset({"issue", "issue number"}),
    "pages": frozenset({"page range", "pages"}),
    "publisher": frozenset({"publisher"}),
    "doi": frozenset({"doi", "digital object identifier"}),
    "isbn": frozenset({"isbn"}),
    "keywords": frozenset({"keywords", "keyword"}),
    "abstract": frozenset({"abstract"}),
}
"""Words by the field of BibTeX that they mean, in the order in which an entry has its fields."""
BY_NEIGHBOUR = ("author", "journal", "publisher")
"""Fields that a graph also states by relations to other nodes."""
TELLING = ("author", "journal", "doi", "isbn")
"""A node without any of these is no work that anybody cites."""
RAW = ("doi", "url")
"""Fields that programs read; TeX's signs are not escaped in them."""
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_YEAR = re.compile(r"(?<!\d)(1[0-9]{3}|20[0-9]{2})(?!\d)")
_BRACES = {"{": r"{\textbraceleft}", "}": r"{\textbraceright}"}
_encoder = UnicodeToLatexEncoder(
    replacement_latex_protection="braces-all", unknown_char_policy="keep", unknown_char_warning=False
)


@dataclass(frozen=True, slots=True)
class BibliographyEntry:
    """The fields of an entry of BibTeX by name, as plain text, and the fields of the node that have no place in it."""

    fields: Mapping[str, str]
    left: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Whether it is an entry that somebody would cite."""
        return any(name in self.fields for name in TELLING)


def entry_of(node: Json, schema: Schema) -> BibliographyEntry:
    """Return the entry of a described node (`describe_node`)."""
    found: dict[str, str] = {}
    left = []
    for field in node["fields"]:
        means = meaning(field["name"])
        if means is None or means in found:
            left.append(field["name"])
        elif value := _value(means, field["value"]):
            found[means] = value
        else:
            left.append(field["name"])
    for means, names in _neighbours(node, schema):
        found.setdefault(means, (" and " if means == "author" else ", ").join(names))
    found.setdefault("title", node["name"])
    if _DOI.fullmatch(node["id"]):
        found.setdefault("doi", node["id"])
    if node["url"].startswith(("https://", "http://")):
        found["url"] = node["url"]
    return BibliographyEntry({name: found[name] for name in (*WORDS, "url") if name in found}, tuple(left))


def meaning(*names: str) -> str | None:
    """Return the field of BibTeX that one of these names means, None if there is none."""
    said = {words(_CAMEL.sub(" ", name)).casefold() for name in names}
    return next((field for field, known in WORDS.items() if said & known), None)


def write_entry(entry: BibliographyEntry, taken: set[str], note: str = "") -> str:
    """Return the entry as BibTeX with a key that is not taken yet; the key is added to `taken`."""
    kind = "article" if "journal" in entry.fields else "book" if "isbn" in entry.fields else "misc"
    fields = {**entry.fields, **({"note": note} if note else {})}
    lines = [f"  {name} = {{{_latex(name, value)}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{_key(entry, taken)},", *lines, "}"])


def _value(means: str, value: object) -> str:
    """Return the value of a field as text of BibTeX, empty if it does not fit: a number of pages is no range."""
    parts = [str(one) for one in value] if isinstance(value, list) else [str(value)]
    if means == "author":
        return " and ".join(part.replace(" and ", " {and} ") if isinstance(value, list) else part for part in parts)
    text = ", ".join(parts)
    if means == "year":
        year = _YEAR.search(text)
        return year[0] if year else ""
    if means == "pages" and not re.search(r"\d\s*[-–]\s*\d", text):
        return ""
    return text


def _neighbours(node: Json, schema: Schema) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the fields that neighbours state, with their names: by the type of the neighbour, or by the relation."""
    types = {kind.name: (kind.name, *kind.aliases) for kind in schema.node_types}
    relations = {relation.name: (relation.name, *relation.aliases) for relation in schema.relations}
    found: dict[str, list[str]] = {}
    for group in node["relations"]:
        for item in group["items"]:
            means = meaning(*relations.get(group["relation"], ()), group["wording"]) or meaning(
                *types.get(item["type"], ())
            )
            if means in BY_NEIGHBOUR and item["name"] not in found.setdefault(means, []):
                found[means].append(item["name"])
    yield from found.items()


def _latex(name: str, value: str) -> str:
    """Return a value with the signs of TeX escaped; braces that would end the value early are left out."""
    flat = " ".join(value.split())
    if name in RAW:
        return flat.replace("{", "").replace("}", "")
    # BibTeX counts a brace behind a backslash, too, so braces of the text are written by their names.
    return "".join(_BRACES.get(part) or str(_encoder.unicode_to_latex(part)) for part in re.split(r"([{}])", flat))


def _key(entry: BibliographyEntry, taken: set[str]) -> str:
    """Return `surname` + `year` + `first long word of the title`, in ASCII, with a letter if that is taken."""
    author = entry.fields.get("author", "").split(" and ")[0].split(",")[0].split()
    title = [word for word in re.findall(r"\w+", entry.fields["title"]) if len(word) > 3]
    said = f"{author[-1] if author else ''}{entry.fields.get('year', '')}{title[0] if title else ''}"
    plain = re.sub(r"[^a-z0-9]", "", said.casefold()) or "entry"
    key, number = plain, 1
    while key in taken:
        number += 1
        key = f"{plain}-{number}"
    taken.add(key)
    return key
