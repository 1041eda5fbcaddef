"""Guesses which columns are ids, names, types, relations and ends of edges, from their names and first values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from search.ingest.fields import is_date, is_number
from search.ingest.mapping.sniff import Sniffed

END_NAMES = (
    ("source", "target"), ("src", "dst"), ("src", "tgt"), ("from", "to"), ("head", "tail"), ("subject", "object"),
    ("start", "end"), ("source", "destination"), ("x", "y"), ("node1", "node2"), ("node_1", "node_2"), ("u", "v"),
    ("head_entity", "tail_entity"), ("parent", "child"), ("id1", "id2"),
)  # fmt: skip
"""Pairs of words that name the two ends of an edge."""
ID_NAMES = ("id", "_id", "uuid", "guid", "key", "code", "identifier", "node_id", "nodeid", "index", "uri", "iri")
NAME_NAMES = (
    "name", "title", "label", "display_name", "displayname", "full_name", "fullname", "preferred_name", "caption",
    "headline", "heading", "bezeichnung", "titel", "benennung", "nom", "titre", "intitulé", "nombre", "título",
    "titulo", "nome", "titolo", "naam", "namn",
)  # fmt: skip
PERSON_NAMES = (
    ("first_name", "last_name"), ("name_first", "name_last"), ("firstname", "lastname"),
    ("given_name", "family_name"), ("forename", "surname"), ("first_name", "surname"),
    ("vorname", "nachname"), ("vorname", "name"), ("prénom", "nom"), ("prenom", "nom"),
    ("nombre", "apellido"), ("nombre", "apellidos"), ("nome", "cognome"), ("voornaam", "achternaam"),
)  # fmt: skip
"""Pairs of columns that are the name together."""
TYPE_NAMES = ("type", "node_type", "nodetype", "kind", "class", "category", "label", "labels", "entity_type")
SURE_RELATIONS = (
    "relation", "relationship", "rel", "predicate", "property", "edge_type", "edgetype", "rel_type", "relation_type",
)  # fmt: skip
RELATION_NAMES = ("type", "label", "display_relation", "edge", "name")
"""Names of the column of relations; the latter only in a table that holds nothing but the ends of relations."""
TYPES_AT_MOST = 100
"""Most different values of a column that is taken for the type of nodes."""
MOSTLY = 0.8
"""Share of different values, from which on a column that says id is the id although some values occur twice."""
SURE_TYPES = ("node_type", "nodetype", "entity_type", "labels")
"""Names of the column of types in a file whose name says what its rows are; `type` and `category` are fields there."""
FILLED = 0.9
"""Share of the rows of one type that fill a column, and of another that do not, where types have their own fields."""
LINK = re.compile(r"https?://\S+")
ADDRESS = re.compile(r"\S+@\S+|https?://\S+|[+(]?[0-9][0-9 ()/.+-]+")
"""E-mail addresses, web addresses and numbers of telephones: they differ, and are no names."""
NAMES_AS_IDS = "no column says id, and its names differ in all first rows; where two may be the same, number the rows"
"""Why a column of names is the id: it then is the name as well."""
FRACTION = re.compile(r"[+-]?\d*[.,]\d+")
LONGEST_KEY = 60
"""Most characters, on average, of the values of a column that is taken for the id by its values alone."""
MOST_WORDS = 6
"""Most words, on average, of names that are taken for ids; longer values are free text, which may occur twice."""
LONGEST_NAME = 120
"""Most characters, on average, of the values of a column that is taken for the name."""
Found = tuple[str, str]
"""A column (empty: none) and why it was chosen."""


def plain(column: str) -> str:
    """Return a column's name in lower case with `_` between its words: `movieId` → `movie_id`."""
    word = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column.strip())
    return re.sub(r"[\W_]+", "_", word.lower()).strip("_")


def _texts(sniffed: Sniffed, column: str) -> list[str]:
    return [str(value) for value in sniffed.values(column) if isinstance(value, str | int)]


def _named(sniffed: Sniffed, names: Iterable[str], taken: set[str]) -> str:
    columns = {plain(column): column for column in reversed(sniffed.columns) if column not in taken}
    return next((columns[name] for name in names if name in columns), "")


