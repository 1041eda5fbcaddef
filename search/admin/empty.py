"""Texts of the admin's empty lists: how a first entry is made, and by which command.

A `ModelAdmin` names its text as `when_empty`; the template of empty lists shows it if no filter is set.
"""

from __future__ import annotations

from dataclasses import dataclass

from search.services.access.rights import LAUNCH_JOBS

_MANAGE = ".venv/bin/python manage.py"
_LAUNCH = "admin:search_job_launch"


@dataclass(frozen=True, slots=True)
class WhenEmpty:
    """The missing thing, the way to get it, the command that does it, and the page that does it."""

    title: str
    next: str
    command: str = ""
    page: str = ""
    """Name of the page's address; empty where the button that adds a row does it."""
    kind: str = ""
    """Kind of job, if the page launches one."""
    button: str = ""
    right: str = LAUNCH_JOBS
    """Right that the page needs."""


KNOWLEDGE_BASES = WhenEmpty(
    "No knowledge bases yet",
    "Import one from files, a folder or a Neo4j database: it is checked, loaded and indexed, and then answers. "
    "The command does the same; with --dry-run it only checks.",
    f"{_MANAGE} import_kb path/to/bundle",
)
SNAPSHOTS = WhenEmpty(
    "No imported data yet",
    "The graph and its texts, as each import left them. Importing a knowledge base makes the first.",
    f"{_MANAGE} import_kb path/to/bundle",
    page="admin:search_import",
    button="Import a knowledge base",
)
VECTOR_SETS = WhenEmpty(
    "No vector sets yet",
    "An import makes the vectors of its data at its end. For data imported without them, this does:",
    f"{_MANAGE} index_kb NAME",
    page=_LAUNCH,
    kind="index",
    button="Index a knowledge base",
)
RELEASES = WhenEmpty(
    "No releases yet",
    "A release is one import with its vectors and indexes, ready to answer. An import makes one at its end. "
    "For data imported without, this does:",
    f"{_MANAGE} index_kb NAME",
    page=_LAUNCH,
    kind="index",
    button="Index a knowledge base",
)
ARTIFACTS = WhenEmpty(
    "No trained parts yet",
    "A trained part is what a training has learned. A planner is trained from questions and their answers, and the "
    "next searches of the knowledge base use it.",
    f"{_MANAGE} train planner NAME --questions questions.jsonl",
    page=_LAUNCH,
    kind="train_planner",
    button="Train a planner",
)
PIPELINE_VERSIONS = WhenEmpty(
    "No versions yet: every pipeline runs as the site has it",
    "Training a planner and tuning the fusion each save a version for their knowledge base, and activate it.",
    f"{_MANAGE} tune NAME --questions questions.jsonl --split val",
    page=_LAUNCH,
    kind="tune",
    button="Tune the fusion",
)
SEARCHES = WhenEmpty(
    "Nothing has been asked yet",
    "Every question is kept here with its steps, whether it is asked on the search page, through the API or by "
    "this command:",
    f'{_MANAGE} ask NAME "question"',
)
FEEDBACK = WhenEmpty(
    "No feedback yet",
    "Below each result of a search are buttons for right and wrong, and below all of them a field for what is missing. "
    "What people say there is listed here, and makes question sets.",
)
SERVERS = WhenEmpty(
    "No language-model servers yet",
    "None is needed: searches plan without one. To use one, add its base URL and model, then press Test. Any server "
    "that speaks the OpenAI protocol will do.",
)
CALLS = WhenEmpty(
    "No calls yet",
    "Every call of a language model is recorded here with its tokens and seconds, once a server is set under Servers "
    "or by LLM_BASE_URL in the environment.",
)
TOKENS = WhenEmpty(
    "No API tokens yet",
    "A program that sends a token in its requests acts for an account, without its password. Add one here, or with:",
    f"{_MANAGE} create_token USERNAME",
)
GROUPS = WhenEmpty(
    "No groups yet",
    "A group gives the same rights to several accounts, such as changing knowledge bases. Add one, then put accounts "
    "into it.",
)
JOBS = WhenEmpty(
    "No jobs yet",
    "A job imports, indexes, evaluates, tunes or trains in a worker, and shows how far it is. Commands are jobs too.",
    f"{_MANAGE} jobs list",
)
SCHEDULES = WhenEmpty(
    "No schedules yet",
    "A schedule launches a job again and again at the times that you say, such as an evaluation every night.",
)
AUDIT = WhenEmpty(
    "Nothing has been done yet",
    "Every write of an admin is kept here, whether it is made on a page, through the API, by a command or a schedule.",
)
FOLDERS = WhenEmpty(
    "No folders of the server yet",
    "Add one, and imports may read the files below it without sending them through the browser.",
)
