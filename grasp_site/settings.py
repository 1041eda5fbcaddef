"""Django's settings, read from the environment. README has a table of the variables.

Several settings are tables of dotted paths to functions or classes.
"""

import os
import sys
from pathlib import Path
from typing import Any

import django_stubs_ext

from grasp_site import cors
from grasp_site.addresses import celery_url, database_settings, read_store
from grasp_site.admin_look import UNFOLD as UNFOLD
from grasp_site.csp import STRICT
from grasp_site.device import read_device
from grasp_site.embedded.home import Home, closed_to_others
from grasp_site.environment import env_bool, env_choice, env_int, env_list, env_read, env_secret, env_str, read_memory
from grasp_site.logs import configure_structlog, logging_settings
from grasp_site.metrics.listening import read_listen
from grasp_site.pipelines import PIPELINES
from grasp_site.receiver import read_endpoint, read_headers
from grasp_site.security import read_networks, read_proxies, transport_settings
from search.domain.price_table import read_allowance, read_prices
from search.neural.encoder_names import full_name, parts

BASE_DIR = Path(__file__).resolve().parent.parent
# Index files, uploads, artifacts, backups and logs of all processes are for the account of the site alone.
closed_to_others()
HOME = Home.from_environment()
GRASP_HOME = HOME.root

DEBUG = env_bool("DEBUG", False)
SECRET_KEY = env_secret("SECRET_KEY") or HOME.secret("secret_key")
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "unfold.contrib.forms",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "corsheaders",
    "grasp_site.documentation",
    "search",
    "training",
]

MIDDLEWARE = [
    "grasp_site.request_ids.with_request_id",
    "grasp_site.metrics.requests.timed",
    "corsheaders.middleware.CorsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "grasp_site.csp.policy_by_path",
    "grasp_site.static_files.kept_for_good",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "grasp_site.errors.no_html_below_api",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "grasp_site.callers.declared",
    "grasp_site.readers.written_for",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "grasp_site.urls"
ASGI_APPLICATION = "grasp_site.asgi.application"
WSGI_APPLICATION = "grasp_site.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["search.templatetags.reader"],
        },
    }
]

# --- Postgres -------------------------------------------------------------------------------------------------------
DATABASE_POOL = env_int("DATABASE_POOL", 0)
DATABASES: dict[str, dict[str, Any]] = {"default": database_settings(env_secret("DATABASE_URL") or HOME.database_url)}
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DATABASES["default"]["OPTIONS"].setdefault("connect_timeout", 3)
if not env_secret("DATABASE_URL"):
    # Repeated statements are prepared, but only in the embedded Postgres: an external database may be behind a pooler.
    DATABASES["default"]["OPTIONS"]["prepare_threshold"] = 2
if DATABASE_POOL:
    # The pool checks each connection before use, so that no request fails after a restart of Postgres.
    DATABASES["default"]["OPTIONS"]["pool"] = {"min_size": 0, "max_size": DATABASE_POOL, "timeout": 5}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Valkey and Celery ----------------------------------------------------------------------------------------------
REDIS_URL = env_secret("REDIS_URL") or HOME.redis_url
CELERY_BROKER_URL = celery_url(REDIS_URL)
CELERY_RESULT_BACKEND = CELERY_BROKER_URL
CELERY_RESULT_EXPIRES = 3600
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_DEFAULT_QUEUE = "search"
# A worker acknowledges a search when it takes it. If the worker dies, the user asks again; the broker does not send the
# search again an hour later. Jobs that can resume set `acks_late=True` themselves.
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600, "socket_connect_timeout": 2, "socket_timeout": 5}
# These limits bound the time that a door waits for the broker before it reports that the broker does not answer.
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 2, "interval_start": 0.1, "interval_step": 0.2, "interval_max": 0.5}
CELERY_TIMEZONE = "UTC"

# Where index files and artifacts are fetched from that this machine lacks: the address of the site on the machine that
# builds them, or a folder that is its GRASP_HOME.
GRASP_FILES_FROM = env_str("GRASP_FILES_FROM")
# An object store, such as s3://bucket/folder: what is built here is sent there, and what this machine lacks is fetched
# from there if GRASP_FILES_FROM is empty. Credentials come from the variables of the store's own library.
GRASP_INDEX_STORE = env_read("GRASP_INDEX_STORE", read_store)

