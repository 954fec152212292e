"""How allauth behaves here: no public sign-up; accounts are made by the operator."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest
from django.shortcuts import resolve_url


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": "The e-mail address or the password is not right. "
        "Check both and try again.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def add_message(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Pages say what happened; allauth's flash messages would say it twice."""

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        # The one step that ends on a page which cannot tell by itself.
        messages.success(request, "Your password was changed.")
        return resolve_url(settings.LOGIN_REDIRECT_URL)
