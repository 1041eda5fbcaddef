"""Runs point to the evaluation that asked; vector sets have kinds, and a node may have several vectors of one."""

import django.contrib.postgres.fields
from django.db import migrations, models

import search.models.knowledge

PARTS = """
ALTER TABLE search_vector ADD COLUMN part smallint NOT NULL DEFAULT 0;
ALTER TABLE search_vector DROP CONSTRAINT search_vector_pkey;
ALTER TABLE search_vector ADD PRIMARY KEY (vector_set_id, kind, key, part);
"""
NO_PARTS = """
DELETE FROM search_vector WHERE part > 0;
ALTER TABLE search_vector DROP CONSTRAINT search_vector_pkey;
ALTER TABLE search_vector DROP COLUMN part;
ALTER TABLE search_vector ADD PRIMARY KEY (vector_set_id, kind, key);
"""


class Migration(migrations.Migration):
    dependencies = [("search", "0005_artifacts")]

    operations = [
        migrations.AddField(
            model_name="searchrun",
            name="evaluation",
            field=models.UUIDField(
                blank=True,
                db_index=True,
                help_text="The evaluation that asked; its row is kept by training.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="vectorset",
            name="kinds",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.TextField(),
                default=search.models.knowledge.usual_kinds,
                help_text="Which texts of a node have vectors.",
                size=None,
            ),
        ),
        migrations.RunSQL(PARTS, NO_PARTS),
    ]