# {queue: dotted paths of functions}. A worker of the queue calls them before its first task, to load models once. The
# search worker forks its processes afterwards, so none of their threads may be at work then.
GRASP_WARM_UP: dict[str, list[str]] = {
    "search": [
        "search.services.searches.end_abandoned.end_abandoned_searches",
        "search.services.knowledge.index_files.look",
        "search.services.warm_up.warm_up",
    ],
    # Every job has a process of its own, which loads what it needs.
    "jobs": [],
    "gpu": [],
}

# Functions that a web process calls once, beside its first requests: what they load, no page has to load.
GRASP_WARM_UP_WEB = [
    "search.services.warm_up_web.warm_up_web",
]

# The tasks that are sent at fixed times; each task itself decides which work is due. A thread of the search worker
# sends them, because a separate process for `celery beat` would take another 90 MB. Sites that run `celery beat`
# anyway turn GRASP_BEAT off.
GRASP_BEAT = env_bool("GRASP_BEAT", True)

# Whether everybody may look at the gallery of components (/gallery/), and not only staff.
GRASP_GALLERY = env_bool("GRASP_GALLERY", False)
# The states of the admin's own pages, and those of the pages of training.
GRASP_GALLERY_STATES = ["search.admin.gallery.COMPONENTS", "training.views.gallery.COMPONENTS"]
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "retention": {"task": "search.tasks.keep_up", "schedule": 600.0, "options": {"queue": "search", "expires": 500}},
    "jobs": {"task": "search.tasks.tend_jobs", "schedule": 3.0, "options": {"queue": "search", "expires": 10}},
}

# The services of a search: {name: dotted path of a function that returns the service's state}.
GRASP_HEALTH = {
    "postgres": "grasp_site.health.database",
    "valkey": "grasp_site.health.queue_broker",
    "search worker": "grasp_site.health.search_worker",
    "encoders": "grasp_site.health.encoders",
    "index files": "grasp_site.health.index_files",
}
# The names of services that a search does not require. Pages show their failure, but the site is still ready.
GRASP_HEALTH_OPTIONAL = ["neo4j", "vector engine", "encoders", "index files"]
# Dotted path of the function that returns the sender and receiver of notices about changed searches.
GRASP_NOTICES = "grasp_site.notices.notices"
GRASP_QUEUES = "grasp_site.health.queues"

# The functions of the limits that all processes share, by dotted path.
GRASP_GATE = {name: f"grasp_site.gate.{name}" for name in ("take", "give_back", "reserve", "release", "queued")}

# --- Tools and pipelines --------------------------------------------------------------------------------------------
NEO4J_URL = env_secret("NEO4J_URL")
VECTORS_URL = env_secret("VECTORS_URL")
# Memory and parallel workers of Postgres while it builds an index of vectors, here and in the vector engine.
VECTORS_MEMORY = env_read("VECTORS_MEMORY", read_memory, default="1GB")
VECTORS_WORKERS = env_int("VECTORS_WORKERS", 0)
LLM_BASE_URL = env_str("LLM_BASE_URL")
LLM_MODEL = env_str("LLM_MODEL")
LLM_API_KEY = env_secret("LLM_API_KEY")
GRASP_LLM_PRICES = env_read("GRASP_LLM_PRICES", read_prices)
GRASP_LLM_BUDGET = env_read("GRASP_LLM_BUDGET", read_allowance, default="calls=300, tokens=1000000")
GRASP_DEVICE = env_read("GRASP_DEVICE", read_device)

# The encoders that releases may name, as `model@revision`. A row here overrides the `encoder` row of GRASP_TOOLS. The
# packaged encoder is always listed, so that its releases stay searchable when new releases use another encoder.
_PACKAGED_ENCODER = full_name("all-MiniLM-L6-v2")
GRASP_ENCODER = full_name(*parts(env_str("GRASP_ENCODER", _PACKAGED_ENCODER)))
GRASP_ENCODERS: dict[str, dict[str, Any]] = {
    name: {} for name in (_PACKAGED_ENCODER, GRASP_ENCODER, *env_list("GRASP_ENCODERS", []))
}
GRASP_ENCODERS_KEPT = env_int("GRASP_ENCODERS_KEPT", 2, minimum=1)

