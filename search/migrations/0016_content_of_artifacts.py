"""The content hash of an artifact, and the time when a version of a pipeline was activated."""

from django.db import migrations, models
from django.db.models import F


def activated(apps, schema_editor):
    """Take every version for one that was activated when it was made, as nearly all were."""
    apps.get_model("search", "PipelineVersion").objects.update(activated=F("created"))


class Migration(migrations.Migration):
    dependencies = [("search", "0015_removed_by_retention")]

    operations = [
        migrations.AddField(
            model_name="artifact",
            name="content_hash",
            field=models.CharField(
                blank=True,
                default="",
                help_text="BLAKE2b over all files; empty for artifacts of older versions.",
                max_length=64,
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="pipelineversion",
            name="activated",
            field=models.DateTimeField(blank=True, help_text="When searches last began to use it.", null=True),
        ),
        migrations.RunPython(activated, migrations.RunPython.noop),
    ]
