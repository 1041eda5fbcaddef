"""An index over the searches of people by day, so that the admin's first page does not read those of evaluations."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("search", "0012_feedback")]

    operations = [
        migrations.AddIndex(
            model_name="searchrun",
            index=models.Index(
                fields=["created", "status"],
                name="searches_of_people",
                condition=models.Q(("origin", "evaluation"), _negated=True),
            ),
        ),
    ]
