"""The site's own role in Postgres: it owns the database and all tables in it, and is no superuser.

A superuser may read the server's files and run programs there. So nothing of that may be within reach of whoever finds
a way to run SQL through the site. A superuser is needed only here: it makes the role, adds the extension `vector`, and
hands over what it owned where it was the site's role itself before.
"""

from __future__ import annotations

import sys

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from grasp_site.environment import env_secret

_OWNED = """
SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END,
       c.oid::regclass::text
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relowner = current_user::regrole AND c.relkind IN ('r', 'p', 'v', 'm', 'S') AND {own}
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass
                  AND (d.deptype = 'e' OR (c.relkind = 'S' AND d.deptype IN ('a', 'i'))))
UNION ALL
SELECT 'ROUTINE', p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE p.proowner = current_user::regrole AND {own}
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e')
UNION ALL
SELECT 'TYPE', t.oid::regtype::text FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE t.typowner = current_user::regrole AND t.typtype IN ('e', 'd') AND {own}
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = t.oid AND d.classid = 'pg_type'::regclass AND d.deptype = 'e')
UNION ALL
SELECT 'SCHEMA', quote_ident(n.nspname) FROM pg_namespace n WHERE n.nspowner = current_user::regrole AND {own}
""".replace("{own}", "n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'")
"""What the superuser owns of the site's: kind and name. Sequences of a column follow their table."""


def make_site_role(superuser: str, site: str) -> None:
    """Make the role of the address `site`, or bring it up to date, and give it the database of that address.

    `superuser` is the address of the same database for a superuser. Nothing changes where all is right already; what
    was interrupted goes on. Raises psycopg.Error.
    """
    wanted = conninfo_to_dict(site)
    role = sql.Identifier(str(wanted["user"]))
    with psycopg.connect(superuser, autocommit=True) as session:
        known = session.execute("SELECT FROM pg_roles WHERE rolname = %s", [wanted["user"]]).fetchone()
        if known is None:
            session.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        may_not = sql.SQL("ALTER ROLE {} NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD {}")
        session.execute(may_not.format(role, sql.Literal(wanted["password"])))
        session.execute("CREATE EXTENSION IF NOT EXISTS vector")
        name = sql.Identifier(session.info.dbname)
        session.execute(sql.SQL("ALTER DATABASE {} OWNER TO {}").format(name, role))
        for kind, owned in session.execute(_OWNED).fetchall():
            session.execute(sql.SQL("ALTER {} {} OWNER TO {}").format(sql.SQL(kind), sql.SQL(owned), role))


def main() -> int:
    """Make the role of `DATABASE_URL` by way of `DATABASE_SUPERUSER_URL`; return the exit code."""
    try:
        make_site_role(env_secret("DATABASE_SUPERUSER_URL"), env_secret("DATABASE_URL"))
    except psycopg.Error as error:
        sys.stderr.write(f"The site's role in Postgres cannot be made: {' '.join(str(error).split())}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
