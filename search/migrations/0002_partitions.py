"""Nodes, edges and vectors: list-partitioned tables, which Django's schema editor does not know.

The tables themselves stay empty of indexes: each partition is built as a table of its own, loaded, indexed and then
attached, so that its indexes can be made after the rows are in.
"""

from django.db import migrations

TABLES = """
CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE search_node (
    snapshot_id bigint NOT NULL,
    key integer NOT NULL,
    id text NOT NULL,
    type smallint NOT NULL,
    name text NOT NULL,
    aliases text[] NOT NULL DEFAULT '{}',
    url text NOT NULL DEFAULT '',
    fields jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (snapshot_id, key)
) PARTITION BY LIST (snapshot_id);

CREATE TABLE search_edge (
    snapshot_id bigint NOT NULL,
    relation smallint NOT NULL,
    source integer NOT NULL,
    target integer NOT NULL,
    source_type smallint NOT NULL,
    target_type smallint NOT NULL,
    properties jsonb
) PARTITION BY LIST (snapshot_id);

CREATE TABLE search_vector (
    vector_set_id bigint NOT NULL,
    kind text NOT NULL,
    key integer NOT NULL,
    type smallint NOT NULL,
    text_hash bytea NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (vector_set_id, kind, key)
) PARTITION BY LIST (vector_set_id);
"""

DROP = """
DROP TABLE search_vector;
DROP TABLE search_edge;
DROP TABLE search_node;
"""


class Migration(migrations.Migration):
    dependencies = [("search", "0001_initial")]

    operations = [migrations.RunSQL(TABLES, DROP)]
