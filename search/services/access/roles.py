"""roles: the groups of accounts that every site has, and the rights of each. `docs/roles.md` shows what they may do.

Every start of the site gives these groups exactly these rights. For other rights, make another group. Members of a role
for staff become staff, because only staff can open the admin. An account that leaves its last group and has no rights
of its own stops being staff.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.db.models import Q
from django.db.models.signals import m2m_changed

SEARCHER, ANNOTATOR, ADMIN = "searcher", "annotator", "admin"
STAFF_ROLES = (ANNOTATOR, ADMIN)
ALL = "*"
ROLES: Mapping[str, Sequence[str]] = {
    # Searching and judging results need no right. Members see the knowledge bases of which they are members.
    SEARCHER: (),
    ANNOTATOR: (
        "search.view_knowledgebase", "search.view_release", "search.view_pipelineversion", "search.view_artifact",
        "search.view_searchrun", "search.view_searchstep", "search.view_feedback",
        "search.view_apitoken", "search.add_apitoken", "search.delete_apitoken",
        "training.view_questionset", "training.add_questionset", "training.view_question",
        "training.view_evaluation", "training.view_outcome",
        # Not to view queues in the admin: its pages show pipelines and ranks, to which annotators are blind.
        "training.add_annotationqueue", "training.add_judgement",
    ),
    ADMIN: (f"search.{ALL}", f"training.{ALL}", f"auth.{ALL}"),
}  # fmt: skip
"""Role → its rights as `app.codename`; `app.*` means all rights of an app. Rights that no model has are left out."""


def make_roles() -> None:
    """Make the groups of the roles, with exactly the rights of `ROLES`."""
    for name, rights in ROLES.items():
        group, _ = Group.objects.get_or_create(name=name)
        group.permissions.set(_permissions(rights))


def _permissions(rights: Sequence[str]) -> list[Permission]:
    wanted = Q(pk__in=[])
    for right in rights:
        app, _, codename = right.partition(".")
        of_app = Q(content_type__app_label=app)
        wanted |= of_app if codename == ALL else of_app & Q(codename=codename)
    return list(Permission.objects.filter(wanted))


def set_staff(user: User) -> None:
    """Make an account staff if it has a role for staff; if it has neither a role nor rights of its own, end that."""
    if user.is_superuser:
        return
    has_role = user.groups.filter(name__in=STAFF_ROLES).exists()
    if has_role and not user.is_staff:
        User.objects.filter(pk=user.pk).update(is_staff=True)
    elif user.is_staff and not has_role and not user.groups.exists() and not user.user_permissions.exists():
        User.objects.filter(pk=user.pk).update(is_staff=False)


def role_of(user: User) -> str:
    """Return the role of an account, the one with the most rights if it has several; empty if it has none."""
    if user._state.adding:
        return ""
    names = {group.name for group in user.groups.all()}
    return next((role for role in reversed(list(ROLES)) if role in names), "")


def give_role(user: User, role: str) -> None:
    """Give an account this role in the place of others; empty takes the role away. Groups that are no roles stay.

    Who loses a role for staff is staff no more, unless another group or rights of their own remain.
    """
    kept = [group for group in user.groups.all() if group.name not in ROLES]
    user.groups.set([*kept, *Group.objects.filter(name=role)] if role else kept)
    if role not in STAFF_ROLES and not kept and not user.is_superuser and not user.user_permissions.exists():
        User.objects.filter(pk=user.pk).update(is_staff=False)


def _groups_changed(
    sender: Any, instance: Any, action: str, reverse: bool, pk_set: set[int] | None, **_: Any
) -> None:  # fmt: skip
    if action == "pre_clear" and reverse:
        instance.left = list(instance.user_set.all())
    if action not in ("post_add", "post_remove", "post_clear"):
        return
    users = [instance]
    if reverse:
        users = list(User.objects.filter(pk__in=pk_set)) if pk_set else getattr(instance, "left", [])
    for user in users:
        set_staff(user)


def watch_groups() -> None:
    """Update whether accounts are staff whenever their groups change."""
    m2m_changed.connect(_groups_changed, sender=User.groups.through, dispatch_uid="search.roles")
