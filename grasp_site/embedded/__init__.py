"""The embedded default: Postgres and Valkey as child processes, and the supervisor behind `make run`.

Who keeps what alive:

- the *keeper* owns Postgres and Valkey. It lives as long as somebody holds a *lease* (a connection to its socket, so
  that even `kill -9` of the holder gives it back);
- the *supervisor* holds a lease and owns web and workers;
- every command of `manage.py` that needs the services holds a lease;
- keeper and supervisor each have a *watchdog*: it notices over a pipe that its owner is gone, and ends what the owner
  had started.
"""
