"""The small Cypher that language models write: its grammar, its reader, and its check against a schema.

It has MATCH (several patterns, both directions, nodes and relations without names), WHERE with AND, CONTAINS and
comparisons, and RETURN. Everything else is a fault with its line and column.
"""

from search.domain.cypher.check import CheckedQuery, Strictness, checked_query
from search.domain.cypher.faults import CypherFault, CypherPlace, CypherUnreadable
from search.domain.cypher.read import MOST_CHARACTERS, MOST_TRIPLETS, read_cypher
from search.domain.cypher.reply import cypher_in

__all__ = [
    "MOST_CHARACTERS",
    "MOST_TRIPLETS",
    "CheckedQuery",
    "CypherFault",
    "CypherPlace",
    "CypherUnreadable",
    "Strictness",
    "checked_query",
    "cypher_in",
    "read_cypher",
]
