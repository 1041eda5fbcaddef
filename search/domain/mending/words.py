"""Other words that people and models write for the words of a plan, folded (only letters and digits, lower case)."""

from __future__ import annotations

ANYTHING = frozenset({"", "any", "all", "anything", "anytype", "node", "entity", "unknown", "none", "null"})
WRAPPERS = frozenset({"plan", "queryplan", "retrievalplan", "result", "output", "answer", "response", "json"})
COMMENTARY = frozenset(
    {
        "reasoning", "reason", "explanation", "explain", "thought", "thoughts", "thinking", "comment", "comments",
        "note", "notes", "analysis", "rationale", "description", "confidence", "query", "question", "input",
    }
)  # fmt: skip
"""Keys under which models write comments; they contain no part of a plan and can be removed."""


def _table(**words: str) -> dict[str, str]:
    """Return folded word → meaning, from meaning → words."""
    return {word: meaning for meaning, said in words.items() for word in said.split()}


PLAN_KEYS = _table(
    anchors="anchors anchor entities startnodes",
    hops="hops hop steps edges path",
    target="target answer goal",
    filters="filters filter conditions constraints",
    risk_level="risklevel risk",
    retrieval_mode="retrievalmode mode",
)
ANCHOR_KEYS = _table(
    var="var variable id alias",
    text="text name mention value surface",
    label="label type nodetype labels",
    match_mode="matchmode mode match",
    ids="ids",
)
HOP_KEYS = {"from": "from", "source": "from", "src": "from", "fromvar": "from", "start": "from"} | _table(
    rel="rel relation relationtype edge edgetype type relationship",
    to_var="tovar to target dst end",
    to_label="tolabel totype label targetlabel targettype tonodetype",
    direction="direction dir",
)
TARGET_KEYS = _table(
    var="var variable id",
    labels="labels label type types nodetype nodetypes",
    relevance_text="relevancetext relevance text residual residualtext",
)
FILTER_KEYS = _table(
    var="var variable",
    field="field property attribute key",
    op="op operator comparison comparator",
    value="value values",
)

RISK_WORDS = _table(
    no_trade="notrade none zero no",
    weak="weak low small slight",
    normal="normal medium moderate default standard",
    aggressive="aggressive high strong",
)
RETRIEVAL_MODES = _table(
    doc_search="docsearch documentsearch textsearch",
    graph_filter_doc="graphfilterdoc graphfilter filter",
    graph_expand="graphexpand expand expansion",
    graph_strict="graphstrict strict",
    skip="skip skipped none unusable",
)
MATCH_MODES = _table(name="name names exact title short", doc="doc docs document description descriptive semantic text")
DIRECTION_WORDS = (
    {"->": "out", "→": "out", "<-": "in", "←": "in", "-": "", "--": "", "<->": "", "↔": "", "": ""}
    | _table(
        out="out outgoing outbound forward forwards right",
        **{"in": "in incoming inbound backward backwards reverse reversed inverse left"},
    )
    | dict.fromkeys(["either", "any", "both", "undirected", "none", "unknown"], "")
)
OPERATOR_WORDS = {
    "==": "=", "≤": "<=", "=<": "<=", "≥": ">=", "=>": ">=", "eq": "=", "equals": "=", "equal": "=", "is": "=",
    "equalto": "=",
    "lt": "<", "lessthan": "<", "below": "<", "under": "<", "before": "<",
    "lte": "<=", "le": "<=", "atmost": "<=", "max": "<=", "lessthanorequal": "<=", "lessthanorequalto": "<=",
    "gt": ">", "greaterthan": ">", "above": ">", "over": ">", "morethan": ">", "after": ">",
    "gte": ">=", "ge": ">=", "atleast": ">=", "min": ">=", "greaterthanorequal": ">=", "greaterthanorequalto": ">=",
    "between": "between", "range": "between", "contains": "contains", "contain": "contains", "includes": "contains",
    "in": "in", "oneof": "in", "anyof": "in", "isin": "in", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "=": "=",
}  # fmt: skip
