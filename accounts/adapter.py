"""allauth without public sign-up: the operator creates accounts."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url

from accounts.known_browsers import remember_browser
from accounts.lockout import end_pauses
from accounts.models import User
from accounts.networks import name_network


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": "The e-mail address or the password is wrong. "
        "Check both and try again.",
    }

    def get_client_ip(self, request: HttpRequest) -> str:
        # allauth's limits count by this name. Behind a proxy, they must not count everyone as one.
        return name_network(request)

    def set_password(self, user: User, password: str) -> None:
        super().set_password(user, password)
        # Earlier guesses were at the old password, and the next page says "sign in now".
        end_pauses(user)

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **kwargs)
        remember_browser(request, response, user)
        return response

    def reauthenticate(self, user: User, password: str) -> bool:
        is_right: bool = super().reauthenticate(user, password)
        if is_right:
            # If the stored hash has just been replaced, all other sessions end. This one stays.
            user.refresh_from_db(fields=["password"])
            update_session_auth_hash(context.request, user)
        return is_right

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def add_message(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Drop allauth's messages: the pages themselves say what happened."""

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send nothing: a worker sends the only mail, the password reset (reset_mail.py)."""

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        # Only this step ends on a page that does not say what happened.
        messages.success(request, "Your password was changed.")
        return resolve_url(settings.LOGIN_REDIRECT_URL)
