"""rights: what an account needs for jobs, schedules and uploads; the pages, the API and the services ask here.

The rights are Django's. `search/services/access/roles.py` gives them to the groups of the site.
"""

from __future__ import annotations

from django.contrib.auth.models import PermissionsMixin

from search.domain.errors import NotAllowed
from search.services.access.visitors import User

VIEW_JOBS, LAUNCH_JOBS = "search.view_job", "search.add_job"
"""Whoever may launch jobs may also cancel, resume and clone them."""
VIEW_SCHEDULES, ADD_SCHEDULES = "search.view_jobschedule", "search.add_jobschedule"
CHANGE_SCHEDULES, DELETE_SCHEDULES = "search.change_jobschedule", "search.delete_jobschedule"
VIEW_BACKUPS, MAKE_BACKUPS = "search.view_backuprun", "search.add_backuprun"
"""Whoever may make backups may also check them."""
DOWNLOAD_BACKUPS, REMOVE_BACKUPS = "search.download_backuprun", "search.delete_backuprun"
"""A backup holds the secrets of the site, so that looking at the list is not enough to get one."""
VIEW_UPLOADS, ADD_UPLOADS, DELETE_UPLOADS = "search.view_upload", "search.add_upload", "search.delete_upload"


def may(user: User, right: str) -> bool:
    """Whether a user has a right, such as `search.add_job`; None, the machine itself, has every right."""
    return user is None or (isinstance(user, PermissionsMixin) and user.has_perm(right))


def check_may(user: User, right: str, what: str) -> None:
    """Raise NotAllowed unless the user has the right; `what` ends the sentence "Your account may not …"."""
    if not may(user, right):
        raise NotAllowed(f"Your account may not {what}; whoever manages accounts can put it into a group that may.")
