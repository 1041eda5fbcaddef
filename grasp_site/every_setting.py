"""Every setting of the site: the variables of the environment, with their defaults and meanings.

`docs/settings.md` is written from this list (`manage.py document_settings`). A test compares it
with what the code reads.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """A variable of the environment; texts are Markdown, with links as from a page in `docs/`.

    A secret may be given as a file by `NAME_FILE`.
    """

    name: str
    default: str
    meaning: str
    secret: bool = False


@dataclass(frozen=True)
class SettingGroup:
    """Settings that belong together, under a heading."""

    title: str
    settings: tuple[Setting, ...]


GROUPS = (
    SettingGroup(
        "The site",
        (
            Setting("PORT", "`8000`", "The port of the web process."),
            Setting(
                "GRASP_HOST",
                "`127.0.0.1`",
                "The address that the web process listens at; `0.0.0.0` in a container, where the container's network "
                "decides who reaches it.",
            ),
            Setting("GRASP_HOME", "`.grasp`", "All data: the embedded services, indexes, logs."),
            Setting(
                "GRASP_DOCS",
                "`docs` in `GRASP_HOME`",
                "Folder of the built documentation. An image of a container builds it in and names its folder here.",
            ),
            Setting("DEBUG", "`false`", "Django's debug mode; never on a machine that others reach."),
            Setting("SECRET_KEY", "", "Signs sessions; generated and kept in `GRASP_HOME` when empty.", secret=True),
            Setting(
                "GRASP_ADMIN_PASSWORD",
                "",
                "The password of the user `admin`; the first start prints a generated one when empty.",
                secret=True,
            ),
            Setting(
                "ALLOWED_HOSTS", "`127.0.0.1,localhost,[::1]`", "Host names the site answers to, separated by commas."
            ),
            Setting("CSRF_TRUSTED_ORIGINS", "", "Origins of a proxy in front, as `https://name`."),
            Setting(
                "TRUSTED_PROXIES",
                "",
                "Addresses or networks of proxies in front, separated by commas: whose `X-Forwarded-For` and "
                "`X-Forwarded-Proto` are believed.",
            ),
            Setting(
                "GRASP_HTTPS",
                "`false`",
                "Whether people reach the site by HTTPS, through a proxy in `TRUSTED_PROXIES`: plain requests are "
                "redirected, cookies are sent by HTTPS alone, and browsers are told to stay with it.",
            ),
            Setting(
                "GRASP_HSTS_SECONDS",
                "`3600` with HTTPS",
                "Seconds for which browsers stay with HTTPS; raise it to a year (31536000) once it works.",
            ),
            Setting("GRASP_HSTS_SUBDOMAINS", "`false`", "Whether that also holds for all subdomains."),
            Setting("GRASP_HSTS_PRELOAD", "`false`", "Whether browsers may put the site into their lists."),
            Setting("GRASP_DEMO", "`true`", "Whether the first start loads the three demo knowledge bases."),
            Setting(
                "GRASP_GALLERY",
                "`false`",
                "Whether everybody may open `/gallery/`, which shows each part of the pages in every state; staff "
                "always may.",
            ),
        ),
    ),
    SettingGroup(
        "Watching it",
        (
            Setting(
                "GRASP_METRICS_TOKEN",
                "",
                "Whoever sends it as `Authorization: Bearer …` may read `/metrics` (Prometheus).",
                secret=True,
            ),
            Setting(
                "GRASP_METRICS_NETWORKS",
                "",
                "Networks, separated by commas, that may read `/metrics` without a token. Without both it is closed.",
            ),
            Setting(
                "GRASP_METRICS_LISTEN",
                "",
                "Address at which a worker serves the metrics of its machine, such as `0.0.0.0:9464`; only for workers "
                "on machines without a web process.",
            ),
            Setting(
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                "",
                "Base URL of an OTLP/HTTP receiver such as `http://127.0.0.1:4318`, to which traces of searches and "
                "jobs are sent; empty: none are made.",
            ),
            Setting(
                "OTEL_EXPORTER_OTLP_HEADERS", "", "Headers for it, as `name=value` separated by commas.", secret=True
            ),
            Setting("OTEL_SERVICE_NAME", "`grasp`", "The name of this site in the traces."),
            Setting(
                "GRASP_LOG_FORMAT",
                "`auto`",
                "`json`: one object a line; `text`: for people; `auto`: text at a terminal, else JSON.",
            ),
            Setting("GRASP_LOG_QUESTIONS", "`false`", "Whether the log has the questions that people ask."),
            Setting(
                "GRASP_BACKUP_DAYS",
                "`7`",
                "Days after which the admin's first page asks for a new backup; 0: something else makes them.",
            ),
            Setting(
                "GRASP_BACKUP_FOLDER",
                "`backups` in `GRASP_HOME`",
                "The folder into which the admin's jobs write backups; web process and worker of `jobs` need it.",
            ),
            Setting("LOG_LEVEL", "`INFO`", "How much goes into `GRASP_HOME/logs`."),
        ),
    ),
    SettingGroup(
        "Databases",
        (
            Setting(
                "DATABASE_URL", "", "A Postgres with pgvector of your own, instead of the embedded one.", secret=True
            ),
            Setting(
                "DATABASE_SUPERUSER_URL",
                "",
                "The database of `DATABASE_URL` for a superuser. Where it is given, the setup makes the role of "
                "`DATABASE_URL`, gives it the database, and adds the extension `vector`. Give it to the setup alone "
                "(`python -m grasp_site.setup`).",
                secret=True,
            ),
            Setting("DATABASE_POOL", "`0`", "Size of the pool of Postgres connections of a process; 0 for none."),
            Setting("REDIS_URL", "", "A Valkey or Redis of your own, instead of the embedded one.", secret=True),
            Setting(
                "NEO4J_URL",
                "",
                "`neo4j://user:password@host:port/database`; `make neo4j` starts one and prints its address, "
                "`sync_graph NAME` copies a release into it. Neo4j executes what the memory-mapped graph does not. "
                "Empty: Postgres does; it also stands in while Neo4j is away, and the page says so.",
                secret=True,
            ),
            Setting(
                "VECTORS_URL",
                "",
                "A database on a Postgres with pgvectorscale, for the vectors of this site alone: "
                "`postgresql://user:password@host:port/name`. Several of them, separated by commas, share the nodes. "
                "They look for the nearest vectors of releases of more than 100,000 nodes ([vectors on machines of "
                "their own](several-workers.md#vectors-on-machines-of-their-own)). Empty: the site's Postgres does.",
                secret=True,
            ),
            Setting(
                "VECTORS_MEMORY",
                "`1GB`",
                "Memory for building an index of vectors, as Postgres writes it (`maintenance_work_mem`), here and on "
                "the servers of `VECTORS_URL`. An HNSW index that does not fit is built many times more slowly.",
            ),
            Setting(
                "VECTORS_WORKERS",
                "`0`",
                "Further processes of Postgres that build an index of vectors; they share that memory, for which "
                "`/dev/shm` of its machine needs room.",
            ),
        ),
    ),
    SettingGroup(
        "Searching",
        (
            Setting("GRASP_SEARCH_SECONDS", "`30`", "Time limit of one search, in seconds."),
            Setting(
                "GRASP_SEARCH_PROCESSES",
                "by cores and memory",
                "Processes that answer searches, each one at a time; they share the memory of the models.",
            ),
            Setting(
                "GRASP_QUEUE_LENGTH",
                "`100`",
                "Searches that may wait for the worker; the next is refused at once, with status 503 and "
                "`Retry-After`. 0: no limit.",
            ),
            Setting(
                "GRASP_QUEUE_SECONDS",
                "`1`",
                "Seconds that a new search may have to wait for a worker, as the length of the queue and the time of "
                "the latest searches say; while it is more, new searches are refused in the same way. 0: no limit.",
            ),
            Setting(
                "GRASP_WEB_SECONDS",
                "`1`",
                "Seconds that a question may wait at the door of a web process; while the first one there has waited "
                "for longer, new searches are refused in the same way. 0: no limit.",
            ),
            Setting(
                "GRASP_WEB_PROCESSES",
                "by cores",
                "Web processes: with `make run` one for three cores, at most four; in containers 2. Each works on as "
                "many requests at a time as `DATABASE_POOL` has connections (8 in both).",
            ),
            Setting(
                "GRASP_SEARCHES_PER_MINUTE",
                "`120`",
                "Searches a minute of one address whose visitors are not signed in; the next is answered with 429 "
                "and `Retry-After`. Exports are counted apart, up to the same number; so are those of an account and "
                "of a token. 0: no limit.",
            ),
            Setting("GRASP_SEARCHES_PER_MINUTE_USER", "`300`", "Searches a minute of an account."),
            Setting("GRASP_SEARCHES_PER_MINUTE_TOKEN", "`600`", "Searches a minute of an API token."),
            Setting(
                "GRASP_CORS_ORIGINS",
                "",
                "Origins of other sites, separated by commas, whose pages may ask through the API "
                "(the [search box to embed](embedding.md)); `*` for every site.",
            ),
            Setting(
                "GRASP_BASIC_AUTHENTICATION",
                "`false`",
                "Whether the API also takes a name and password with each request; tokens are better.",
            ),
        ),
    ),
    SettingGroup(
        "Models",
        (
            Setting(
                "GRASP_DEVICE",
                "`auto`",
                "`auto`, `cpu`, `cuda`, or one GPU, as `cuda:0`: where models run and are trained.",
            ),
            Setting(
                "GRASP_ENCODER",
                "`all-MiniLM-L6-v2@` and the package's version",
                "The encoder that makes the vectors of new releases: the packaged one, a model of the Hugging Face "
                "hub as `owner/name@commit`, or a folder that never changes. A release is always searched with the "
                "encoder that made its vectors.",
            ),
            Setting(
                "GRASP_ENCODERS",
                "",
                "Further encoders that releases may have been made with, separated by commas; the packaged one and "
                "`GRASP_ENCODER` are always there.",
            ),
            Setting("GRASP_ENCODERS_KEPT", "`2`", "Encoders that a process keeps in memory; those used last."),
            Setting(
                "GRASP_RERANKER_URL",
                "",
                "Base URL of a server that reranks, such as `http://127.0.0.1:8080/v1` of vLLM or llama.cpp; the "
                "reranker `server` ([docs/reranking.md](reranking.md)).",
            ),
            Setting(
                "GRASP_RERANKER_MODEL",
                "",
                "The name of the model that this server knows; empty for a server with one model.",
            ),
            Setting("GRASP_RERANKER_KEY", "", "The key of that server, if it takes one.", secret=True),
            Setting(
                "GRASP_CAUSAL_RERANKER",
                "",
                "A language model that reranks in a worker, such as `Qwen/Qwen3-Reranker-0.6B@commit`, or a folder; "
                "the reranker `causal`.",
            ),
        ),
    ),
    SettingGroup(
        "Language models",
        (
            Setting(
                "LLM_BASE_URL",
                "",
                "Base URL of a server with an OpenAI-compatible API; `make llm` starts a small one and prints the "
                "values (the first time, `make llm GEMMA_TERMS=accepted` installs it). Empty: no language model. "
                "Where one is set, or added in the admin, it plans beside the grammar in every `grasp` search, "
                "for 8 seconds at most (`plan.llm=off` switches it off). Servers in the admin come first "
                "([language-models.md](language-models.md)).",
            ),
            Setting("LLM_MODEL", "", "The name of the model on that server."),
            Setting("LLM_API_KEY", "", "Its key, if it takes one.", secret=True),
            Setting(
                "GRASP_LLM_BUDGET",
                "`calls=300, tokens=1000000`",
                "The most that one search may spend on language models: `calls` (requests, retries included), "
                "`tokens` (of prompts and answers), `seconds` (of waiting), `money` (by the price table); what is "
                "not named has no limit. A call beyond it is refused with a sentence, and the search goes on without "
                "it.",
            ),
            Setting(
                "GRASP_LLM_PRICES",
                "",
                'Prices of a million tokens by model, as JSON: `{"currency": "EUR", "gpt-5-mini": {"prompt": 0.25, '
                '"cached": 0.025, "completion": 2}}`; `*` is any other model. Searches then show their price.',
            ),
        ),
    ),
    SettingGroup(
        "Uploads and imports",
        (
            Setting("GRASP_UPLOAD_MEGABYTES", "`20000`", "Most megabytes of one upload."),
            Setting("GRASP_UPLOAD_UNPACKED_MEGABYTES", "`100000`", "Most megabytes of one upload, unpacked."),
            Setting("GRASP_UPLOAD_FILES", "`10000`", "Most files in one upload, packed or not."),
            Setting(
                "GRASP_UPLOAD_CHUNK_MEGABYTES", "`32`", "Most megabytes of one request; larger files arrive in pieces."
            ),
            Setting("GRASP_UPLOAD_DAYS", "`7`", "Days that an upload is kept after its last change."),
            Setting(
                "GRASP_IMPORT_ROOTS",
                "",
                "Folders of this machine, separated by commas, that staff may import from on pages and in the API.",
            ),
            Setting(
                "GRASP_FILES_FROM",
                "",
                "Where a machine fetches index files and artifacts that it lacks: the address of the site on the "
                "machine that builds them (`http://host:8000`), or a folder that is its `GRASP_HOME` "
                "([several-workers.md](several-workers.md)).",
            ),
            Setting(
                "GRASP_INDEX_STORE",
                "",
                "An object store, such as `s3://bucket/folder`: what is built is sent there, and other machines fetch "
                "it from there. The folder belongs to this site alone; `AWS_…` variables hold the credentials "
                "([several-workers.md](several-workers.md#an-object-store)).",
            ),
            Setting(
                "GRASP_IMPORT_NEO4J_USER", "", "The account with which an import reads a Neo4j database.", secret=True
            ),
            Setting("GRASP_IMPORT_NEO4J_PASSWORD", "", "The password of that account.", secret=True),
            Setting(
                "GRASP_IMPORT_NEO4J_HOSTS",
                "",
                "Neo4j servers, as `host:port` separated by commas, that staff may import from on pages and in the "
                "API.",
            ),
        ),
    ),
    SettingGroup(
        "Jobs",
        (
            Setting(
                "GRASP_JOB_LEASE_SECONDS",
                "`10`",
                "A job whose process has not reported for this number of seconds continues in another process.",
            ),
            Setting(
                "GRASP_JOB_PROCESSES",
                "`1`",
                "Jobs that the worker of the queue `jobs` does at once; the one of `gpu` does one for each GPU.",
            ),
            Setting(
                "GRASP_JOB_ATTEMPTS",
                "`5`",
                "A job fails after this number of its processes have stopped during the work.",
            ),
            Setting(
                "GRASP_BEAT",
                "`true`",
                "Whether the search worker starts what runs every few minutes, such as the deletion of old searches; "
                "`false` where a `celery beat` of your own does.",
            ),
        ),
    ),
    SettingGroup(
        "How long things are kept",
        (
            Setting(
                "GRASP_RUNS_DAYS",
                "`90`",
                "Days that recorded searches and calls of language models are kept; the search worker deletes older "
                "ones every hour, `manage.py prune_runs` at once.",
            ),
            Setting(
                "GRASP_JOB_DAYS",
                "`90`",
                "Days that an ended job is kept, with its log, metrics and checkpoints. The checkpoints of a job "
                "that is done are deleted within the hour.",
            ),
            Setting(
                "GRASP_TOKEN_DAYS",
                "`365`",
                "Days that a new token of the API works; 0: until somebody revokes it. `create_token --days` and the "
                "form of the admin take another number for one token.",
            ),
            Setting("GRASP_AUDIT_DAYS", "`730`", "Days that the audit log is kept; 0: for ever."),
            Setting(
                "GRASP_DRAFT_DAYS",
                "`1`",
                "Days that questions are kept that somebody has given to the site and not yet stored as a question "
                "set.",
            ),
            Setting(
                "GRASP_LEFTOVER_DAYS",
                "`3`",
                "Days after which folders in `GRASP_HOME` are deleted that belong to nothing: of artifacts and jobs "
                "without a row in the database, and of imports whose process was killed.",
            ),
        ),
    ),
)


def every_setting() -> Iterator[Setting]:
    """Yield all settings in the order of the page."""
    for group in GROUPS:
        yield from group.settings