# The rerankers that the option `rerank.scorer` may name: {name: {"BACKEND": function, "OPTIONS": {…}}}.
GRASP_SCORERS: dict[str, dict[str, Any]] = {}
if GRASP_RERANKER_URL := env_str("GRASP_RERANKER_URL"):
    GRASP_SCORERS["server"] = {
        "BACKEND": "search.adapters.scorer_http.HttpScorer",
        "OPTIONS": {
            "base_url": GRASP_RERANKER_URL,
            "model": env_str("GRASP_RERANKER_MODEL"),
            "key": env_secret("GRASP_RERANKER_KEY"),
        },
    }
if GRASP_CAUSAL_RERANKER := env_str("GRASP_CAUSAL_RERANKER"):
    GRASP_SCORERS["causal"] = {
        "BACKEND": "search.neural.scorers.configured_causal",
        "OPTIONS": {"model": GRASP_CAUSAL_RERANKER},
    }

# {name: {"BACKEND": dotted path, "OPTIONS": {…}}}; `search/wiring.py` reads both tables and passes each tool its
# dependencies. The backend of the encoder is called with the `name` of the encoder.
GRASP_TOOLS: dict[str, dict[str, Any]] = {
    "encoder": {"BACKEND": "search.neural.encoders.cached_sentence_encoder", "OPTIONS": {"device": GRASP_DEVICE}},
    "adjacency": {"BACKEND": "search.adapters.adjacency_memmap.MemmapAdjacency"},
    "mentions": {"BACKEND": "search.adapters.mentions_memmap.MemmapMentions"},
    "values": {"BACKEND": "search.adapters.values_memmap.MemmapValues"},
    "columns": {"BACKEND": "search.adapters.columns_memmap.MemmapColumns"},
    "nodes": {"BACKEND": "search.adapters.nodes_memmap.MemmapNodes"},
    "text": {"BACKEND": "search.adapters.text_bm25.Bm25Index"},
    "vectors": {"BACKEND": "search.adapters.vectors_pgvector.PgVectors"},
    # For releases that were made without vectors.
    "no_vectors": {"BACKEND": "search.adapters.vectors_none.NoVectors"},
    "plan_scorers": {
        "BACKEND": "search.neural.plan_scorer.LoadedPlanScorers",
        "OPTIONS": {"directory": GRASP_HOME / "artifacts"},
    },
    "rankers": {
        "BACKEND": "search.adapters.rankers_lightgbm.LoadedRankers",
        "OPTIONS": {"directory": GRASP_HOME / "artifacts"},
    },
    "scorers": {
        "BACKEND": "search.neural.scorers.LoadedScorers",
        "OPTIONS": {"directory": GRASP_HOME / "artifacts", "rows": GRASP_SCORERS, "device": GRASP_DEVICE},
    },
    "field_retrievers": {
        "BACKEND": "search.neural.field_retriever.LoadedFieldRetrievers",
        "OPTIONS": {"directory": GRASP_HOME / "artifacts"},
    },
    # Checks and fetches the index files of a release before its other tools open them.
    "index_files": {"BACKEND": "search.adapters.index_files.keep.require"},
    "similar": {"BACKEND": "search.adapters.similar_memmap.MemmapSimilar"},
    "graph": {"BACKEND": "search.adapters.graph_memmap.MemmapOrPostgres"},
    "language_model": {
        "BACKEND": "search.adapters.llm_openai.ConfiguredLanguageModel",
        "OPTIONS": {"log": "search.services.language_models.llm_calls.RecordedCalls"},
    },
    "plan_prompts": {"BACKEND": "search.adapters.briefing_postgres.plan_prompts"},
}

# If NEO4J_URL is set, Neo4j executes what the memory-mapped graph does not, and Postgres while Neo4j does not answer.
if NEO4J_URL:
    GRASP_TOOLS["graph"] = {"BACKEND": "search.adapters.graph_neo4j.fallback.MemmapOrNeo4j"}
    GRASP_HEALTH["neo4j"] = "grasp_site.health.graph_database"
