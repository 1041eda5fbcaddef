"""The site: settings, URLs, Celery, and the processes that `make run` keeps alive."""