def ends_of(sniffed: Sniffed) -> tuple[str, str, str] | None:
    """Return the columns of both ends of the edges in a file, and why; None if the file holds no edges."""
    columns = {plain(column): column for column in sniffed.columns}
    for begin, end in END_NAMES:
        for pattern in ("{}_id", "{}", "id_{}", "{}_node", "{}_key", "{}_index"):
            source, target = columns.get(pattern.format(begin)), columns.get(pattern.format(end))
            if source and target:
                return source, target, f"'{source}' and '{target}' name the two ends of a relation"
    path = plain(sniffed.file.path.rsplit("/", 1)[-1].split(".")[0])
    ids = [column for name, column in columns.items() if name.endswith(("_id", "_ids"))]
    says_edges = bool(re.search(r"(^|_)(edges?|links?|relations?|relationships?|rels?|triples?)$", path))
    if says_edges and len(sniffed.columns) >= 2:
        if len(sniffed.columns) == 3 and not ids:
            first, _, last = sniffed.columns
            return first, last, "the file's name says relations, and three columns are source, relation and target"
        pair = ids[:2] if len(ids) >= 2 else list(sniffed.columns[:2])
        return pair[0], pair[1], f"the file's name says relations, and '{pair[0]}' and '{pair[1]}' come first"
    repeated = [column for column in ids if len(set(_texts(sniffed, column))) < len(_texts(sniffed, column))]
    if len(ids) == 2 and len(sniffed.columns) <= 4 and ("id" not in columns) and repeated:
        return ids[0], ids[1], f"'{ids[0]}' and '{ids[1]}' hold ids, and the file has no id of its own"
    return None


def id_column(sniffed: Sniffed, kind: str, taken: Iterable[str] = ()) -> Found:
    """Return the column of the ids, or none if no column looks like one: then the rows are numbered.

    Without a column that says so, the column that is called like the rows goes first, then keys without a space, then
    names of a few words; never free text, numbers with a fraction, or dates, of which a later row may hold one a second
    time. Columns in `taken` refer to other tables.
    """
    out = set(taken)
    last = kind.rsplit("_", 1)[-1]
    named = _named(sniffed, (*ID_NAMES[:4], f"{kind}_id", f"{last}_id", f"{kind}_key", *ID_NAMES[4:]), out)
    if named and _unique(sniffed, named):
        return named, "its name says id, and no value of the first rows occurs twice"
    if plain(named) in ID_NAMES[:4]:
        return named, "its name says id; but values of the first rows are empty or occur twice"
    free = [column for column in sniffed.columns if column not in out]
    unlike = [column for column in free if _unique(sniffed, column) and _may_be_key(sniffed, column)]
    own = next((column for column in unlike if is_called(column, kind) and _are_words(sniffed, column)), "")
    for column in unlike:
        if not any(" " in value for value in _texts(sniffed, column)) and not (own and _are_words(sniffed, column)):
            return column, "it is the first column of which no value is empty or occurs twice"
    names = [own, name_column(sniffed, kind, out)[0], *unlike]
    if name := next((column for column in names if column in unlike), ""):
        return name, NAMES_AS_IDS
    if named and _mostly_differs(sniffed, named):
        return named, "its name says id; but values of the first rows occur twice"
    return "", "no column says id, and none looks like one: values are empty, occur twice, or are free text"


def _mostly_differs(sniffed: Sniffed, column: str) -> bool:
    values = _texts(sniffed, column)
    return len(set(values)) >= MOSTLY * len(values) > 0


def is_called(column: str, kind: str) -> bool:
    """Whether a column has the name of the rows themselves: `Film` in a table of films."""
    return plain(column).removesuffix("s") in (kind, kind.rsplit("_", 1)[-1])


def _are_words(sniffed: Sniffed, column: str) -> bool:
    values = _texts(sniffed, column)
    return sum(not any(mark.isdigit() for mark in value) for value in values) * 2 > len(values)


def _may_be_key(sniffed: Sniffed, column: str) -> bool:
    """Whether values may be ids by their form: short, of a few words, no dates, no numbers with a fraction.

    Whole numbers are counts and years more often than ids, unless they stand in the first column.
    """
    values = _texts(sniffed, column)
    if sum(map(len, values)) > LONGEST_KEY * len(values):
        return False
    if sum(len(value.split()) for value in values) > MOST_WORDS * len(values):
        return False
    if column != sniffed.columns[0] and all(map(is_number, values)):
        return False
    decision = sniffed.decision(column)
    if decision.kind == "date" or decision.format or decision.unit or all(map(LINK.fullmatch, values)):
        return False
    return not all(FRACTION.fullmatch(value) or is_date(value) for value in values)


