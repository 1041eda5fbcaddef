"""The site: settings, the wiring of URLs, Celery and the processes that `make run` keeps alive."""
