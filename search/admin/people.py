"""User accounts and groups, in the style of the admin: a role is chosen by its name, rights one by one are advanced."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminSelectWidget

from search.admin import empty
from search.services.access.roles import ADMIN, ANNOTATOR, SEARCHER, give_role, role_of

admin.site.unregister(User)
admin.site.unregister(Group)

ROLE_WORDS = {
    "": "No role: like somebody who is not signed in",
    SEARCHER: "Searcher: searches the knowledge bases that they may see",
    ANNOTATOR: "Annotator: also judges results and reads evaluations",
    ADMIN: "Admin: everything, accounts and other people's rights included",
}


def _role_field() -> forms.ChoiceField:
    return forms.ChoiceField(
        choices=list(ROLE_WORDS.items()), required=False, widget=UnfoldAdminSelectWidget,
        help_text="Annotators and admins may open these pages.",
    )  # fmt: skip


class UserForm(UserChangeForm):
    """An account with its role."""

    role = _role_field()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        role = self.fields["role"]
        role.initial = role_of(self.instance)
        if self.instance.is_superuser:
            role.help_text = "This account is a superuser: it may do everything, whatever its role."


class NewUserForm(UserCreationForm):
    """A new account with its role."""

    role = _role_field()


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ModelAdmin):
    """User accounts."""

    form = UserForm
    add_form = NewUserForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "email", "role", "is_active", "last_login")
    list_filter = ("groups", "is_active", "is_superuser")
    fieldsets = (
        (None, {"fields": ("username", "password", "role", "is_active")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Advanced: rights one by one", {
            "classes": ("collapse",),
            "fields": ("is_staff", "is_superuser", "groups", "user_permissions", "last_login", "date_joined"),
        }),
    )  # fmt: skip
    add_fieldsets = (
        (None, {"classes": ("wide",), "fields": ("username", "role", "usable_password", "password1", "password2")}),
    )

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Save the groups, and then the role if it was chosen anew: the groups of the advanced part stay otherwise."""
        super().save_related(request, form, formsets, change)
        if "role" in form.changed_data:
            give_role(form.instance, form.cleaned_data["role"])

    @display(description="Role")
    def role(self, user: User) -> str:
        """The role, in the list."""
        if user.is_superuser:
            return "superuser"
        return role_of(user) or "–"


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, ModelAdmin):
    """Groups of users with shared rights."""

    when_empty = empty.GROUPS
