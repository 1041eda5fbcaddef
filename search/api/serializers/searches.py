"""Pipelines, searches, and the services that they need."""

# Fields called `fields`, `label` or `source` are members of the JSON, although DRF uses these names for other things.
# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any, get_args

from rest_framework import serializers

from search.api.serializers.basics import Flag, JsonObject, NodeReferenceSerializer, Number, Text, Whole
from search.domain.expansion import Source
from search.domain.plan import AGGREGATES, PlanSource
from search.domain.plan.changes import CHANGE_KINDS, PLAN_PARTS
from search.domain.question import LONGEST_QUESTION
from search.domain.trace import ROLES
from search.domain.verdict import VERDICTS


class PipelineSerializer(serializers.Serializer[Any]):
    """A pipeline, its version, and the JSON schema of the options a search may set."""

    name = Text()
    title = Text()
    description = Text()
    version = Whole()
    available = Flag()
    reason = Text(allow_null=True)
    settings_schema = JsonObject(allow_null=True)


class SearchRequestSerializer(serializers.Serializer[Any]):
    """A question. Without a knowledge base, that of `follows` is asked, else the one that fits the question best."""

    knowledge_base = Text(max_length=100, required=False)
    question = Text(max_length=LONGEST_QUESTION)
    pipeline = Text(required=False)
    k = Whole(required=False, min_value=1, max_value=100, default=20)
    plan = JsonObject(required=False, allow_null=True)
    settings = JsonObject(required=False, allow_null=True)
    follows = serializers.UUIDField(
        required=False, allow_null=True, help_text="The id of the search that this question follows."
    )


class StageSerializer(serializers.Serializer[Any]):
    """A stage of a pipeline: its role, its title on pages, and the text that pages show while it runs."""

    name = Text()
    role = serializers.ChoiceField(ROLES)
    title = Text()
    doing = Text()


class UsedPipelineSerializer(serializers.Serializer[Any]):
    """The pipeline of a search, frozen when it was requested; `flow` has its stages in the order in which they run."""

    name = Text()
    title = Text()
    version = Whole()
    specification = JsonObject()
    flow = StageSerializer(many=True)


class DegradedSerializer(serializers.Serializer[Any]):
    """A stage that a search had to do without."""

    stage = Text()
    reason = Text(allow_blank=True)


class PlanEntrySerializer(serializers.Serializer[Any]):
    """A plan in the list of plans, with how many candidates it found.

    If the plan found nothing at first and was changed, `plan` is the changed plan that found the candidates, `given` is
    the plan before the change, and `dropped` are the conditions that were dropped and now count as text.
    """

    plan = JsonObject()
    given = JsonObject(required=False)
    dropped = serializers.ListField(child=Text(), required=False)
    source = serializers.ChoiceField(get_args(PlanSource))
    probability = Number()
    alike = serializers.ListField(
        child=Text(), required=False,
        help_text="Words that are taken for a node type or a relation only because they are like its name.",
    )  # fmt: skip
    found = Whole()


class BindingSerializer(serializers.Serializer[Any]):
    """A node that an anchor is bound to."""

    node = NodeReferenceSerializer()
    score = Number()


class AnchorReadingSerializer(serializers.Serializer[Any]):
    """By which way the text of an anchor was read as a name (`how`), and better-known nodes that may be meant."""

    how = Text()
    others = NodeReferenceSerializer(many=True)


class DidYouMeanSerializer(serializers.Serializer[Any]):
    """Words of the question that were read as a name which is stored otherwise, or which a better-known node nears."""

    text = Text(allow_blank=True)
    how = Text()
    others = NodeReferenceSerializer(many=True)
    id = Text()
    type = Text()
    name = Text()


class LinkedSerializer(serializers.Serializer[Any]):
    """An anchor of a plan with its bindings; `exclude` is the index of the exclusion that it belongs to, if any."""

    plan_index = Whole()
    anchor = Text()
    bindings = BindingSerializer(many=True)
    exclude = Whole(required=False)
    reading = AnchorReadingSerializer(required=False)


