from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("search", "0002_partitions")]

    operations = [
        migrations.AddField(
            model_name="snapshot",
            name="about",
            field=models.JSONField(
                default=dict,
                help_text="Title, description, domain, language, licence, source and examples of the bundle.",
            ),
        ),
    ]