# If VECTORS_URL is set, its servers look for the nearest vectors of large sets. While they are away, words are used.
if VECTORS_URL:
    GRASP_TOOLS["vectors"] = {"BACKEND": "search.adapters.vectors_diskann.DiskAnnVectors"}
    GRASP_HEALTH["vector engine"] = "grasp_site.health.vector_engine"

GRASP_PIPELINES: dict[str, dict[str, Any]] = PIPELINES
GRASP_DEFAULT_PIPELINE = "grasp"
GRASP_SEARCH_SECONDS = env_int("GRASP_SEARCH_SECONDS", 30, minimum=1)
GRASP_RUNS_DAYS = env_int("GRASP_RUNS_DAYS", 90)
# Days that ended jobs, drafts of question sets, and folders without a row in the database are kept.
GRASP_JOB_DAYS = env_int("GRASP_JOB_DAYS", 90, minimum=1)
GRASP_DRAFT_DAYS = env_int("GRASP_DRAFT_DAYS", 1, minimum=1)
GRASP_LEFTOVER_DAYS = env_int("GRASP_LEFTOVER_DAYS", 3, minimum=1)
# {noun: dotted path}: the functions by which the retention deletes what is old, beside searches and calls. Each
# returns how many it deleted.
GRASP_RETENTION: dict[str, str] = {
    "audit entries": "search.services.audit.note.delete_old_entries",
    "jobs": "search.services.jobs.delete_old_jobs.delete_old_jobs",
    "checkpoints": "search.services.jobs.delete_old_jobs.delete_checkpoints",
    "uploads": "search.services.uploads.discard_upload.delete_old_uploads",
    "scratch folders": "search.services.imports.scratch.delete_old_scratch",
    "removed items": "search.services.collections.items.delete_removed_items",
    "question drafts": "training.services.question_drafts.delete_old_drafts",
    "folders of artifacts": "search.services.pipelines.delete_artifact_folders.delete_artifact_folders",
    "objects of the index store": "search.services.index_store.delete_dropped",
}
# Maximum number of searches in the queue, and maximum numbers of searches a minute by kind of asker; 0 for no limit.
GRASP_QUEUE_LENGTH = env_int("GRASP_QUEUE_LENGTH", 100)
# Seconds that a new search may wait at the door of a web process; 0 for no limit.
GRASP_WEB_SECONDS = env_int("GRASP_WEB_SECONDS", 1)
# Seconds that a new search may have to wait for a worker; 0 for no limit.
GRASP_QUEUE_SECONDS = env_int("GRASP_QUEUE_SECONDS", 1)
GRASP_SEARCHES_PER_MINUTE = env_int("GRASP_SEARCHES_PER_MINUTE", 120)
GRASP_SEARCHES_PER_MINUTE_USER = env_int("GRASP_SEARCHES_PER_MINUTE_USER", 300)
GRASP_SEARCHES_PER_MINUTE_TOKEN = env_int("GRASP_SEARCHES_PER_MINUTE_TOKEN", 600)

# The learners: BACKEND is the learner, OPTION is the pipeline's option that names the artifact in use. FOLD is the
# option that chooses a fold, for artifacts that also contain a model learned without each fold of the questions.
# If only some variants of the stage have the option, VARIANTS says which one to switch to: {present variant: variant
# that has it}, where `*` stands for any present one; a present variant that has the option stays.
# ON_REQUEST: training everything trains it only if it is named, because it takes long.
# SEARCHES: it learns from what searches find for questions. Synthesised questions take the place of people's where
# there are none; training everything does not switch on what they alone have taught.
# BARE: its synthesised questions also include some in the bare words of texts and names.
# SETTINGS declares the settings without loading a model library. The job of a learner is `train_NAME` in GRASP_JOBS.
GRASP_LEARNERS: dict[str, dict[str, Any]] = {
    "planner": {
        "BACKEND": "training.learning.planner.PlannerLearner",
        "SETTINGS": "training.learning.planner_settings.PlannerSettings",
        "PIPELINE": "grasp",
        "OPTION": "plan.artifact",
        "FOLD": "plan.fold",
    },
    "retriever": {
        "BACKEND": "training.learning.retriever.RetrieverLearner",
        "SETTINGS": "training.learning.retriever_settings.RetrieverSettings",
        "PIPELINE": "grasp",
        "OPTION": "retrieve.artifact",
        "VARIANTS": {"*": "mfar"},
        "FOLD": "retrieve.fold",
        "BARE": True,
    },
    "ranker": {
        "BACKEND": "training.learning.ranker.RankerLearner",
        "SETTINGS": "training.learning.ranker_settings.RankerSettings",
        "PIPELINE": "grasp",
        "OPTION": "rerank.light_artifact",
        "FOLD": "rerank.light_fold",
        "SEARCHES": True,
        "VARIANTS": {"none": "light", "neural": "light_neural"},
    },
    "reranker": {
        "BACKEND": "training.learning.reranker.RerankerLearner",
        "SETTINGS": "training.learning.reranker_settings.RerankerSettings",
        "PIPELINE": "grasp",
        "OPTION": "rerank.neural_artifact",
        "VARIANTS": {"none": "neural", "light": "light_neural"},
        "ON_REQUEST": True,
        "SEARCHES": True,
    },
}

