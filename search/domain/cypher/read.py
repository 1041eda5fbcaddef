"""Reads a Cypher text by the grammar beside this file (AF-Retriever, section 3.2, step 3; there: regular expressions).

Reading takes time in proportion to the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken

from search.domain.cypher.faults import CypherFault, CypherPlace, CypherUnreadable
from search.domain.cypher.syntax import Literal, Word, WrittenCondition, WrittenEdge, WrittenNode, WrittenQuery
from search.domain.graph import Direction

MOST_CHARACTERS = 20_000
MOST_TRIPLETS = 30
"""Most triplets of a query: a question has a handful, and a model that repeats itself writes hundreds."""
_ALLOWED = "a query has MATCH, WHERE with AND, comparisons and CONTAINS, and RETURN"
_OUTSIDE = {
    "or": "OR is not allowed; keep only what must hold",
    "xor": "XOR is not allowed; keep only what must hold",
    "not": "NOT is not allowed; leave negated facts out",
    "in": "IN is not allowed; compare with a single value",
    "starts": "STARTS WITH is not allowed; use CONTAINS",
    "ends": "ENDS WITH is not allowed; use CONTAINS",
    "exists": "EXISTS is not allowed; write the pattern in MATCH",
    "|": "alternatives (`|`) are not allowed; write a single relation",
    "*": "paths of any length (`*`) are not allowed; write each step",
}
_WORD = re.compile(r"\w+|\S")
_FUNCTION = re.compile(r"(\w+)\s*\Z")


def read_cypher(text: str) -> WrittenQuery:
    """Return the query that a text consists of. Raises CypherUnreadable with the place of the first fault."""
    if len(text) > MOST_CHARACTERS:
        message = f"the text has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read"
        raise CypherUnreadable([CypherFault(CypherPlace(1, 1), message)])
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise CypherUnreadable([_fault(text, error)]) from None
    query = _Reader().query(tree)
    if len(query.edges) > MOST_TRIPLETS:
        message = f"the query has {len(query.edges)} triplets; at most {MOST_TRIPLETS} are allowed"
        raise CypherUnreadable([CypherFault(query.edges[MOST_TRIPLETS].place, message)])
    return query


@lru_cache(maxsize=1)
def _parser() -> Lark:
    grammar = (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", propagate_positions=True)


def _fault(text: str, error: UnexpectedInput) -> CypherFault:
    """Return the fault at which the grammar stopped."""
    at = error.pos_in_stream
    ended = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    found = None if ended else _WORD.search(text, max(0, at or 0))
    if found is None:
        lines = text.rstrip().split("\n")
        message = f"the query ends too early; {_ALLOWED}" if text.strip() else f"the query is empty; {_ALLOWED}"
        return CypherFault(CypherPlace(len(lines), len(lines[-1]) + 1), message)
    before = text[: found.start()]
    place = CypherPlace(before.count("\n") + 1, found.start() - (before.rfind("\n") + 1) + 1)
    word = found.group()
    function = _FUNCTION.search(before[-80:]) if word == "(" else None
    if word.casefold() in _OUTSIDE:
        return CypherFault(place, _OUTSIDE[word.casefold()])
    if function is not None:
        return CypherFault(place, f"functions such as {function[1]:.40}(…) are not allowed; {_ALLOWED}")
    return CypherFault(place, f"`{word:.40}` cannot stand here; {_ALLOWED}")


class _Reader:
    """Reads the syntax tree of one query; an instance is used once."""

    def __init__(self) -> None:
        self.nodes: list[WrittenNode] = []
        self.edges: list[WrittenEdge] = []
        self.conditions: list[WrittenCondition] = []
        self.unnamed = 0

    def query(self, tree: Tree[Token]) -> WrittenQuery:
        """Return the query. Raises CypherUnreadable if it returns several variables."""
        returned: list[Word] = []
        for clause in _trees(tree):
            if clause.data == "match":
                for pattern in _trees(clause):
                    self._pattern(pattern)
            elif clause.data == "where":
                for condition in _trees(clause):
                    self._condition(condition)
            else:
                returned += [_word(item.children[0]) for item in _trees(clause)]
        if several := [word for word in returned if word.text != returned[0].text]:
            message = f"only one variable is returned, and this is a second one: `{several[0].text:.40}`"
            raise CypherUnreadable([CypherFault(several[0].place, message)])
        return WrittenQuery(tuple(self.nodes), tuple(self.edges), tuple(self.conditions), returned[0])

    def _pattern(self, tree: Tree[Token]) -> None:
        parts = list(_trees(tree))
        names = [self._node(part) for part in parts[::2]]
        for at, edge in enumerate(parts[1::2]):
            self._edge(edge, names[at], names[at + 1])

    def _node(self, tree: Tree[Token]) -> str:
        """Note a node and the conditions in its braces; return its name."""
        place = CypherPlace(tree.meta.line, tree.meta.column)
        named = next((str(child) for child in tree.children if isinstance(child, Token)), "")
        if not named:
            self.unnamed += 1
            named = f"#{self.unnamed}"
        self.nodes.append(WrittenNode(named, _label(tree), place))
        self._values(tree, named)
        return named

    def _edge(self, tree: Tree[Token], before: str, after: str) -> None:
        parts = {part.data: part for part in _trees(tree)}
        start, end = parts["edge_start"].children[0], parts["edge_end"].children[0]
        arrows = isinstance(start, Token) and start.type == "LEFT", isinstance(end, Token) and end.type == "RIGHT"
        direction: Direction | None = None if arrows[0] == arrows[1] else "in" if arrows[0] else "out"
        place = CypherPlace(tree.meta.line, tree.meta.column)
        if values := parts.get("values"):
            message = "relations have no properties here"
            raise CypherUnreadable([CypherFault(CypherPlace(values.meta.line, values.meta.column), message)])
        head, tail = (after, before) if direction == "in" else (before, after)
        self.edges.append(WrittenEdge(head, _label(tree), tail, "out" if direction else None, place))

    def _values(self, tree: Tree[Token], name: str) -> None:
        for values in (part for part in _trees(tree) if part.data == "values"):
            for pair in _trees(values):
                key, literal = _trees(pair)
                word = _word(key.children[0])
                self.conditions.append(WrittenCondition(name, word, "=", _literal(literal), word.place))

    def _condition(self, tree: Tree[Token]) -> None:
        if tree.data == "group":
            for inner in _trees(tree):
                self._condition(inner)
            return
        var, key, op, literal = tree.children
        assert isinstance(key, Tree)
        assert isinstance(literal, Tree)
        word = _word(var)
        said = str(op).casefold().replace("==", "=").replace("<>", "!=")
        condition = WrittenCondition(word.text, _word(key.children[0]), said, _literal(literal), word.place)
        self.conditions.append(condition)


def _trees(tree: Tree[Token]) -> Iterator[Tree[Token]]:
    return (child for child in tree.children if isinstance(child, Tree))


def _word(token: Token | Tree[Token]) -> Word:
    assert isinstance(token, Token)
    return Word(str(token).strip("`"), CypherPlace(token.line or 1, token.column or 1))


def _label(tree: Tree[Token]) -> Word | None:
    return next((_word(part.children[0]) for part in _trees(tree) if part.data == "label"), None)


def _literal(tree: Tree[Token]) -> Literal:
    """Return the value of a literal; dates stay texts, as fields hold them."""
    token = tree.children[0]
    assert isinstance(token, Token)
    if token.type == "STRING":
        return re.sub(r"\\(.)", r"\1", str(token)[1:-1], flags=re.DOTALL)
    if token.type == "NUMBER":
        # A float would round whole numbers from 2**53 on.
        number = float(token)
        return int(token) if token.lstrip("+-").isdigit() else int(number) if number.is_integer() else number
    return str(token).casefold() if token.type == "TRUTH" else str(token)