class GraphSerializer(serializers.Serializer[Any]):
    """The queries that ran in the graph, and the number of candidates."""

    backend = Text(allow_blank=True)
    query = Text(allow_blank=True)
    queries = serializers.ListField(child=JsonObject())
    candidates = Whole()
    truncated = Flag()


class FusionSerializer(serializers.Serializer[Any]):
    """The arithmetic of the fusion, and the titles of its lists on pages."""

    method = Text()
    k = Number()
    weights = serializers.DictField(child=Number())
    bucket = Text(allow_blank=True)
    risk = Text(allow_blank=True)
    leads = Flag(help_text="Whether the order of the graph's list was kept.")
    surely = Flag(help_text="Whether the plan is called almost surely right.")
    probability = Number(
        allow_null=True, help_text="Calibrated probability that the first result is right; null where none was learned."
    )
    trust = serializers.DictField(child=JsonObject(), help_text="How far lists are to be trusted, by name.")
    titles = serializers.DictField(child=Text())


class SignalSerializer(serializers.Serializer[Any]):
    """A signal of a result, and what it adds to the score of the learned ranker; null where it does not apply."""

    name = Text()
    title = Text()
    value = Number(allow_null=True)
    contribution = Number()


class ResultSerializer(serializers.Serializer[Any]):
    """A result with its score, the arithmetic of the score, and its evidence."""

    rank = Whole()
    score = Number()
    node = NodeReferenceSerializer()
    snippet = Text(allow_blank=True)
    scores = serializers.DictField(child=JsonObject())
    fused = serializers.DictField(child=JsonObject(), help_text="Fused lists that were fused again, by name.")
    signals = SignalSerializer(
        many=True, help_text="What moved it up or down most, if a learned ranker ordered the results."
    )
    evidence = JsonObject(allow_null=True)
    answers = serializers.BooleanField(help_text="Whether it meets every condition of the shown plan.")


class ComputedValueSerializer(serializers.Serializer[Any]):
    """The sum, mean, minimum or maximum of a number field over all answers of the shown plan.

    `nodes` is the number of answers that have the field; `value` is null if none has it.
    """

    function = serializers.ChoiceField(AGGREGATES)
    field = Text()
    value = Number(allow_null=True)
    nodes = Whole()


class SettlingSerializer(serializers.Serializer[Any]):
    """What would settle a doubt: the words for a button, and the plan or the question to ask with."""

    sentence = Text()
    plan = JsonObject(required=False)
    question = Text(required=False)


class WrittenSourceSerializer(serializers.Serializer[Any]):
    """What bears out a sentence: a result with what the graph says of it, or what was looked up, without a rank."""

    number = Whole()
    rank = Whole(allow_null=True)
    id = Text(allow_blank=True)
    name = Text(allow_blank=True)
    evidence = Text()


class WrittenSentenceSerializer(serializers.Serializer[Any]):
    """A sentence of the written answer; `text` has the numbers of its sources in brackets."""

    text = Text()
    sources = WrittenSourceSerializer(many=True)


class ChoiceSerializer(serializers.Serializer[Any]):
    """A reading of the question in one phrase; a search with its plan answers it."""

    sentence = Text()
    plan = JsonObject()
    plan_index = Whole()


class UnderstoodSerializer(serializers.Serializer[Any]):
    """How the question was read.

    `left` are words that only the texts were searched for, `more` is the number of further ones. `turning` are words
    such as *not* that could not be applied. `read_as` is the question in the language of the knowledge base, if it was
    asked in another one. `meant` are names that were `said` in another way than they are stored.
    """

    left = serializers.ListField(child=Text())
    more = Whole()
    turning = serializers.ListField(child=Text())
    read_as = Text(allow_blank=True)
    notes = serializers.ListField(child=Text())
    meant = serializers.ListField(child=serializers.DictField(child=Text()))
    suggestions = serializers.ListField(child=serializers.DictField(child=Text()))


class RewordingSerializer(serializers.Serializer[Any]):
    """Whether the written answer is in the words of a language model; `because` says why not."""

    done = Flag()
    because = Text(allow_blank=True)


