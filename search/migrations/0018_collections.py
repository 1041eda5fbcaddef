import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("search", "0017_follow_ups"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Collection",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "asker",
                    models.CharField(
                        blank=True,
                        editable=False,
                        help_text="Hash of the key of a visitor who was not signed in.",
                        max_length=64,
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("note", models.TextField(blank=True)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("changed", models.DateTimeField(auto_now=True)),
                ("key", models.CharField(blank=True, db_index=True, editable=False, max_length=40)),
            ],
            options={
                "ordering": ["-changed"],
            },
        ),
        migrations.CreateModel(
            name="CollectionItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "position",
                    models.PositiveIntegerField(help_text="Place in the order by hand; the first item has the lowest."),
                ),
                ("knowledge_base_name", models.CharField(max_length=200)),
                ("node_id", models.TextField()),
                ("node_type", models.TextField(blank=True)),
                ("node_name", models.TextField(blank=True)),
                (
                    "run",
                    models.UUIDField(
                        blank=True, help_text="The search that found it; its row may be deleted.", null=True
                    ),
                ),
                ("question", models.TextField(blank=True)),
                ("rank", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "evidence",
                    models.TextField(blank=True, help_text="The first path of the result in words, or its snippet."),
                ),
                ("note", models.TextField(blank=True)),
                ("added", models.DateTimeField(auto_now_add=True)),
                ("removed", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "verbose_name": "item of a collection",
                "verbose_name_plural": "items of collections",
                "ordering": ["position", "pk"],
            },
        ),
        migrations.CreateModel(
            name="SavedSearch",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "asker",
                    models.CharField(
                        blank=True,
                        editable=False,
                        help_text="Hash of the key of a visitor who was not signed in.",
                        max_length=64,
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("note", models.TextField(blank=True)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("changed", models.DateTimeField(auto_now=True)),
            ],
            options={
                "verbose_name": "saved search",
                "verbose_name_plural": "saved searches",
                "ordering": ["-created"],
            },
        ),
        migrations.AddIndex(
            model_name="searchrun",
            index=models.Index(
                condition=models.Q(("origin", "evaluation"), _negated=True),
                fields=["user", "-created"],
                name="searches_of_account",
            ),
        ),
        migrations.AddIndex(
            model_name="searchrun",
            index=models.Index(
                condition=models.Q(("asker", ""), _negated=True),
                fields=["asker", "-created"],
                name="searches_of_visitor",
            ),
        ),
        migrations.AddField(
            model_name="collection",
            name="user",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="collectionitem",
            name="collection",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="items", to="search.collection"
            ),
        ),
        migrations.AddField(
            model_name="collectionitem",
            name="knowledge_base",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="search.knowledgebase"
            ),
        ),
        migrations.AddField(
            model_name="savedsearch",
            name="run",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="saved", to="search.searchrun"
            ),
        ),
        migrations.AddField(
            model_name="savedsearch",
            name="user",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddIndex(
            model_name="collection",
            index=models.Index(
                condition=models.Q(("asker", ""), _negated=True), fields=["asker"], name="collections_of_visitor"
            ),
        ),
        migrations.AddConstraint(
            model_name="collectionitem",
            constraint=models.UniqueConstraint(
                fields=("collection", "knowledge_base_name", "node_id"), name="node_in_collection"
            ),
        ),
        migrations.AddIndex(
            model_name="savedsearch",
            index=models.Index(
                condition=models.Q(("asker", ""), _negated=True), fields=["asker"], name="saved_of_visitor"
            ),
        ),
        migrations.AddConstraint(
            model_name="savedsearch",
            constraint=models.UniqueConstraint(fields=("run", "user"), name="saved_by_account"),
        ),
        migrations.AddConstraint(
            model_name="savedsearch",
            constraint=models.UniqueConstraint(
                condition=models.Q(("asker", ""), _negated=True), fields=("run", "asker"), name="saved_by_visitor"
            ),
        ),
    ]
