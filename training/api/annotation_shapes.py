"""The shapes of annotation in the API's description."""

# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from search.api.serializers.basics import Flag, Number, Text, Whole
from training.evaluation.lost.stages import LostStage
from training.models import FailureCause, Verdict
from training.models.annotation import HIGHEST_GRADE
from training.models.annotation import AnnotationQueue as Queue
from training.services.annotation.hand_out import MOST_AT_ONCE
from training.services.annotation.judge import LONGEST_NOTE, MOST_EXPECTED

STATUSES = ["met", "not_met", "unknown"]


class AnnotationProgressSerializer(serializers.Serializer[Any]):
    """Items of a queue; `done` are judged by as many people as the overlap says, `left` are left for you."""

    items = Whole()
    done = Whole()
    retired = Whole(help_text="Nothing could be shown of them.")
    mine = Whole(help_text="Judged by you.")
    skipped = Whole(help_text="Skipped by you.")
    left = Whole()
    assigned = Whole(help_text="Assigned to you by name; 0: what is assigned to nobody is for everybody.")


class AnnotationQueueSerializer(serializers.Serializer[Any]):
    """A queue as annotators see it."""

    id = Whole()
    name = Text()
    knowledge_base = Text()
    state = serializers.ChoiceField(choices=Queue.State.choices)
    overlap = Whole(help_text="People who judge each item.")
    guideline = Text(help_text="Markdown.")
    progress = AnnotationProgressSerializer()


class AnnotationGradeSerializer(serializers.Serializer[Any]):
    """A grade and its meaning."""

    grade = Whole()
    meaning = Text()


class AnnotationWordSerializer(serializers.Serializer[Any]):
    """A value with its words."""

    value = Text()
    label = Text()


class AnnotationQueueDetailSerializer(AnnotationQueueSerializer):
    """A queue, with what a judgement may say."""

    grades = AnnotationGradeSerializer(many=True)
    causes = AnnotationWordSerializer(many=True)
    stages = AnnotationWordSerializer(many=True)


class NextRequestSerializer(serializers.Serializer[Any]):
    """How many items a tab wants to hold."""

    tab = serializers.UUIDField(help_text="Made by the client, once for each tab.")
    annotator = Whole(required=False, help_text="Id of the account that the client thinks it has; else 403.")
    number = Whole(required=False, min_value=0, max_value=MOST_AT_ONCE, default=1)
    take_over = Flag(required=False, default=False, help_text="Move what your other tabs hold to this one.")


class CandidateFieldSerializer(serializers.Serializer[Any]):
    """A field of the candidate."""

    name = Text()
    values = serializers.ListField(child=Text(allow_blank=True))


class CandidateRelationSerializer(serializers.Serializer[Any]):
    """Neighbours of the candidate by one relation; `names` are the first of them."""

    wording = Text()
    direction = serializers.ChoiceField(choices=["out", "in"])
    count = Whole()
    more = Flag(help_text="There are more than were counted.")
    names = serializers.ListField(child=Text(allow_blank=True))


class CandidateConditionSerializer(serializers.Serializer[Any]):
    """A condition of the question's plan, checked for the candidate."""

    kind = serializers.ChoiceField(choices=["entity", "relation", "filter", "exclusion", "order"])
    words = Text(allow_blank=True)
    status = serializers.ChoiceField(choices=STATUSES)


class PathPartSerializer(serializers.Serializer[Any]):
    """A node of a path (name, type) or the relation to the next one (relation, direction)."""

    name = Text(required=False)
    type = Text(required=False)
    relation = Text(required=False)
    direction = Text(required=False)


AnnotationCandidate = inline_serializer(
    # Not a class: a serializer has an attribute of its own that is called `fields`.
    name="AnnotationCandidate",
    fields={
        "id": Text(), "name": Text(), "type": Text(), "aliases": serializers.ListField(child=Text()),
        "link": Text(allow_blank=True), "fields": CandidateFieldSerializer(many=True),
        "relations": CandidateRelationSerializer(many=True),
    },
)  # fmt: skip
"""What is shown of a candidate before it is judged: a copy that outlives the release."""


