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
    exclude="exclude exclusions excluded excludes not without",
    order="order orderby sort sortby ranking",
    ask="ask asks asked",
    show="show shows shown",
    show_edge="showedge",
    risk_level="risklevel risk",
    retrieval_mode="retrievalmode mode",
)
EXCLUSION_KEYS = {key: PLAN_KEYS[key] for key in PLAN_KEYS if PLAN_KEYS[key] in ("anchors", "hops", "filters")}
ORDER_KEYS = _table(by="by key on", direction="direction dir order", limit="limit top first n k most")
COUNT_KEYS = _table(
    rel="rel relation relationtype edge type relationship",
    direction="direction dir",
    to_label="tolabel totype label targetlabel targettype",
    among="among",
    function="function aggregate",
    of="of field",
)
ANCHOR_KEYS = _table(
    var="var variable id alias",
    text="text name mention value surface",
    label="label type nodetype labels",
    match_mode="matchmode mode match",
    ids="ids",
    plan="plan subplan subquery",
)
HOP_KEYS = {"from": "from", "source": "from", "src": "from", "fromvar": "from", "start": "from"} | _table(
    rel="rel relation relationtype edge edgetype type relationship",
    to_var="tovar to target dst end",
    to_label="tolabel totype label targetlabel targettype tonodetype",
    direction="direction dir",
    where="where filters filter conditions",
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
    count="count counted number",
)

RISK_WORDS = _table(
    no_trade="notrade none zero no",
    weak="weak low small slight",
    normal="normal medium moderate default standard",
    aggressive="aggressive high strong",
)
ORDER_WORDS = _table(
    asc="asc ascending up lowest smallest least oldest earliest first increasing",
    desc="desc descending down highest largest greatest newest latest last decreasing",
)
ASK_WORDS = {"how many": "how many"} | {
    word: meaning
    for meaning, said in {
        "which": "which what who list entities",
        "how many": "howmany count number howmuch",
        "whether": "whether yesno boolean exists is",
        "sum": "sum total add",
        "mean": "mean average avg",
        "min": "min minimum lowest smallest least",
        "max": "max maximum highest largest greatest most",
    }.items()
    for word in said.split()
}
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
    "!=": "!=", "<>": "!=", "≠": "!=", "ne": "!=", "neq": "!=", "not": "!=", "isnot": "!=", "notequal": "!=",
    "notequalto": "!=", "notequals": "!=", "not in": "not in", "notin": "not in", "noneof": "not in", "nin": "not in",
    "not contains": "not contains", "notcontains": "not contains", "doesnotcontain": "not contains",
    "notcontain": "not contains", "exists": "exists", "exist": "exists", "isnotnull": "exists", "known": "exists",
    "missing": "missing", "isnull": "missing", "notexists": "missing", "unknown": "missing",
    "in": "in", "oneof": "in", "anyof": "in", "isin": "in", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "=": "=",
}  # fmt: skip
