"""The page of every setting, written from the list of settings."""

from grasp_site.every_setting import GROUPS

SECRET = " 🔑"
HEAD = """# Every setting

The site is set by variables of the environment, read when its processes start. None has to be given: `make run` works
without any. Those marked 🔑 are secrets; each may be given as a file instead, by `NAME_FILE` with the file's path.
A value that cannot be read stops the start with a sentence that names the variable.

```sh
PORT=8123 GRASP_SEARCH_SECONDS=10 .venv/bin/python manage.py check
```

The settings of the pipelines, such as how many results are reranked, are not here: they belong to a knowledge base, are
changed on its page of settings, and stand in [Pipelines and their settings](pipelines.md).

This page is written by `manage.py document_settings` from `grasp_site/every_setting.py`.
"""


def settings_page() -> str:
    """Return the page as Markdown: a table for each group of settings."""
    parts = [HEAD]
    for group in GROUPS:
        parts.append(f"\n## {group.title}\n\n| variable | default | what it is |\n|---|---|---|\n")
        for one in group.settings:
            mark = SECRET if one.secret else ""
            parts.append(f"| `{one.name}`{mark} | {one.default} | {one.meaning} |\n")
    return "".join(parts)
