import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("search", "0011_uploads"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Feedback",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("node_id", models.TextField()),
                ("node_name", models.TextField(blank=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("right", "right"), ("wrong", "wrong"), ("missing", "missing")], max_length=10
                    ),
                ),
                (
                    "rank",
                    models.PositiveIntegerField(
                        blank=True, help_text="Of the result; empty for a missing one.", null=True
                    ),
                ),
                ("note", models.TextField(blank=True)),
                (
                    "asker",
                    models.CharField(
                        blank=True,
                        editable=False,
                        help_text="Hash of the key of a visitor who was not signed in.",
                        max_length=64,
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("changed", models.DateTimeField(auto_now=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="feedback", to="search.searchrun"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "feedback",
                "verbose_name_plural": "feedback",
                "ordering": ["-created"],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "node_id", "user"), name="feedback_of_account"),
                    models.UniqueConstraint(
                        condition=models.Q(("asker", ""), _negated=True),
                        fields=("run", "node_id", "asker"),
                        name="feedback_of_visitor",
                    ),
                ],
            },
        ),
    ]