# Dotted paths of functions that return what else uses an artifact: id → nouns with names, for sentences.
GRASP_ARTIFACT_USES = ["training.services.artifact_uses.evaluations_with"]

# Dotted paths of functions that return what else reads a knowledge base, or one release of it, now: the same nouns.
GRASP_KNOWLEDGE_USES = ["training.services.knowledge_uses.running_evaluations"]

# --- Uploads and imports --------------------------------------------------------------------------------------------
# Limits of one upload: megabytes of all its files, of one request, and unpacked; the number of files, packed or not.
GRASP_UPLOAD_MEGABYTES = env_int("GRASP_UPLOAD_MEGABYTES", 20_000, minimum=1)
GRASP_UPLOAD_CHUNK_MEGABYTES = env_int("GRASP_UPLOAD_CHUNK_MEGABYTES", 32, minimum=1)
GRASP_UPLOAD_UNPACKED_MEGABYTES = env_int("GRASP_UPLOAD_UNPACKED_MEGABYTES", 100_000, minimum=1)
GRASP_UPLOAD_FILES = env_int("GRASP_UPLOAD_FILES", 10_000, minimum=1)
# Days that an upload is kept after its last change.
GRASP_UPLOAD_DAYS = env_int("GRASP_UPLOAD_DAYS", 7, minimum=1)
# Folders of this machine that pages and the API may import from, and Neo4j servers (host:port) that they may read.
GRASP_IMPORT_ROOTS = env_list("GRASP_IMPORT_ROOTS", [])
GRASP_IMPORT_NEO4J_HOSTS = env_list("GRASP_IMPORT_NEO4J_HOSTS", [])
GRASP_IMPORT_NEO4J_USER = env_secret("GRASP_IMPORT_NEO4J_USER")
GRASP_IMPORT_NEO4J_PASSWORD = env_secret("GRASP_IMPORT_NEO4J_PASSWORD")

