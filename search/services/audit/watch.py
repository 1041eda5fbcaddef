"""watch_admin: note what people do in Django's admin, and who gets which role, by Django's signals."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.contrib.auth.signals import user_logged_in
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_delete, post_save

from search.models import ApiToken, AuditEntry, BackupRun, Job
from search.services.audit.note import note, present_caller

NOTED_BY_SERVICES = (ApiToken, Job)
"""Models of which the services say more precisely what is done."""
REMOVED_BY_SERVICES = (AuditEntry, BackupRun)
"""Models of which no deletion is noted here: the services note it, or it is no action of a person."""
_VERBS = {ADDITION: "added", CHANGE: "changed"}


def watch_admin() -> None:
    """Begin to note."""
    post_save.connect(_logged, sender=LogEntry, dispatch_uid="audit.logged")
    post_delete.connect(_deleted, dispatch_uid="audit.deleted")
    m2m_changed.connect(_roles, sender=User.groups.through, dispatch_uid="audit.roles")
    m2m_changed.connect(_rights, sender=User.user_permissions.through, dispatch_uid="audit.rights")
    user_logged_in.connect(_signed_in, dispatch_uid="audit.signed_in")


def _logged(sender: Any, instance: LogEntry, created: bool, **_: Any) -> None:
    """Note what the admin itself logs; `_deleted` notes deletions, because the admin may log many of them at once."""
    verb = _VERBS.get(instance.action_flag)
    model = instance.content_type.model_class() if instance.content_type else None
    if not created or verb is None or (model in NOTED_BY_SERVICES and verb == "added"):
        return
    changed = instance.get_edited_object() if model is not None else None
    message = instance.get_change_message()
    note(f"{verb} in the admin", changed, name=instance.object_repr, user=instance.user, message=message)


def _deleted(sender: type[Model], instance: Model, **_: Any) -> None:
    if present_caller() is not None and admin.site.is_registered(sender) and sender not in REMOVED_BY_SERVICES:
        note("deleted", instance)


def _signed_in(sender: Any, user: Any, **_: Any) -> None:
    if user.is_staff and present_caller() is not None:
        note("signed in", user, user=user)


def _roles(action: str, instance: Model, reverse: bool, pk_set: set[int] | None, **_: Any) -> None:
    _membership("roles", Group, action, instance, reverse, pk_set)


def _rights(action: str, instance: Model, reverse: bool, pk_set: set[int] | None, **_: Any) -> None:
    _membership("rights", Permission, action, instance, reverse, pk_set)


def _membership(
    what: str, model: type[Model], action: str, instance: Model, reverse: bool, pk_set: set[int] | None
) -> None:  # fmt: skip
    """Note that accounts were given roles or rights, or lost them."""
    verbs = {"post_add": f"{what} given", "post_remove": f"{what} taken", "pre_clear": f"{what} taken"}
    if action not in verbs or (pk_set is not None and not pk_set):
        return
    field = "groups" if what == "roles" else "user_permissions"
    found: dict[Model, list[str]]
    if reverse:
        users = User.objects.filter(**{field: instance}) if pk_set is None else User.objects.filter(pk__in=pk_set)
        found = {user: [str(instance)] for user in users}
    else:
        named = getattr(instance, field).all() if pk_set is None else model._default_manager.filter(pk__in=pk_set)
        found = {instance: sorted(map(str, named))}
    for user, names in found.items():
        if names:
            details: dict[str, Any] = {what: names}
            note(verbs[action], user, **details)
