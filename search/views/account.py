"""Pages for signing in, signing out and changing the password, for staff and all other users."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeDoneView, PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.urls import reverse, reverse_lazy
from django.views.decorators.cache import never_cache

from search.services.access.sign_in import TooManyAttempts
from search.views.unavailable import says_what_is_down

JUDGES, KEEPS = "training.add_judgement", "search.change_knowledgebase"


class SignIn(LoginView):
    """The page that asks for name and password and then redirects to the page that was requested first."""

    template_name = "account/sign_in.html"

    def get_default_redirect_url(self) -> str:
        """Lead who judges and does not keep the site to their queue; everybody else to the search page."""
        user = self.request.user
        if user.has_perm(JUDGES) and not user.has_perm(KEEPS):
            return f"{reverse('annotate')}?{urlencode({'open': 1})}"
        return super().get_default_redirect_url()

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Check name and password and sign in; show the form again if they are wrong.

        After too many failures the form is shown with status 429, and nothing is checked for a while.
        """
        try:
            return super().post(request, *args, **kwargs)
        except TooManyAttempts as error:
            form = self.get_form_class()(request, initial={"username": request.POST.get("username", "")[:150]})
            context = self.get_context_data(form=form, refused=error.reason)
            answer = self.render_to_response(context, status=429)
            answer["Retry-After"] = str(int(error.seconds))
            return answer


class SignOut(LogoutView):
    """The view that ends the session; it accepts only POST, so that no link can end a session."""


class ChangePassword(PasswordChangeView):
    """The page that asks once for the old password and twice for the new one."""

    template_name = "account/password.html"
    success_url = reverse_lazy("password-changed")


class PasswordChanged(PasswordChangeDoneView):
    """The page that confirms that the password was changed."""

    template_name = "account/password_changed.html"


def _page(view: Any) -> Any:
    return never_cache(says_what_is_down(view.as_view()))


sign_in, sign_out = _page(SignIn), _page(SignOut)
change_password, password_changed = _page(ChangePassword), _page(PasswordChanged)