class FoundOfItemSerializer(serializers.Serializer[Any]):
    """What the search found of a candidate: hidden until the item is judged."""

    item = Whole()
    conditions = CandidateConditionSerializer(many=True)
    paths = serializers.ListField(child=PathPartSerializer(many=True))
    note = Text(allow_blank=True)


class AnnotationItemSerializer(serializers.Serializer[Any]):
    """An item to judge: no rank, no score, no pipeline, no condition that the search checked, nobody else's grade."""

    id = Whole()
    queue = Whole()
    question = Text()
    candidate = AnnotationCandidate
    revision = Whole(help_text="Of your own judgement; 0 for none.")
    notice = Text(allow_blank=True, help_text="Such as that the release has been dropped.")


class HandedItemsSerializer(serializers.Serializer[Any]):
    """All items that a tab holds, in their order; `sentence` says why there are none."""

    items = AnnotationItemSerializer(many=True)
    progress = AnnotationProgressSerializer()
    elsewhere = Whole(help_text="Items that your other tabs hold.")
    sentence = Text(allow_blank=True)
    retired = serializers.ListField(child=Text(), help_text="Why items were taken out of the queue just now.")


class AddedAnswerSerializer(serializers.Serializer[Any]):
    """An answer that the annotator adds."""

    id = Text()
    name = Text(required=False, allow_blank=True)
    type = Text(required=False, allow_blank=True)


class JudgementValuesSerializer(serializers.Serializer[Any]):
    """What is said about an item."""

    verdict = serializers.ChoiceField(choices=Verdict.choices)
    grade = Whole(required=False, allow_null=True, min_value=0, max_value=HIGHEST_GRADE)
    cause = serializers.ChoiceField(required=False, allow_blank=True, choices=FailureCause.values)
    stage = serializers.ChoiceField(required=False, allow_blank=True, choices=[one.value for one in LostStage])
    note = Text(required=False, allow_blank=True, max_length=LONGEST_NOTE)
    expected = serializers.ListField(child=AddedAnswerSerializer(), required=False, max_length=MOST_EXPECTED)


class JudgementRequestSerializer(JudgementValuesSerializer):
    """A judgement as a client sends it."""

    key = serializers.UUIDField(help_text="Made by the client, a new one for each judgement, change or undo.")
    item = Whole()
    annotator = Whole(required=False, help_text="Id of the account that judged; 403 if it is not the caller's.")
    base = Whole(required=False, min_value=0, help_text="The revision of your judgement that you saw; 0 for none.")
    seconds = Number(required=False, allow_null=True, min_value=0, help_text="The item was in front of you.")
    made = serializers.DateTimeField(required=False, help_text="When you judged, by your clock.")


class JudgementSerializer(JudgementValuesSerializer):
    """Your judgement as it is stored."""

    item = Whole()
    revision = Whole()
    informed = Flag(help_text="Changed after you had seen ranks and peers' grades.")
    changed = serializers.DateTimeField()


class WrittenJudgementSerializer(JudgementSerializer):
    """The stored judgement, and how far the queue has come."""

    progress = AnnotationProgressSerializer()


class PlaceInPipelineSerializer(serializers.Serializer[Any]):
    """Where a pipeline ranked the candidate; null: not among its first hundred."""

    pipeline = Text()
    rank = Whole(allow_null=True)
    score = Number(allow_null=True)


class PeerJudgementSerializer(serializers.Serializer[Any]):
    """What somebody else said."""

    by = Text()
    model = Flag(help_text="A language model.")
    verdict = Text()
    grade = Whole(allow_null=True)
    note = Text(allow_blank=True)


class RevealedSerializer(serializers.Serializer[Any]):
    """What is hidden until the item is judged."""

    item = Whole()
    reason = Text(allow_blank=True, help_text="What the queue's rule saw in it.")
    known_answer = Flag(allow_null=True, help_text="Whether the question set calls it an answer; null: not known.")
    pipelines = PlaceInPipelineSerializer(many=True)
    judgements = PeerJudgementSerializer(many=True)
