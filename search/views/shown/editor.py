"""A plan as a form of chips: the choices and the faults of each chip."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from search.domain.errors import Fault
from search.domain.graph import ANY, Schema
from search.domain.plan.filter_checks import MEASURED
from search.domain.plan.parts import COMPARING, COUNTING
from search.plan_words import CONTAINED_WORDS, DATED_WORDS, MEASURED_WORDS, count_words, relation_words, where_words
from search.sentences.values import type_words
from search.text import words
from search.views.plan_form import EITHER, Json, fields_for, labels_of, loose_end
from search.views.shown.chips import Chip, ChipChoice, Editor, EntityLookup, FilterChip
from search.views.shown.order_chips import counts_for, exclusion_chips, order_chip
from search.views.shown.wording import RISK_NAMES, RISK_WORDINGS

OPERATOR_WORDINGS: Mapping[str, str] = {
    "=": "is", "!=": "is not", "between": "between", "in": "one of", "not in": "none of", "exists": "is known",
    "missing": "is not known", **MEASURED_WORDS, **CONTAINED_WORDS,
}  # fmt: skip
FITTING: Mapping[str, tuple[str, ...]] = {
    "number": ("=", "!=", "<", "<=", ">", ">=", "between", "in", "not in", "exists", "missing"),
    "date": ("=", "!=", "<", "<=", ">", ">=", "between", "in", "not in", "exists", "missing"),
    "keyword": ("=", "!=", "contains", "not contains", "in", "not in", "exists", "missing"),
    "text": ("contains", "not contains", "=", "in", "exists", "missing"),
    "count": COUNTING,
}
"""The operators that make sense on a field, by its kind."""


@dataclass
class _Painter:
    """Turns one plan into chips. It keeps track of what is drawn, so each object is used once."""

    plan: Json
    schema: Schema
    names: Mapping[str, str]
    looked: EntityLookup | None
    faults: Mapping[str, Sequence[str]]
    drawn: set[str] = field(default_factory=set)
    done: set[int] = field(default_factory=set)

    def lines(self) -> Iterator[tuple[Chip, ...]]:
        """Yield one line for each anchor, up to the target or a variable drawn already.

        Then yield one line for each hop that is left over.
        """
        for index, anchor in enumerate(self.plan["anchors"]):
            self.drawn.add(anchor["var"])
            yield (self.anchor(index), *self._walk(anchor["var"]))
        for index, hop in enumerate(self.plan["hops"]):
            if index not in self.done:
                yield (self._reference(hop["from"]), *self._step(index))

    def anchor(self, index: int) -> Chip:
        anchor, at = self.plan["anchors"][index], f"/anchors/{index}"
        ids = anchor.get("ids", [])
        tied = [self.names[node_id] for node_id in ids if node_id in self.names]
        return Chip(
            "anchor", at, anchor["var"], index, anchor["text"], self.types(anchor["label"]),
            hidden=(
                (f"{at}/match_mode", anchor.get("match_mode", "name")), (f"{at}/was", anchor["text"]),
                (f"{at}/was_label", anchor["label"]),
                *([(f"{at}/plan", json.dumps(anchor["plan"]))] if anchor.get("plan") else []),
            ),
            inner=bool(anchor.get("plan")),
            ids=json.dumps(ids), tied=tuple(dict.fromkeys(tied)),
            looked=self.looked if self.looked is not None and self.looked.index == index else None,
            faults=tuple(self.faults.get(at, ())), compared=self._only_compared(anchor["var"]),
        )  # fmt: skip

    def _only_compared(self, var: str) -> bool:
        joined = {end for hop in self.plan["hops"] for end in (hop["from"], hop["to_var"])}
        compared = [one["value"].get("var") for one in self.plan["filters"] if isinstance(one.get("value"), dict)]
        return var in compared and var not in joined and var != self.plan["target"]["var"]

    def target(self) -> Chip:
        target = self.plan["target"]
        labels = list(target["labels"])
        shown = [[], *([node_type.name] for node_type in self.schema.node_types if not node_type.hidden)]
        if labels not in shown:
            shown.append(labels)
        types = tuple(ChipChoice(json.dumps(item), _types_text(item), item == labels) for item in shown)
        return Chip("target", "/target", target["var"], types=types, faults=tuple(self.faults.get("/target", ())))

    def types(self, label: str) -> tuple[ChipChoice, ...]:
        """Return the choices of a type: any type, every type that planners see, and the present type."""
        names = [ANY, *(node_type.name for node_type in self.schema.node_types if not node_type.hidden)]
        names += [label] if label not in names else []
        return tuple(ChipChoice(name, type_words(name), name == label) for name in names)

    def _walk(self, var: str) -> Iterator[Chip]:
        """Yield the chips of the hops from a variable to the target or to a variable drawn already."""
        goal = self.plan["target"]["var"]
        while var != goal:
            ahead = [i for i, hop in enumerate(self.plan["hops"]) if hop["from"] == var and i not in self.done]
            if not ahead:
                return
            known = self.plan["hops"][ahead[0]]["to_var"] in self.drawn
            yield from self._step(ahead[0])
            if known:
                return
            var = self.plan["hops"][ahead[0]]["to_var"]

    def _step(self, index: int) -> Iterator[Chip]:
        """Yield the chips of a hop and of the variable at its end; the target, which ends every line, is left out."""
        hop, at = self.plan["hops"][index], f"/hops/{index}"
        self.done.add(index)
        ends = ((f"{at}/from", hop["from"]), (f"{at}/to_var", hop["to_var"]))
        relations, faults = tuple(self.relations(hop)), tuple(self.faults.get(at, ()))
        known = hop["to_var"] in self.drawn or hop["to_var"] == self.plan["target"]["var"]
        hidden: tuple[tuple[str, str], ...] = (*ends, (f"{at}/to_label", hop["to_label"])) if known else ends
        if hop.get("where"):
            hidden += ((f"{at}/where", json.dumps(hop["where"])), (f"{at}/was", hop["rel"]))
        yield Chip(
            "hop", at, "", index, relation_words(hop["rel"], hop.get("direction"), self.schema.wordings),
            relations=relations, hidden=hidden, faults=faults, loose=loose_end(self.plan, index) is not None,
            more=where_words(hop),
        )  # fmt: skip
        if not known:
            self.drawn.add(hop["to_var"])
            yield Chip("between", at, hop["to_var"], index, types=self.types(hop["to_label"]))
        elif hop["to_var"] != self.plan["target"]["var"]:
            yield self._reference(hop["to_var"])

    def _reference(self, var: str) -> Chip:
        """Return the chip that refers to a variable on another line."""
        types = _types_text(labels_of(self.plan).get(var, []))
        texts = {anchor["var"]: anchor["text"] for anchor in self.plan["anchors"]}
        return Chip("reference", "", var, text=texts.get(var) or types)

    def relations(self, hop: Json, labels: Mapping[str, list[str]] | None = None) -> Iterator[ChipChoice]:
        """Yield the relations between the types at both ends, most edges first, then the present one and “any”.

        `labels` are the types of the variables, those of the plan if they are not given.
        """
        labels = labels_of(self.plan) if labels is None else labels
        near, far = (self._allowed(labels.get(hop[end], [])) for end in ("from", "to_var"))
        counts: dict[tuple[str, str], int] = {}
        for kind in self.schema.relation_types:
            for start, end, way in kind.ways:
                if start in near and end in far:
                    counts[kind.relation, way] = counts.get((kind.relation, way), 0) + kind.count
        offered = sorted(counts, key=lambda pair: (-counts[pair], pair))
        both = [(relation, EITHER) for relation, way in offered if way == "out" and (relation, "in") in counts]
        present = (hop["rel"], hop.get("direction") or EITHER)
        if (
            present not in offered
            and present[1] == EITHER
            and len({pair for pair in offered if pair[0] == hop["rel"]}) == 1
        ):
            # The schema allows only one direction of this relation, so either direction means that one.
            present = next(pair for pair in offered if pair[0] == hop["rel"])
        last = [] if present in (*offered, *both, (ANY, EITHER)) else [present]
        for relation, direction in [*offered, *both, *last, (ANY, EITHER)]:
            chosen = (relation, direction) == present
            yield ChipChoice(f"{direction} {relation}", self._relation_text(relation, direction), chosen)

    def _relation_text(self, relation: str, direction: str) -> str:
        """Return a relation in words; with either direction in both: `cites or is cited by`."""
        ways = ("out", "in") if direction == EITHER else (direction,)
        return " or ".join(dict.fromkeys(relation_words(relation, way, self.schema.wordings) for way in ways))

    def _allowed(self, labels: Sequence[str]) -> frozenset[str]:
        return frozenset(labels or (node_type.name for node_type in self.schema.node_types))

    def filters(self) -> Iterator[FilterChip]:
        for index, condition in enumerate(self.plan["filters"]):
            yield self._filter(index, condition)

    def _filter(self, index: int, condition: Json) -> FilterChip:
        at, var, op = f"/filters/{index}", condition["var"], condition["op"]
        known = fields_for(self.plan, var, self.schema)
        count = condition.get("count")
        kind = "count" if count else known.get(str(condition.get("field")), "keyword")
        fields = [(name, words(name)) for name in dict.fromkeys([*known, *([] if count else [condition["field"]])])]
        counts = {json.dumps(by): text for by, text in counts_for(self.plan, var, self.schema)}
        present = json.dumps({"count": count}) if count else condition["field"]
        counts |= {present: count_words(count, self.schema.wordings)} if count and present not in counts else {}
        fields += counts.items()
        operators = list(dict.fromkeys([*FITTING.get(kind, OPERATOR_WORDINGS), op]))
        said = {**OPERATOR_WORDINGS, **(DATED_WORDS if kind == "date" else {})}
        given = condition.get("value")
        value, second = _values(op, given)
        variables = dict.fromkeys([self.plan["target"]["var"], *self._variables(), var])
        return FilterChip(
            at, index,
            vars=tuple(ChipChoice(name, self._said(name), name == var) for name in variables),
            fields=tuple(ChipChoice(name, text, name == present) for name, text in fields),
            operators=tuple(ChipChoice(name, said.get(name, name), name == op) for name in operators),
            var=var, kind="number" if count else kind, op=op, value=value, second=second,
            compares=tuple(self._compares(condition, kind)), compared=isinstance(given, dict),
            faults=tuple(self.faults.get(at, ())),
        )  # fmt: skip

    def _compares(self, condition: Json, kind: str) -> Iterator[ChipChoice]:
        """Yield what the value of a condition may be, if it may be a field of another node of the plan."""
        given = condition.get("value") if isinstance(condition.get("value"), dict) else None
        anchors = [anchor["var"] for anchor in self.plan["anchors"]]
        others = [var for var in dict.fromkeys([*anchors, *self._variables()]) if var != condition["var"]]
        offered = [
            {"var": var, "field": name}
            for var in others
            for name, other in fields_for(self.plan, var, self.schema).items()
            if other == kind and (kind in MEASURED or name == condition.get("field"))
        ]
        if condition["op"] not in COMPARING or not (offered or given):
            return
        offered += [given] if given and given not in offered else []
        yield ChipChoice("", "a value", given is None)
        for one in offered:
            yield ChipChoice(json.dumps(one), f"{words(one['field'])} of {self._said(one['var'])}", one == given)

    def _variables(self) -> Iterator[str]:
        for hop in self.plan["hops"]:
            yield from (hop["to_var"], hop["from"])

    def _said(self, var: str) -> str:
        """Return the name of a variable in a condition."""
        texts = {anchor["var"]: anchor["text"] for anchor in self.plan["anchors"]}
        if var == self.plan["target"]["var"]:
            return _types_text(self.plan["target"]["labels"])
        return texts.get(var) or f"{_types_text(labels_of(self.plan).get(var, []))} {var}"


def show_editor(
    plan: Json,
    schema: Schema,
    faults: Iterable[Fault] = (),
    names: Mapping[str, str] | None = None,
    looked: EntityLookup | None = None,
) -> Editor:
    """Return the form of a plan. `names` are those of the nodes that its anchors are tied to, by id."""
    by_part = _by_part(faults)
    painter = _Painter(plan, schema, names or {}, looked, by_part)
    lines = tuple(painter.lines())
    risk = plan["risk_level"]
    levels = list(dict.fromkeys([*RISK_NAMES, risk]))
    return Editor(
        lines=lines,
        target=painter.target(),
        residual=plan["target"]["relevance_text"],
        filters=tuple(painter.filters()),
        risks=tuple(ChipChoice(level, RISK_NAMES.get(level, level), level == risk) for level in levels),
        risk_words=RISK_WORDINGS.get(risk, ""),
        mode=plan.get("retrieval_mode") or "",
        faults=tuple(by_part.get("", ())),
        exclude=tuple(exclusion_chips(plan, by_part, painter.types, painter.relations)),
        compares=any(kind in MEASURED for kind in fields_for(plan, plan["target"]["var"], schema).values()),
        exclude_json=json.dumps(plan.get("exclude", [])),
        order=order_chip(plan, schema, by_part),
        json=json.dumps(plan, indent=2, ensure_ascii=False),
        fault_count=sum(map(len, by_part.values())),
    )


def _by_part(faults: Iterable[Fault]) -> dict[str, list[str]]:
    """Return messages by the chip that they belong to; the empty key holds the messages that belong to no chip."""
    found: dict[str, list[str]] = {}
    for fault in faults:
        parts = fault.pointer.split("/")[1:]
        listed = len(parts) >= 2 and parts[0] in ("anchors", "hops", "filters", "exclude")
        whole = f"/{parts[0]}" if parts[:1] in (["target"], ["order"], ["ask"], ["show"]) else ""
        part = f"/{parts[0]}/{parts[1]}" if listed else whole
        if fault.message not in found.setdefault(part, []):
            found[part].append(fault.message)
    return found


def _types_text(labels: Sequence[str]) -> str:
    return " or ".join(map(type_words, labels or [ANY]))


def _values(op: str, value: object) -> tuple[str, str]:
    """Return the texts of the two fields of a condition's value; the second is empty except for `between`."""
    if op == "between":
        pair = [*value, "", ""] if isinstance(value, list) else [value, ""]
        return _value_text(pair[0]), _value_text(pair[1])
    if op in ("in", "not in") and isinstance(value, list):
        return "\n".join(map(_value_text, value)), ""
    return _value_text(value), ""


def _value_text(value: object) -> str:
    """Return a condition's value as it is typed in; nothing for a condition without a value."""
    if isinstance(value, Mapping):
        return f"{words(value['field'])} of {value['var']}"
    return "" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