class AnswerSerializer(serializers.Serializer[Any]):
    """The answer of the shown plan: a list, a number, an aggregate, yes, no, or unknown.

    `line` is the answer in one line, `verdict` says how sure it is (null before the search is done), `because` is a
    sentence with the reason, and `settle` is what would settle each doubt. `written` is the answer in sentences.

    `count` is the number of answers that the plan has in the graph; `complete` says that there are no further ones.
    `value` is the number where one was asked for. `unbound` are entities of the plan that are not known. `text` are
    words that no condition of the plan says: `count` is then the number of nodes that may be answers.
    """

    kind = serializers.ChoiceField(["list", "number", "aggregate", "yes", "no", "unknown"])
    value = Whole(required=False)
    aggregate = ComputedValueSerializer(required=False, help_text="Where the plan asks for one.")
    field = Text(required=False, help_text="The field of the answers that is asked for.")
    values = serializers.ListField(
        child=JsonObject(), required=False, help_text="The field's value of each answer among the results."
    )
    count = Whole()
    complete = serializers.BooleanField()
    unbound = serializers.ListField(child=Text(), required=False)
    text = Text(required=False)
    line = Text(allow_blank=True)
    verdict = serializers.ChoiceField(list(VERDICTS), allow_null=True)
    because = Text(allow_blank=True)
    settle = SettlingSerializer(many=True)
    written = WrittenSentenceSerializer(many=True)
    reworded = RewordingSerializer(required=False, help_text="Where `reword` asked for other words.")


class StepSerializer(serializers.Serializer[Any]):
    """A step of a search: `name` is its name in the pipeline, `role` its purpose, the same in every pipeline.

    If a language model was asked, `prompt_fingerprint` is the version of the prompt. `tokens` then has the tokens by
    kind (`prompt`, `cached` as a part of it, `completion`), its `calls`, and `cached calls`, the answers from storage.
    """

    name = Text()
    role = serializers.ChoiceField(ROLES)
    title = Text()
    backend = Text(allow_blank=True)
    status = serializers.ChoiceField(["ok", "degraded", "failed", "skipped"])
    seconds = Number()
    detail = Text(allow_blank=True)
    prompt_fingerprint = Text(allow_blank=True)
    tokens = serializers.DictField(child=Whole())


class OtherPlanSerializer(serializers.Serializer[Any]):
    """The ranks of the results that owe their rank to another plan than `plan`."""

    plan_index = Whole()
    ranks = serializers.ListField(child=Whole())


class EarlierQuestionSerializer(serializers.Serializer[Any]):
    """An earlier question of a thread; its search may have been deleted since."""

    id = serializers.UUIDField()
    question = Text(allow_blank=True)


class PlanChangeSerializer(serializers.Serializer[Any]):
    """A part of the plan before, of the shown plan, or of both.

    `was` and `at` are its JSON pointers in the plan before and in the shown plan; null where it is not in that plan.
    `text` is the part in words, `before` its words before it was changed.
    """

    kind = serializers.ChoiceField(CHANGE_KINDS)
    part = serializers.ChoiceField(PLAN_PARTS)
    was = Text(allow_null=True)
    at = Text(allow_null=True)
    text = Text(allow_blank=True)
    before = Text(allow_blank=True)


class FollowUpSerializer(serializers.Serializer[Any]):
    """How a question that follows another search was read.

    `thread` are the questions before, the first one first. `reading` is `changed` if the plan before was changed and
    `anew` if the words were read as a question of their own; null until they were read. `read_as` is the wording that
    text retrieval read. `note` says that the release is another one than before.
    """

    thread = EarlierQuestionSerializer(many=True)
    reading = serializers.ChoiceField(["changed", "anew"], allow_null=True)
    read_as = Text(allow_null=True)
    note = Text(allow_blank=True)
    changes = PlanChangeSerializer(many=True)


class ModelTokensSerializer(serializers.Serializer[Any]):
    """Tokens by kind; `cached` are those of the prompts that the server had in its cache."""

    prompt = Whole()
    cached = Whole()
    completion = Whole()


