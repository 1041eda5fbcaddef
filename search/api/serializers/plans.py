"""Plans, and what is found when one is checked."""

# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from search.api.serializers.basics import Anything, Fault, Flag, Text


class Plan(serializers.Serializer[Any]):
    """A plan: where it starts, the hops to the target, and what the answer has to fulfil."""

    anchors = serializers.ListField(child=serializers.DictField(child=Anything()), required=False)
    hops = serializers.ListField(child=serializers.DictField(child=Anything()), required=False)
    target = serializers.DictField(child=Anything())
    filters = serializers.ListField(child=serializers.DictField(child=Anything()), required=False)
    risk_level = serializers.ChoiceField(["no_trade", "weak", "normal", "aggressive"], required=False)
    retrieval_mode = Text(required=False)


class MendedPlan(serializers.Serializer[Any]):
    """A plan whose harmless faults have been made right, and one sentence for each of them."""

    plan = serializers.DictField(child=Anything())
    changes = serializers.ListField(child=Text())


class CheckedPlan(serializers.Serializer[Any]):
    """`plan`, as it would run, where it is valid; else `errors`, and `mended` where that makes it valid."""

    valid = Flag()
    plan = serializers.DictField(child=Anything(), required=False)
    errors = Fault(many=True, required=False)
    mended = MendedPlan(required=False)
