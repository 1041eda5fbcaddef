"""Plans, and the results of checking them."""

# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any, get_args

from rest_framework import serializers

from search.api.serializers.basics import FaultSerializer, Flag, JsonObject, Text
from search.domain.plan import Ask


class PlanSerializer(serializers.Serializer[Any]):
    """A plan: the anchors, the hops to the target, and the conditions on the answer."""

    anchors = serializers.ListField(child=JsonObject(), required=False)
    hops = serializers.ListField(child=JsonObject(), required=False)
    target = JsonObject()
    filters = serializers.ListField(child=JsonObject(), required=False)
    exclude = serializers.ListField(child=JsonObject(), required=False)
    order = JsonObject(required=False)
    ask = serializers.ChoiceField(get_args(Ask), required=False)
    show = Text(required=False, help_text="The field of the answers that is asked for, or that `ask` is computed from.")
    show_edge = Text(
        required=False,
        help_text="The variable at the other end of the edge whose field `show` is, if it is one of an edge.",
    )
    risk_level = serializers.ChoiceField(["no_trade", "weak", "normal", "aggressive"], required=False)
    retrieval_mode = Text(required=False)


class MendedPlanSerializer(serializers.Serializer[Any]):
    """A plan with its harmless faults corrected, and one sentence for each correction."""

    plan = JsonObject()
    changes = serializers.ListField(child=Text())


class CheckedPlanSerializer(serializers.Serializer[Any]):
    """The result of a check: for a valid plan, `plan` as it would run; otherwise `errors`.

    `mended` is given as well if correcting harmless faults makes the plan valid.
    """

    valid = Flag()
    plan = JsonObject(required=False)
    errors = FaultSerializer(many=True, required=False)
    mended = MendedPlanSerializer(required=False)
