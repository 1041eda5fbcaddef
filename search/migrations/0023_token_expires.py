from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("search", "0022_backups_kept")]

    operations = [
        migrations.AddField(
            model_name="apitoken",
            name="expires",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text="It works up to then; without a time, until it is revoked.",
                null=True,
            ),
        ),
    ]
