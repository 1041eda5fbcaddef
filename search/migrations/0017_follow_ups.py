from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("search", "0016_content_of_artifacts"),
    ]

    operations = [
        migrations.AddField(
            model_name="searchrun",
            name="followed",
            field=models.JSONField(
                blank=True,
                editable=False,
                help_text="What this one has to know of the search that it follows.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="searchrun",
            name="follows",
            field=models.UUIDField(
                blank=True,
                editable=False,
                help_text="The search that this one follows; its row may be deleted.",
                null=True,
            ),
        ),
    ]
