"""The embedded services: Postgres and Valkey as child processes, and the supervisor behind `make run`.

These processes keep each other alive:

- The *keeper* owns Postgres and Valkey. It lives as long as any process holds a *lease*, a connection to its socket.
Even `kill -9` of the holder returns the lease.
- The *supervisor* holds a lease and owns the web process and the workers.
- Every command of `manage.py` that needs the services holds a lease.
- Keeper and supervisor each have a *watchdog*. It detects over a pipe that its owner has ended, and then ends the
processes that the owner had started.
"""
