from django.db import migrations, models

R_PRECISION = """
UPDATE training_outcome AS outcome
SET measures = outcome.measures || jsonb_build_object('R-precision', coalesce((
    SELECT 100.0 * count(*) FILTER (WHERE answer = ANY(outcome.ids[1:answers.number])) / max(answers.number)
    FROM (SELECT DISTINCT unnest(question.answers) AS answer) AS wanted,
         (SELECT count(DISTINCT one)::int AS number FROM unnest(question.answers) AS one) AS answers
), 0.0))
FROM training_askedquestion AS question
WHERE question.id = outcome.question_id AND NOT outcome.measures ? 'R-precision'
"""


class Migration(migrations.Migration):
    """Whether a plan was called almost surely right, and R-precision of the outcomes that are there."""

    dependencies = [("training", "0004_checked_question_sets")]

    operations = [
        migrations.AddField(
            model_name="outcome",
            name="leads",
            field=models.BooleanField(
                blank=True, help_text="The first plan was called almost surely right.", null=True
            ),
        ),
        migrations.RunSQL(R_PRECISION, migrations.RunSQL.noop),
    ]