def type_column(sniffed: Sniffed, id_: str, *, mixed: bool) -> Found:
    """Return the column of the types, or none: then all nodes of the file have one type.

    A file is `mixed` if its name does not say what its rows are.
    """
    column = _named(sniffed, TYPE_NAMES, {id_})
    if column and not (mixed or plain(column) in SURE_TYPES or _fields_differ(sniffed, column)):
        return "", ""
    values = _texts(sniffed, column) if column else []
    different = len(set(values))
    if not column or len(values) < len(sniffed.sample) or different > TYPES_AT_MOST:
        return "", ""
    if plain(column) == "label" and _named(sniffed, ("type", "name", "title"), {id_, column}) == "":
        # A column `label` beside no other name is the name, unless its values repeat as types do.
        if different * 3 > len(values):
            return "", ""
    elif different * 2 > len(values) and len(values) > 10:
        return "", ""
    return column, f"its name says type, and it has {different} different values"


def _fields_differ(sniffed: Sniffed, type_: str) -> bool:
    """Whether rows of two types fill different columns, so that they are different things."""
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in sniffed.sample:
        rows.setdefault(str(row.get(type_) or ""), []).append(row)
    rows.pop("", None)
    for column in sniffed.columns:
        filled = [sum(bool(row.get(column)) for row in some) / len(some) for some in rows.values()]
        if filled and max(filled) >= FILLED and min(filled) <= 1 - FILLED:
            return True
    return False


def name_columns(sniffed: Sniffed, kind: str, taken: set[str]) -> tuple[tuple[str, ...], str]:
    """Return the columns that are the name together, or none: then the id is the name."""
    columns = {plain(column): column for column in sniffed.columns if column not in taken}
    pair = next((pair for pair in PERSON_NAMES if set(pair) <= columns.keys()), ())
    if pair:
        return tuple(columns[word] for word in pair), "its name says that it is a part of the name"
    column, because = name_column(sniffed, kind, taken)
    return ((column,) if column else ()), because


def name_column(sniffed: Sniffed, kind: str, taken: set[str]) -> Found:
    """Return the column of the names, or none: then the id is the name."""
    column = _named(sniffed, (*NAME_NAMES[:2], f"{kind}_name", f"{kind}_title", kind, *NAME_NAMES[2:]), taken)
    free = [column for column in sniffed.columns if column not in taken]
    column = column or next((one for one in free if plain(one).rsplit("_", 1)[-1] in NAME_NAMES), "")
    if column and _are_names(sniffed, column):
        return column, "its name says so"
    for column in free:
        values = [value for value in sniffed.values(column) if isinstance(value, str)]
        if len(values) < len(sniffed.sample) or not values or sniffed.decision(column).open:
            continue
        if _are_names(sniffed, column) and len(set(values)) * 2 > len(values):
            return column, "it is the first column of short texts that mostly differ"
    return "", ""


def says_name(sniffed: Sniffed) -> bool:
    """Whether a column says that it holds the names of the rows."""
    return any(plain(column) in NAME_NAMES for column in sniffed.columns)


def _are_names(sniffed: Sniffed, column: str) -> bool:
    """Whether values may be names by their form: short texts, no numbers, dates or addresses."""
    values = [value for value in sniffed.values(column) if isinstance(value, str)]
    if not values or sniffed.decision(column).kind:
        return False
    unlike = sum(bool(is_number(value) or is_date(value) or ADDRESS.fullmatch(value)) for value in values[:50])
    return unlike * 2 <= len(values[:50]) and sum(map(len, values)) <= LONGEST_NAME * len(values)


def relation_column(sniffed: Sniffed, taken: set[str], at_most: int, *, named: bool) -> Found:
    """Return the column of the relations, or none: then all edges of the file have one relation.

    With `named`, only a column whose name can say nothing else.
    """
    column = _named(sniffed, SURE_RELATIONS if named else (*SURE_RELATIONS, *RELATION_NAMES), taken)
    if column and len(set(_texts(sniffed, column))) <= at_most:
        return column, "its name says so, and its values repeat"
    rest = [column for column in sniffed.columns if column not in taken]
    if len(rest) == 1 and not named:
        values = _texts(sniffed, rest[0])
        words = len(values) == len(sniffed.sample) and not all(map(is_number, values))
        if words and len(set(values)) <= max(20, len(values) // 10):
            return rest[0], "it is the only other column, and its values repeat"
    return "", ""


def _unique(sniffed: Sniffed, column: str) -> bool:
    values = _texts(sniffed, column)
    return len(values) == len(sniffed.sample) == len(set(values)) and column not in sniffed.repeated