class ModelUseSerializer(serializers.Serializer[Any]):
    """What a search spent on language models.

    `calls` are requests, retries included; `cached_calls` are answers from storage; `refused` are prompts that the
    budget refused. `seconds` is the time of waiting. `price` is null if a model that was asked has no price. `budget`
    holds the limits by name: calls, tokens, seconds, money.
    """

    calls = Whole()
    cached_calls = Whole()
    refused = Whole()
    tokens = ModelTokensSerializer()
    seconds = Number()
    price = Number(allow_null=True)
    currency = Text(allow_blank=True)
    budget = serializers.DictField(child=Number())


class ExpansionPartSerializer(serializers.Serializer[Any]):
    """A part of the searched text: the question, its gloss, a node's document, a triple, or what a model wrote.

    `path` is the walk of a triple. `cut` is the number of characters that were cut off its end.
    """

    source = serializers.ChoiceField(get_args(Source))
    text = Text(allow_blank=True)
    node = NodeReferenceSerializer(allow_null=True)
    path = serializers.ListField(child=JsonObject(), allow_null=True)
    cut = Whole()


class ExpansionSerializer(serializers.Serializer[Any]):
    """The text that was searched in place of the question; `left_out` is the number of parts that did not fit."""

    text = Text(allow_blank=True)
    parts = ExpansionPartSerializer(many=True)
    left_out = Whole()


class SearchSerializer(serializers.Serializer[Any]):
    """The present state of a search.

    `plans` are in the order of their probability, most probable first. `plan` is the most probable plan that
    found something, and `plan_index` is its position in `plans`. `other_plans` names the results that come from others;
    the evidence of such a result has the `plan_index` of the other plan.
    """

    id = serializers.UUIDField()
    status = serializers.ChoiceField(["queued", "running", "done", "failed", "cancelled"])
    question = Text(allow_blank=True)
    follows = serializers.UUIDField(allow_null=True, help_text="The search that this one follows.")
    follow_up = FollowUpSerializer(allow_null=True)
    knowledge_base = Text(allow_blank=True)
    other_bases = serializers.ListField(
        child=Text(), allow_null=True,
        help_text="Null if the caller named the knowledge base; else the others that the question may be for.",
    )  # fmt: skip
    release = Text(allow_null=True)
    pipeline = UsedPipelineSerializer()
    k = Whole()
    seconds = Number(allow_null=True)
    model_use = ModelUseSerializer(allow_null=True)
    created = serializers.DateTimeField()
    error = JsonObject(allow_null=True)
    waiting = Text(allow_null=True)
    changes = serializers.IntegerField(help_text="Grows with everything that is written of the search.")
    degraded = DegradedSerializer(many=True)
    plan = JsonObject(allow_null=True)
    plan_index = Whole(allow_null=True)
    other_plans = OtherPlanSerializer(many=True)
    plans = PlanEntrySerializer(many=True)
    linked = LinkedSerializer(many=True)
    did_you_mean = DidYouMeanSerializer(many=True)
    graph = GraphSerializer(allow_null=True)
    expansion = ExpansionSerializer(allow_null=True, help_text="Null where the question itself was searched.")
    fusion = FusionSerializer(allow_null=True)
    answer = AnswerSerializer()
    understood = UnderstoodSerializer(allow_null=True, help_text="Null before there is a plan.")
    clarify = ChoiceSerializer(
        many=True,
        help_text="Readings with other answers to choose from, the shown one first; empty if it is clearly likelier.",
    )
    results = ResultSerializer(many=True)
    steps = StepSerializer(many=True)


class ServiceSerializer(serializers.Serializer[Any]):
    """The state of a service that a search needs."""

    name = Text()
    state = serializers.ChoiceField(["ready", "degraded", "down"])
    reason = Text(allow_blank=True)


class ReadinessSerializer(serializers.Serializer[Any]):
    """Whether a search can be requested; the services give the reasons if not."""

    ready = Flag()
    services = ServiceSerializer(many=True)
