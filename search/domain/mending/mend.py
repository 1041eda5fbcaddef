"""Corrects harmless faults of a plan before it is parsed, and lists the corrections.

`Plan.parse` is strict, but a language model often writes a plan with small faults. A fault with only one possible
meaning is corrected here: case, plural, spaces and underscores, words for directions, the aliases of a schema, a single
value instead of a list. A fault with several possible meanings is not corrected: the parser reports it to the model.
"""

from __future__ import annotations

from collections.abc import Mapping

from search.domain.graph import ANY, Schema
from search.domain.mending.names import as_kind
from search.domain.mending.tools import MOST_ITEMS, Json, MendingTools
from search.domain.mending.words import (
    ANCHOR_KEYS,
    ASK_WORDS,
    COUNT_KEYS,
    DIRECTION_WORDS,
    EXCLUSION_KEYS,
    FILTER_KEYS,
    HOP_KEYS,
    MATCH_MODES,
    OPERATOR_WORDS,
    ORDER_KEYS,
    ORDER_WORDS,
    PLAN_KEYS,
    RETRIEVAL_MODES,
    RISK_WORDS,
    TARGET_KEYS,
)
from search.domain.plan import MAX_DEPTH


def mend(data: object, schema: Schema) -> tuple[object, list[str]]:
    """Return a plan's JSON with its harmless faults corrected, and one sentence for each correction.

    The input is not changed. A value that is not an object is returned as it is, and the parser reports it. Ids of
    anchors are removed: a model sees only names, so it must have invented the ids that it writes.
    """
    mender = _Mender(schema)
    return mender.plan(data), mender.said


