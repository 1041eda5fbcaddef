"""API tokens: made here and shown once, listed by their first characters, revoked."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import ForeignKey, Model, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.admin import ModelAdmin
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminIntegerFieldWidget

from search.admin import empty
from search.models import ApiToken
from search.services.access.tokens import MOST_DAYS, is_expired, make_token, revoke_token

MANAGES_ACCOUNTS = "auth.change_user"


class TokenForm(ModelForm[ApiToken]):
    """The form of a new token, with the days that it works."""

    days = forms.IntegerField(
        required=False,
        min_value=0, max_value=MOST_DAYS, widget=UnfoldAdminIntegerFieldWidget,
        help_text="Days that it works; 0: until somebody revokes it. Empty: as the site has it (GRASP_TOKEN_DAYS).",
    )  # fmt: skip

    class Meta:
        model = ApiToken
        fields = ("user", "name")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["days"].initial = settings.GRASP_TOKEN_DAYS


@admin.register(ApiToken)
class ApiTokenAdmin(ModelAdmin):
    """Whoever may add tokens makes them for themselves; only superusers make those of others.

    Whoever manages accounts sees and revokes the tokens of all, for somebody has to when a token leaks.
    """

    when_empty = empty.TOKENS
    list_display = ("shown", "name", "user", "state", "until", "created", "last_used")
    list_filter = ("revoked", "expires", "created")
    search_fields = ("name", "beginning", "user__username")
    list_select_related = ("user",)
    form = TokenForm
    fields = ("user", "name", "days")
    actions = ("revoke",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiToken]:
        """Return the tokens of whoever looks; who manages accounts sees all."""
        tokens = super().get_queryset(request)
        everybody = request.user.has_perm(MANAGES_ACCOUNTS)
        return tokens if everybody else tokens.filter(user__username=request.user.get_username())

    def formfield_for_foreignkey(self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any) -> Any:
        """Offer no account but one's own, for a token can do whatever its account may; superusers choose."""
        if db_field.name == "user":
            everybody = User.objects.filter(is_active=True)
            kwargs["queryset"] = (
                everybody if request.user.is_superuser else everybody.filter(username=request.user.get_username())
            )
            kwargs["initial"] = request.user.pk
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """A token is revoked, not changed; the list takes its actions."""
        return obj is None and super().has_change_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: ApiToken, form: ModelForm[ApiToken], change: bool) -> None:
        """Make the token; its text is kept for the answer to this request alone."""
        row, text = make_token(obj.user, obj.name, form.cleaned_data["days"])
        obj.__dict__.update(row.__dict__)
        request.made_token = text  # type: ignore[attr-defined]

    def response_add(self, request: HttpRequest, obj: ApiToken, post_url_continue: str | None = None) -> HttpResponse:
        """Show the token's text, once."""
        context = {
            **self.admin_site.each_context(request), "title": "The new token", "token": obj,
            "text": request.made_token,  # type: ignore[attr-defined]
        }  # fmt: skip
        return TemplateResponse(
            request, "admin/search/apitoken/made.html", context, headers={"Cache-Control": "no-store"}
        )

    @action(description="Revoke", permissions=["delete"])
    def revoke(self, request: HttpRequest, chosen: QuerySet[ApiToken]) -> None:
        """Have the chosen tokens open nothing any more; their rows stay."""
        for token in chosen:
            revoke_token(token)
        messages.success(request, "They open nothing from now on.")

    @display(description="Token", ordering="beginning")
    def shown(self, token: ApiToken) -> str:
        """Its first characters."""
        return f"{token.beginning}…"

    @display(
        description="State", label={"works": "success", "for ever": "warning", "expired": "danger", "revoked": "danger"}
    )
    def state(self, token: ApiToken) -> tuple[str, str]:
        """Whether it opens something; one that never expires says so."""
        if token.revoked:
            return "revoked", "revoked"
        if is_expired(token):
            return "expired", "expired"
        return ("works", "works") if token.expires else ("for ever", "works, and never expires")

    @display(description="Works until", ordering="expires")
    def until(self, token: ApiToken) -> str:
        """When it expires."""
        return f"{token.expires:%Y-%m-%d}" if token.expires else "it is revoked"