# --- Jobs -----------------------------------------------------------------------------------------------------------
# The kinds of jobs: KIND is the kind's class, QUEUE the queue whose workers do it, TITLE the kind's name on pages, NAME
# that of one job, with the knowledge base in the place of {} (TITLE where it is missing). Without a worker of `gpu`, or
# with GRASP_DEVICE=cpu, the queue is `jobs`. The kind `train_NAME` trains the learner NAME of GRASP_LEARNERS;
# `training/jobs/train_learner.py` has its base class.
GRASP_JOBS: dict[str, dict[str, str]] = {
    "unpack": {
        "TITLE": "Unpack an upload",
        "NAME": "Unpacking of an upload",
        "KIND": "search.jobs.unpack.UnpackJob",
        "QUEUE": "jobs",
    },
    "import": {"TITLE": "Import", "NAME": "Import of {}", "KIND": "search.jobs.import_kb.ImportJob", "QUEUE": "jobs"},
    "index": {"TITLE": "Index", "NAME": "Indexing of {}", "KIND": "search.jobs.index_kb.IndexJob", "QUEUE": "jobs"},
    "similar": {
        "TITLE": "Link similar entities",
        "NAME": "Links between similar nodes of {}",
        "KIND": "search.jobs.link_similar.LinkSimilarJob",
        "QUEUE": "jobs",
    },
    "sync_graph": {
        "TITLE": "Copy to Neo4j",
        "NAME": "Copy of {} to Neo4j",
        "KIND": "search.jobs.sync_graph.SyncGraphJob",
        "QUEUE": "jobs",
    },
    "backup": {"TITLE": "Back up", "NAME": "Backup", "KIND": "search.jobs.backup.BackupJob", "QUEUE": "jobs"},
    "check_backup": {
        "TITLE": "Check a backup",
        "NAME": "Check of a backup",
        "KIND": "search.jobs.check_backup.CheckBackupJob",
        "QUEUE": "jobs",
    },
    "evaluate": {
        "TITLE": "Evaluate",
        "NAME": "Evaluation of {}",
        "KIND": "training.jobs.evaluate.EvaluateJob",
        "QUEUE": "jobs",
    },
    "synthesise": {
        "TITLE": "Make questions",
        "NAME": "Questions made of {}",
        "KIND": "training.jobs.synthesise.SynthesiseJob",
        "QUEUE": "jobs",
    },
    "tune": {
        "TITLE": "Tune fusion",
        "NAME": "Tuning of fusion for {}",
        "KIND": "training.jobs.tune.TuneJob",
        "QUEUE": "jobs",
    },
    "train_planner": {
        "TITLE": "Train planner",
        "NAME": "Training of the planner for {}",
        "KIND": "training.jobs.train_planner.TrainPlannerJob",
        "QUEUE": "jobs",
    },
    "train_retriever": {
        "TITLE": "Train retriever",
        "NAME": "Training of the retriever for {}",
        "KIND": "training.jobs.train_retriever.TrainRetrieverJob",
        "QUEUE": "gpu",
    },
    "train_all": {
        "TITLE": "Train everything",
        "NAME": "Training of everything for {}",
        "KIND": "training.jobs.train_all.TrainAllJob",
        "QUEUE": "gpu",
    },
    "learn_corrections": {
        "TITLE": "Learn from corrections",
        "NAME": "Learning from corrections of {}",
        "KIND": "training.jobs.learn_corrections.LearnCorrectionsJob",
        "QUEUE": "jobs",
    },
    "fill_queue": {
        "TITLE": "Search the questions of a queue",
        "NAME": "Searching for an annotation queue of {}",
        "KIND": "training.jobs.fill_queue.FillQueueJob",
        "QUEUE": "jobs",
    },
    "judge_items": {
        "TITLE": "Judge by language model",
        "NAME": "Judging of {} by language model",
        "KIND": "training.jobs.judge_items.JudgeItemsJob",
        "QUEUE": "jobs",
    },
    "train_ranker": {
        "TITLE": "Train ranker",
        "NAME": "Training of the ranker for {}",
        "KIND": "training.jobs.train_ranker.TrainRankerJob",
        "QUEUE": "jobs",
    },
    "train_reranker": {
        "TITLE": "Train reranker",
        "NAME": "Training of the reranker for {}",
        "KIND": "training.jobs.train_reranker.TrainRerankerJob",
        "QUEUE": "gpu",
    },
}
# Dotted path of the function that returns Celery's arguments for a worker of a queue.
GRASP_WORKER_ARGUMENTS = "grasp_site.embedded.programs.job_worker_arguments"
# A job whose worker has not reported for this many seconds goes on in another process.
GRASP_JOB_LEASE_SECONDS = env_int("GRASP_JOB_LEASE_SECONDS", 10, minimum=2)
# A job fails after this number of its processes have stopped during the work.
GRASP_JOB_ATTEMPTS = env_int("GRASP_JOB_ATTEMPTS", 5, minimum=1)
# Dotted path of the function that resolves the name of a question set: (knowledge base, name) -> "name@version".
GRASP_QUESTION_SETS = "training.services.question_sets.resolved_set"
# Dotted path of the function that lists question sets for forms: [(knowledge base, "name@version", questions)].
GRASP_LISTED_QUESTION_SETS = "training.services.question_sets.listed_sets"
# Dotted path of the function that returns the quality of the evaluations over time, for the admin's first page.
GRASP_QUALITY = "training.services.evaluations.quality.quality_over_time"

