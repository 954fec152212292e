"""allauth without public sign-up: the operator creates accounts."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.utils.crypto import constant_time_compare

from accounts.address.changing import cancel_change
from accounts.known_browsers import remember_browser
from accounts.lockout import end_pauses
from accounts.models import User
from accounts.networks import name_network
from accounts.tokens import end_tokens

NOT_CURRENT = "The current password is wrong. Type it again."
# Between the steps for the password and the code, the session holds a hash of the accepted
# password.
_SEEN = "password_was"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": "The email address or the password is wrong. "
        "Check both and try again.",
        "enter_current_password": NOT_CURRENT,
        "incorrect_password": NOT_CURRENT,
    }

    def get_client_ip(self, request: HttpRequest) -> str:
        # allauth counts attempts by this network. Behind a proxy, visitors must not share a count.
        return name_network(request)

    def set_password(self, user: User, password: str) -> None:
        super().set_password(user, password)
        # Wrong guesses at the old password no longer matter, and the next page says "sign in now".
        end_pauses(user)
        # Someone who knew the old password may have asked for a new address, or made a token.
        cancel_change(user)
        end_tokens(user)

    def pre_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse | None:
        response: HttpResponse | None = super().pre_login(request, user, **kwargs)
        request.session[_SEEN] = user.get_session_auth_hash()
        return response

    def login(self, request: HttpRequest, user: User) -> None:
        """Sign in, unless the account was closed or got a new password since the last step."""
        seen = request.session.pop(_SEEN, "")
        if not user.is_active or not constant_time_compare(seen, user.get_session_auth_hash()):
            raise ImmediateHttpResponse(redirect(settings.LOGIN_URL))
        super().login(request, user)

    def get_reauthentication_methods(self, user: User | AnonymousUser) -> list[dict[str, Any]]:
        """Ask for a code if the account uses codes; a password alone must not turn codes off."""
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        return methods[-1:]

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **kwargs)
        remember_browser(request, response, user)
        return response

    def reauthenticate(self, user: User, password: str) -> bool:
        is_right: bool = super().reauthenticate(user, password)
        if is_right:
            # If the stored hash has just been replaced, all sessions end except this one.
            user.refresh_from_db(fields=["password"])
            update_session_auth_hash(context.request, user)
        return is_right

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def add_message(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Drop allauth's messages: the pages themselves say what happened."""

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send nothing here: a worker sends all emails (mail/queue.py)."""

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        # This is the only step after which the page does not say what happened.
        messages.success(request, "Your password was changed.")
        return resolve_url("account")
