from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("search", "0007_access_and_upkeep"),
    ]

    operations = [
        migrations.AddField(
            model_name="searchrun",
            name="changes",
            field=models.PositiveIntegerField(
                db_default=0, default=0, editable=False, help_text="Grows with everything that is written of the run."
            ),
        ),
    ]