# --- API ------------------------------------------------------------------------------------------------------------
# Basic authentication sends the password with every request, so it is off by default.
_BASIC = ["search.api.authentication.LimitedBasic"] if env_bool("GRASP_BASIC_AUTHENTICATION", False) else []
REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "search.api.authentication.TokenAuthentication",
        *_BASIC,
        "rest_framework.authentication.SessionAuthentication",
    ],
    # Refuses what the table of a view's rights does not name.
    "DEFAULT_PERMISSION_CLASSES": ["search.api.permissions.HasRight"],
    "DEFAULT_RENDERER_CLASSES": ["search.api.rendering.QuickJSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["search.api.parsing.JSONBodyParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "search.api.problems.handle",
}
# Other sites whose pages may ask through the API, for the search box that they embed. No cookies are sent or taken.
GRASP_CORS_ORIGINS = env_read("GRASP_CORS_ORIGINS", cors.read_origins)
CORS_ALLOW_ALL_ORIGINS = cors.EVERY in GRASP_CORS_ORIGINS
CORS_ALLOWED_ORIGINS = [origin for origin in GRASP_CORS_ORIGINS if origin != cors.EVERY]
CORS_URLS_REGEX = cors.PATHS
CORS_ALLOW_METHODS, CORS_ALLOW_HEADERS, CORS_EXPOSE_HEADERS = cors.METHODS, cors.HEADERS, cors.EXPOSED
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "GRASP search",
    "DESCRIPTION": "Questions over semi-structured knowledge bases, for programs: the same searches as on "
    "[the search page](/), with their plans, evidence and arithmetic. What goes wrong is told as RFC 9457 "
    "`application/problem+json`, with every fault and where it lies.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    # The groups of search.api.groups, in the order in which the viewer shows them.
    "TAGS": [
        {"name": "Searches", "description": "Ask a question, follow it, read what came of it, stop it."},
        {
            "name": "Plans and pipelines",
            "description": "What can answer, with which settings, and whether a plan is right.",
        },
        {"name": "Knowledge bases", "description": "What can be searched: schemas, nodes and their neighbours."},
        {
            "name": "Uploads",
            "description": "For staff: files to import, sent in pieces by the tus protocol, looked at, and discarded.",
        },
        {"name": "Jobs", "description": "For staff: long work in workers, watched and stopped from anywhere."},
        {"name": "Question sets", "description": "Questions with known answers: import, check and compare them."},
        {"name": "Evaluations", "description": "How good the pipelines are: reports, outcomes by question, files."},
        {"name": "Annotation", "description": "Queues of items that people judge, without a network for a while."},
        {"name": "State of the site", "description": "For whoever watches the site: does it live, can it answer."},
    ],
    # Searches and jobs wait and run in the same states; evaluations never wait.
    "ENUM_NAME_OVERRIDES": {
        "WorkState": ["queued", "running", "done", "failed", "cancelled"],
        "EvaluationStatus": ["running", "done", "failed", "cancelled"],
        "FeedbackKind": "search.models.feedback.Feedback.Kind",
        "AnnotationQueueState": "training.models.annotation.AnnotationQueue.State",
        "Verdict": "training.models.annotation.Verdict",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}


# --- Static files: served by the web process straight from where they lie -------------------------------------------
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "grasp_site.static_files.VersionedStaticFiles"},
}

# --- Documentation ----------------------------------------------------------------------------------------------------
# The folder of the built pages; an image of a container brings one.
GRASP_DOCS = Path(env_str("GRASP_DOCS") or GRASP_HOME / "docs")

