import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("search", "0009_roles_of_steps"),
        ("training", "0001_question_sets"),
    ]

    operations = [
        migrations.CreateModel(
            name="ChosenOptions",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("part", models.CharField(help_text="What was tuned, such as fusion.", max_length=50)),
                ("options", models.JSONField(default=dict, help_text="Options as {'stage.option': value}.")),
                ("split", models.CharField(blank=True, max_length=200)),
                (
                    "hashes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=32),
                        help_text="Of the questions; see Question.hash.",
                        size=None,
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "evaluation",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="training.evaluation",
                    ),
                ),
                (
                    "pipeline_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="chosen_options",
                        to="search.pipelineversion",
                    ),
                ),
                (
                    "question_set",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="chosen_options",
                        to="training.questionset",
                    ),
                ),
            ],
            options={
                "verbose_name": "chosen options",
                "verbose_name_plural": "chosen options",
                "ordering": ["-created"],
            },
        ),
    ]
