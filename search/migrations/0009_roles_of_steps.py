"""Steps say what they are for; those recorded before get the role that their name had then."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

ROLES = {
    "plan": "plan",
    "link": "link",
    "traverse": "graph",
    "recover": "recover",
    "rescore": "graph list",
    "retrieve": "text list",
    "bm25": "text list",
    "vss": "text list",
    "fuse": "fusion",
    "rerank": "rerank",
    "explain": "explain",
}


def give_roles(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Write the role of every recorded step; one statement a name."""
    steps = apps.get_model("search", "SearchStep").objects
    for name, role in ROLES.items():
        steps.filter(name=name).update(role=role)


class Migration(migrations.Migration):
    dependencies = [
        ("search", "0008_changes_of_a_run"),
    ]

    operations = [
        migrations.AddField(
            model_name="searchstep",
            name="role",
            field=models.CharField(default="other", max_length=20),
        ),
        migrations.AddField(
            model_name="searchstep",
            name="version",
            field=models.PositiveSmallIntegerField(default=1, help_text="Format of the output."),
        ),
        migrations.RunPython(give_roles, migrations.RunPython.noop),
    ]
