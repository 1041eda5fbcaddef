"""The shapes of evaluations in the API's description."""

# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from search.api.serializers.basics import Anything, Flag, Number, Text, Whole


class QuestionSetReferenceSerializer(serializers.Serializer[Any]):
    """A version of a question set."""

    name = Text()
    version = Whole()
    content_hash = Text()


class EvaluatedPipelineSerializer(serializers.Serializer[Any]):
    """A pipeline of an evaluation with its measures in percent; null while there is no report."""

    label = Text()
    metrics = serializers.DictField(child=Number(), allow_null=True)


class EvaluationSummarySerializer(serializers.Serializer[Any]):
    """An evaluation in a list."""

    id = serializers.UUIDField()
    knowledge_base = Text()
    release = Text()
    question_set = QuestionSetReferenceSerializer(allow_null=True)
    split = Text(allow_null=True)
    questions = Whole()
    status = serializers.ChoiceField(choices=["running", "done", "failed", "cancelled"])
    reason = Text(allow_blank=True, help_text="Why there is no report.")
    created = serializers.DateTimeField()
    finished = serializers.DateTimeField(allow_null=True)
    pipelines = EvaluatedPipelineSerializer(many=True)


class EvaluationReportSerializer(EvaluationSummarySerializer):
    """An evaluation with its report."""

    settings_version = Whole()
    code_version = Text()
    seed = Whole()
    specifications = Anything(help_text="Of each pipeline, in the order of the report.")
    answered = serializers.DictField(child=Whole(), help_text="Outcomes so far, by pipeline.")
    report = Anything(allow_null=True, help_text="The same as report.json of the command `evaluate`.")


class AskedQuestionSerializer(serializers.Serializer[Any]):
    """A question of an evaluation; `unknown` are answers that the release does not have."""

    id = Text()
    text = Text()
    answers = serializers.ListField(child=Text())
    unknown = serializers.ListField(child=Text())
    answer_type = Text(allow_blank=True)
    split = Text(allow_blank=True)
    slices = serializers.DictField(child=Text(allow_blank=True))


class FoundResultSerializer(serializers.Serializer[Any]):
    """A result of a ranking, and whether it is one of the answers."""

    id = Text()
    score = Number()
    answer = Flag()


class OutcomeSerializer(serializers.Serializer[Any]):
    """The outcome of one question with one pipeline."""

    question = AskedQuestionSerializer()
    pipeline = Text()
    search = serializers.UUIDField(allow_null=True)
    state = serializers.ChoiceField(choices=["answered", "empty", "error"])
    error = Text(allow_blank=True)
    rank = Whole(allow_null=True, help_text="Of the first answer; null when the first 100 have none.")
    found = FoundResultSerializer(many=True, help_text="The best 10 results.")
    metrics = serializers.DictField(child=Number())
    seconds = Number()
    stages = serializers.DictField(child=Number(), help_text="Seconds by role of the steps.")
    plan_shape = Text(allow_blank=True)
    probability = Number(allow_null=True)
    cached_model_calls = Whole()
    model_use = serializers.DictField(
        child=Anything(), allow_null=True, help_text="Calls, tokens and price of language models, as of a search."
    )
    lost_at = Text(allow_null=True)
    lost = Anything(allow_null=True)
