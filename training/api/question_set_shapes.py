"""The shapes of question sets in the API's description."""

# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from search.api.serializers.basics import Anything, Flag, Text, Whole
from training.services.check_questions import KEEP, MOVE, REFUSE
from training.services.read_upload import FORMATS

DUPLICATES = (REFUSE, KEEP, MOVE)


class GivenQuestionSerializer(serializers.Serializer[Any]):
    """A question with the ids of its answers."""

    id = Text()
    text = Text()
    answers = serializers.ListField(child=Text())
    split = Text(required=False, allow_blank=True)


class _DividedSerializer(serializers.Serializer[Any]):
    knowledge_base = Text()
    name = Text(required=False, help_text="Of the set; of a file, its name without endings is used if it is missing.")
    duplicates = serializers.ChoiceField(
        choices=DUPLICATES, required=False, help_text="Of questions of different splits that say the same."
    )
    into = Text(required=False, help_text="The split into which `move` puts each group of them.")
    split = Text(required=False, help_text="Shares for questions without splits, such as train=80,val=10,test=10.")
    seed = Whole(required=False)
    dry_run = Flag(required=False, help_text="Check only.")


class GivenQuestionSetSerializer(_DividedSerializer):
    """Questions as JSON: either `questions` or `text`."""

    questions = GivenQuestionSerializer(many=True, required=False)
    text = Text(required=False, help_text="Lines of question, tab and answers; or of JSON, or STaRK's CSV.")
    format = serializers.ChoiceField(choices=list(FORMATS), required=False)


class UploadedQuestionSetSerializer(_DividedSerializer):
    """Questions as a file."""

    file = serializers.FileField()
    qrels = serializers.FileField(required=False)
    format = serializers.ChoiceField(choices=list(FORMATS), required=False)


class FeedbackQuestionSetSerializer(_DividedSerializer):
    """Which feedback becomes questions."""

    since = serializers.DateTimeField(required=False, help_text="Leave out older feedback.")


class QuestionSetSerializer(serializers.Serializer[Any]):
    """A version of a question set; `id` is null and `version` 0 where it was only checked."""

    id = Whole(allow_null=True)
    knowledge_base = Text()
    name = Text()
    version = Whole()
    questions = Whole()
    splits = serializers.DictField(child=Whole())
    source = Text(allow_blank=True)
    author = Text(allow_blank=True)
    content_hash = Text(allow_blank=True)
    created = serializers.DateTimeField(allow_null=True)


class CheckedQuestionSetSerializer(QuestionSetSerializer):
    """A version with what its check found, and whether this call made it."""

    checks = Anything(help_text="Duplicates, also across splits, and answers that are no nodes, with the nearest ids.")
    refused = serializers.ListField(child=Text(), help_text="Why it cannot be stored; only of a check.")
    new = Flag()


class FeedbackConflictSerializer(serializers.Serializer[Any]):
    """A node about which people disagree."""

    question = Text()
    node = Text()
    name = Text(allow_blank=True)
    right = Whole()
    wrong = Whole()


class GatheredQuestionSetSerializer(CheckedQuestionSetSerializer):
    """A version made of feedback."""

    conflicts = FeedbackConflictSerializer(many=True)
    without_answer = serializers.ListField(child=Text(), help_text="Questions to which nobody named an answer.")


class ChangedQuestionSerializer(serializers.Serializer[Any]):
    """A question that is in both versions, and what differs: text, answers, split, slices."""

    id = Text()
    parts = serializers.ListField(child=Text())
    before = GivenQuestionSerializer()
    after = GivenQuestionSerializer()


class ChangesSerializer(serializers.Serializer[Any]):
    """What changed between two versions; of each list the first 200, the numbers are of all."""

    before = Whole(allow_null=True, help_text="The version compared with; null if there is none.")
    after = Whole()
    counts = serializers.DictField(child=Whole())
    added = GivenQuestionSerializer(many=True)
    removed = GivenQuestionSerializer(many=True)
    changed = ChangedQuestionSerializer(many=True)
