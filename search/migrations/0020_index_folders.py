"""The files of each folder of index files, with lengths and hashes, so that other machines can fetch and check them."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("search", "0019_audit_and_backups")]

    operations = [
        migrations.CreateModel(
            name="IndexFolder",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                (
                    "files",
                    models.JSONField(default=dict, help_text="Path within the folder → [length in bytes, SHA-256]."),
                ),
                ("fingerprint", models.CharField(help_text="SHA-256 over the list of files.", max_length=64)),
                ("host", models.CharField(blank=True, help_text="The machine that built it.", max_length=255)),
                ("recorded", models.DateTimeField(auto_now=True)),
                (
                    "snapshot",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="index_folders",
                        to="search.snapshot",
                    ),
                ),
            ],
            options={"ordering": ["snapshot_id", "name"]},
        ),
        migrations.AddConstraint(
            model_name="indexfolder",
            constraint=models.UniqueConstraint(fields=("snapshot", "name"), name="folder_of_snapshot"),
        ),
    ]
