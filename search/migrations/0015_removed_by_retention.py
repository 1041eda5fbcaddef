"""What a run of the retention deleted beside searches, calls and sessions."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("search", "0014_upload_source")]

    operations = [
        migrations.AddField(
            model_name="retentionrun",
            name="removed",
            field=models.JSONField(
                default=dict, help_text="What GRASP_RETENTION names → how many of them were deleted."
            ),
        ),
    ]
