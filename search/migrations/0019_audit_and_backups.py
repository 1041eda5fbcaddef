import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("search", "0018_collections"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="BackupRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("started", models.DateTimeField(auto_now_add=True)),
                ("finished", models.DateTimeField(null=True)),
                ("place", models.CharField(help_text="The folder or address of the backup.", max_length=500)),
                ("bytes", models.PositiveBigIntegerField(default=0)),
                ("error", models.TextField(blank=True)),
            ],
            options={
                "verbose_name": "backup",
                "ordering": ["-started"],
            },
        ),
        migrations.AddField(
            model_name="job",
            name="carried",
            field=models.JSONField(
                blank=True,
                default=dict,
                editable=False,
                help_text="Ids of the request that launched it, for logs and traces.",
            ),
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "who",
                    models.CharField(
                        help_text="Name of the account; of a command, of the system's user.", max_length=150
                    ),
                ),
                ("action", models.CharField(max_length=60)),
                ("object_type", models.CharField(blank=True, max_length=60)),
                ("object_id", models.CharField(blank=True, max_length=200)),
                ("object_name", models.CharField(blank=True, max_length=300)),
                ("details", models.JSONField(blank=True, default=dict)),
                (
                    "door",
                    models.CharField(
                        choices=[
                            ("page", "page"),
                            ("api", "API"),
                            ("command", "command line"),
                            ("schedule", "schedule"),
                        ],
                        default="command",
                        max_length=10,
                    ),
                ),
                ("address", models.CharField(blank=True, help_text="IP address of the caller.", max_length=45)),
                ("request_id", models.CharField(blank=True, max_length=64)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "entry of the audit log",
                "verbose_name_plural": "audit log",
                "ordering": ["-at", "-pk"],
                "indexes": [models.Index(fields=["-at"], name="audit_newest")],
            },
        ),
    ]
