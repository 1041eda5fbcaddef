from django.db import migrations, models


class Migration(migrations.Migration):
    """What each search of an evaluation spent on language models."""

    dependencies = [("training", "0005_honesty")]

    operations = [
        migrations.AddField(
            model_name="outcome",
            name="model_use",
            field=models.JSONField(
                blank=True, help_text="Calls, tokens and price of language models; null: none was asked.", null=True
            ),
        ),
    ]
