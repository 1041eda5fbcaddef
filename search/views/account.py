"""Signing in and out, and changing one's password: pages for everybody, staff or not."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeDoneView, PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache

from search.services.access.sign_in import TooManyAttempts
from search.views.unavailable import says_what_is_down


class SignIn(LoginView):
    """Asks for name and password, and goes on to where somebody wanted to be."""

    template_name = "account/sign_in.html"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Check name and password; after too many wrong ones say so with status 429, and check nothing for a while."""
        try:
            return super().post(request, *args, **kwargs)
        except TooManyAttempts as error:
            form = self.get_form_class()(request, initial={"username": request.POST.get("username", "")[:150]})
            context = self.get_context_data(form=form, refused=error.reason)
            answer = self.render_to_response(context, status=429)
            answer["Retry-After"] = str(int(error.seconds))
            return answer


class SignOut(LogoutView):
    """Ends the session; by POST alone, so that no link can."""


class ChangePassword(PasswordChangeView):
    """Asks for the old password and twice for the new one."""

    template_name = "account/password.html"
    success_url = reverse_lazy("password-changed")


class PasswordChanged(PasswordChangeDoneView):
    """Says that the password is another one now."""

    template_name = "account/password_changed.html"


def _page(view: Any) -> Any:
    return never_cache(says_what_is_down(view.as_view()))


sign_in, sign_out = _page(SignIn), _page(SignOut)
change_password, password_changed = _page(ChangePassword), _page(PasswordChanged)