# --- Language, people, security -------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
# Sentences are in English, numbers and dates in the reader's manner (`search/language/reader.py`; `reader_dates.py` for
# what Django and its admin write); without translations, a page with thousands of values is printed in less time.
USE_I18N = False
USE_TZ = True
# Which dates people read, and so get in their manner. Formats in the settings would count less than the language's.
FORMAT_MODULE_PATH = "grasp_site.formats"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AUTHENTICATION_BACKENDS = ["search.services.access.sign_in.LimitedBackend"]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = "search-home"
CSRF_FAILURE_VIEW = "grasp_site.errors.csrf_failure"
GRASP_ADMIN_PASSWORD = env_secret("GRASP_ADMIN_PASSWORD")
# Every setting of Django that GRASP_HTTPS and its companions decide.
globals().update(transport_settings())
GRASP_TRUSTED_PROXIES = env_read("TRUSTED_PROXIES", read_proxies)
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DEFAULT_EXCEPTION_REPORTER_FILTER = "grasp_site.reports.ReporterFilter"
SESSION_COOKIE_SAMESITE = "Lax"
CONTENT_SECURITY_POLICY = {"DIRECTIVES": STRICT}

# --- Logging --------------------------------------------------------------------------------------------------------
LOG_LEVEL = env_str("LOG_LEVEL", "INFO").upper()
configure_structlog()
_FORMAT = env_choice("GRASP_LOG_FORMAT", ("auto", "json", "text"))
_AT_TERMINAL = sys.stderr.isatty()
LOGGING = logging_settings(
    LOG_LEVEL, as_json=_FORMAT == "json" or (_FORMAT == "auto" and not _AT_TERMINAL), colours=_AT_TERMINAL
)
# Whether the log has the questions that people ask; they may be personal.
GRASP_LOG_QUESTIONS = env_bool("GRASP_LOG_QUESTIONS", False)

# --- Watching the site ----------------------------------------------------------------------------------------------
# Who may read /metrics: whoever sends the token, and whoever asks from these networks. Without both it is closed.
GRASP_METRICS_TOKEN = env_secret("GRASP_METRICS_TOKEN")
GRASP_METRICS_NETWORKS = env_read("GRASP_METRICS_NETWORKS", read_networks)
# The address at which a worker serves the metrics of the processes of its machine.
GRASP_METRICS_LISTEN = env_read("GRASP_METRICS_LISTEN", read_listen)
# The functions that are told when a search or a job ends, a lease is lost, or a language model is called.
GRASP_OBSERVERS = ["grasp_site.metrics.observe.count"]
# Traces: without an endpoint no exporter is loaded and nothing is sent.
GRASP_TRACES: dict[str, Any] = {
    "endpoint": env_read("OTEL_EXPORTER_OTLP_ENDPOINT", read_endpoint),
    "headers": read_headers(env_secret("OTEL_EXPORTER_OTLP_HEADERS")),
    "service": env_str("OTEL_SERVICE_NAME", "grasp"),
}
if GRASP_TRACES["endpoint"]:
    GRASP_OBSERVERS.append("grasp_site.telemetry.observe")
    MIDDLEWARE.insert(1, "grasp_site.telemetry.traced")
# The functions that look for what an operator must do, for the admin's first page and the metrics.
GRASP_ALERTS = [
    *(f"search.services.upkeep.alerts.machine.{name}" for name in ("disk_space", "backups", "index_files")),
    *(f"search.services.upkeep.alerts.machine.{name}" for name in ("migrations", "retention")),
    *(f"search.services.upkeep.alerts.work.{name}" for name in ("queues", "services", "failing_jobs", "model_server")),
    *(f"grasp_site.alerts.{name}" for name in ("secrets", "clocks")),
]
# Days that a new token of the API works; 0 for ever.
GRASP_TOKEN_DAYS = env_int("GRASP_TOKEN_DAYS", 365)
# Days that the audit log is kept; 0 for ever.
GRASP_AUDIT_DAYS = env_int("GRASP_AUDIT_DAYS", 730)
# Days after which a backup is too old; 0 if something else makes them.
GRASP_BACKUP_DAYS = env_int("GRASP_BACKUP_DAYS", 7)
# The folder into which jobs write backups, and of which the admin lists, checks and sends them.
GRASP_BACKUP_FOLDER = Path(env_str("GRASP_BACKUP_FOLDER") or GRASP_HOME / "backups")

# Makes Django's generic base classes accept type arguments at run time.
django_stubs_ext.monkeypatch()

# Every process that loads the settings may send a task, so the site's Celery app must be the current one from here on.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grasp_site.settings")
import grasp_site.celery  # noqa: E402, F401
