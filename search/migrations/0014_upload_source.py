from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("search", "0013_dashboard")]

    operations = [
        migrations.AddField(
            model_name="upload",
            name="source",
            field=models.CharField(
                blank=True,
                help_text="A folder of the server or the address of a database, instead of files.",
                max_length=1000,
            ),
        ),
    ]