class _Mender(MendingTools):
    """The correction of one plan; `said` collects the sentences. An object is used only once."""

    def plan(self, data: object) -> object:
        data = self.unwrapped(data)
        if not isinstance(data, dict):
            return data
        plan = self.keys(data, PLAN_KEYS, "")
        self.choose(plan, "retrieval_mode", RETRIEVAL_MODES, "")
        self.choose(plan, "risk_level", RISK_WORDS, "")
        if plan.get("retrieval_mode") == "skip":
            self.say("the model gave the question up (skip): no starting points, no steps, no_trade")
            return {"target": {"var": "T"}, "risk_level": "no_trade", "retrieval_mode": "skip"}
        plan["anchors"] = self.listed(plan, "anchors", self._anchor)
        plan["hops"] = self.listed(plan, "hops", self._hop)
        plan["target"] = self._target(plan.get("target"), plan)
        plan["filters"] = self.listed(plan, "filters", self._filter)
        plan["exclude"] = self.listed(plan, "exclude", self._exclusion)
        self.choose(plan, "ask", ASK_WORDS, "")
        self._settle_mode(plan)
        labels = _labels(plan)
        self._turn_hops(plan, labels)
        self._fields(plan, labels)
        self._show(plan, labels)
        for _, pattern in _objects(plan, "exclude"):
            known = _labels({"target": {}, **pattern}) | labels
            self._turn_hops(pattern, known)
            self._fields(pattern, known)
        plan["order"] = self._order(plan.get("order"), plan, labels)
        return {key: value for key, value in plan.items() if value is not None and (value != [] or key == "anchors")}

    # ---- the parts of a plan

    def _anchor(self, item: object, index: int) -> object:
        if isinstance(item, str):
            self.say(f"starting point {index + 1} was a bare text")
            item = {"text": item}
        if not isinstance(item, dict):
            return item
        anchor = self.keys(item, ANCHOR_KEYS, f"starting point {index + 1}")
        if anchor.pop("ids", None):
            self.say(f"ids of starting point {index + 1} were left out: a model cannot know them")
        anchor.setdefault("var", f"A{index + 1}")
        if isinstance(label := anchor.get("label"), list) and len(label) == 1:
            self.say(f"label of starting point {index + 1} was a list")
            anchor["label"] = label[0]
        anchor["label"] = self.type(anchor.get("label"), f"starting point {index + 1}")
        self.choose(anchor, "match_mode", MATCH_MODES, f"starting point {index + 1}")
        # A plan that is nested too deep is left for the parser, which refuses it.
        if "plan" in anchor and self.depth < MAX_DEPTH:
            inside = _Mender(self.schema, self.depth + 1)
            anchor["plan"] = inside.plan(anchor["plan"])
            self.said += [f"in the plan of starting point {index + 1}, {sentence}" for sentence in inside.said]
        return anchor

    def _hop(self, item: object, index: int) -> object:
        if not isinstance(item, dict):
            return item
        hop = self.keys(item, HOP_KEYS, f"step {index + 1}")
        hop["to_label"] = self.type(hop.get("to_label"), f"step {index + 1}")
        self.choose(hop, "direction", DIRECTION_WORDS, f"step {index + 1}")
        if hop.get("direction") == "":
            del hop["direction"]
        return hop

    def _target(self, item: object, plan: Json) -> object:
        if isinstance(item, str):
            named = self.book.type_of(item)
            variables = {str(hop.get("to_var")) for _, hop in _objects(plan, "hops")}
            self.say(f"the target was the bare text {item!r}")
            item = {"var": item} if item in variables or not named else {"labels": [named]}
        if item is None:
            self.say("the plan had no target; T was taken")
            item = {}
        if not isinstance(item, dict):
            return item
        target = self.keys(item, TARGET_KEYS, "target")
        target.setdefault("var", "T")
        labels = target.get("labels", [])
        if isinstance(labels, str):
            self.say("labels of the target was a bare text")
            labels = [labels]
        if isinstance(labels, list):
            target["labels"] = [self.type(label, "target") for label in labels[:MOST_ITEMS] if label is not None]
        return target

    def _filter(self, item: object, index: int) -> object:
        if not isinstance(item, dict):
            return item
        where = f"filter {index + 1}"
        condition = self.keys(item, FILTER_KEYS, where)
        self.choose(condition, "op", OPERATOR_WORDS, where)
        op, value = condition.get("op"), condition.get("value")
        if isinstance(count := condition.get("count"), dict):
            condition["count"] = self._count(count)
            return {key: one for key, one in condition.items() if key != "field" or one}
        if op == "between" and isinstance(value, dict) and len(value) == 2:
            self.say(f"the value of {where} was an object; its two values were taken")
            condition["value"] = list(value.values())
        if op == "=" and isinstance(value, list):
            self.say(f"{where} compared with a list; = was read as in")
            condition["op"] = "in"
        if op == "!=" and isinstance(value, list):
            self.say(f"{where} compared with a list; != was read as not in")
            condition["op"] = "not in"
        if op in ("in", "not in") and isinstance(value, str | int | float):
            self.say(f"the value of {where} was not in a list")
            condition["value"] = [value]
        return condition

    def _exclusion(self, item: object, index: int) -> object:
        if not isinstance(item, dict):
            return item
        pattern = self.keys(item, EXCLUSION_KEYS, f"exclusion {index + 1}")
        for key, mend_item in (("anchors", self._anchor), ("hops", self._hop), ("filters", self._filter)):
            pattern[key] = self.listed(pattern, key, mend_item)
        return {key: value for key, value in pattern.items() if value != [] or key != "filters"}

    def _order(self, item: object, plan: Json, labels: Mapping[str, str]) -> object:
        if isinstance(item, str):
            self.say("the order was a bare text")
            item = {"by": item}
        if not isinstance(item, dict):
            return item
        order = self.keys(item, ORDER_KEYS, "order")
        self.choose(order, "direction", ORDER_WORDS, "order")
        target = plan["target"].get("var") if isinstance(plan["target"], dict) else None
        label = labels.get(str(target), ANY)
        by = order.get("by")
        by = {"field": by} if isinstance(by, str) else dict(by) if isinstance(by, dict) else by
        if isinstance(by, dict) and isinstance(by.get("field"), str) and not by.get("edge"):
            found = self.book.field_of(by["field"], label)
            by["field"] = found.name if found else by["field"]
        if isinstance(by, dict) and isinstance(count := by.get("count"), dict | str):
            by["count"] = self._count({"rel": count} if isinstance(count, str) else count, label)
        if by != order.get("by"):
            self.say(f"the order was read as {by!r}")
            order["by"] = by
        return order

    def _count(self, item: Json, label: str = ANY) -> Json:
        count = self.keys(item, COUNT_KEYS, "count")
        self.choose(count, "direction", DIRECTION_WORDS, "count")
        count = {key: value for key, value in count.items() if value != ""}
        reading = self.book.relation_of(str(count.get("rel")), label, str(count.get("to_label", ANY)))
        return count | ({"rel": reading[0]} if reading else {})

    # ---- corrections that need the whole plan

    def _settle_mode(self, plan: Json) -> None:
        """Correct a `doc_search` plan, which must have no hops and one anchor with the target's variable (GRASP)."""
        target = plan["target"]
        if plan.get("retrieval_mode") != "doc_search" or not isinstance(target, dict):
            return
        if plan["hops"]:
            self.say("doc_search has no steps; the plan has, and was read as graph_filter_doc")
            plan["retrieval_mode"] = "graph_filter_doc"
        elif plan["anchors"] == [] and isinstance(text := target.get("relevance_text"), str) and text.strip():
            self.say("doc_search had nowhere to start; the target's text became its starting point")
            label = _only_label(target) or ANY
            plan["anchors"] = [{"var": target["var"], "text": text, "label": label, "match_mode": "doc"}]
        elif len(anchors := _objects(plan, "anchors")) == 1 and anchors[0][1].get("var") != target["var"]:
            self.say(f"the starting point of doc_search stands for the target {target['var']!r}")
            anchors[0][1]["var"] = target["var"]

    def _turn_hops(self, plan: Json, labels: Mapping[str, str]) -> None:
        """Correct names of relations, and reverse directions that exist in the schema only the other way round."""
        for index, hop in _objects(plan, "hops"):
            near, far = (labels.get(str(hop.get(end)), ANY) for end in ("from", "to_var"))
            self._relation(hop, index, near, far)

    def _relation(self, hop: Json, index: int, near: str, far: str) -> None:
        written = hop.get("rel")
        if isinstance(written, str) and (reading := self.book.relation_of(written, near, far)):
            name, direction = reading
            if name != written:
                self.say(f"relation {written!r} of step {index + 1} was read as {name}")
            hop["rel"] = name
            if direction and "direction" not in hop:
                hop["direction"] = direction
        way = hop.get("direction")
        if way in ("out", "in") and isinstance(hop.get("rel"), str):
            ways = self.book.directions(hop["rel"], near, far)
            if ways and way not in ways:
                hop["direction"] = next(iter(ways))
                self.say(f"step {index + 1} ran the wrong way; {hop['rel']} was turned to {hop['direction']!r}")

    def _show(self, plan: Json, labels: Mapping[str, str]) -> None:
        """Correct the name of the field that is asked for."""
        show, target = plan.get("show"), plan["target"]
        if not isinstance(show, str) or not isinstance(target, dict) or plan.get("show_edge"):
            return
        found = self.book.field_of(show, labels.get(str(target.get("var")), ANY)) if show else None
        if found is not None and found.name != show:
            self.say(f"field {show!r} to show was read as {found.name}")
            plan["show"] = found.name

    def _fields(self, plan: Json, labels: Mapping[str, str]) -> None:
        """Correct names of fields, and convert values to the kind of the field."""
        for index, condition in _objects(plan, "filters"):
            if not isinstance(condition.get("field"), str):
                continue
            found = self.book.field_of(condition["field"], labels.get(str(condition.get("var")), ANY))
            if found is None:
                continue
            if found.name != condition["field"]:
                self.say(f"field {condition['field']!r} of filter {index + 1} was read as {found.name}")
                condition["field"] = found.name
            value = condition.get("value")
            if isinstance(value, dict):
                continue
            read = (
                [as_kind(item, found.kind) for item in value] if isinstance(value, list) else as_kind(value, found.kind)
            )
            if read != value:
                self.say(f"the value of filter {index + 1} was read as {read!r}")
                condition["value"] = read


def _labels(plan: Json) -> dict[str, str]:
    """Return variable → node type, for the variables to which the plan gives exactly one type."""
    given: dict[str, set[str]] = {}
    for key, var, label in (("anchors", "var", "label"), ("hops", "to_var", "to_label")):
        for _, item in _objects(plan, key):
            given.setdefault(str(item.get(var)), set()).add(str(item.get(label, ANY)))
    target = plan["target"]
    if isinstance(target, dict) and (only := _only_label(target)):
        given.setdefault(str(target.get("var")), set()).add(only)
    return {var: next(iter(types - {ANY})) for var, types in given.items() if len(types - {ANY}) == 1}


def _objects(plan: Json, key: str) -> list[tuple[int, Json]]:
    """Return (position, item) for the objects in the plan's list `key`; nothing if the value is not a list."""
    items = plan.get(key)
    return [(i, item) for i, item in enumerate(items) if isinstance(item, dict)] if isinstance(items, list) else []


def _only_label(target: Json) -> str | None:
    labels = target.get("labels")
    return labels[0] if isinstance(labels, list) and len(labels) == 1 and isinstance(labels[0], str) else None
