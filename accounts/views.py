"""Replacements for allauth views that would lead to pages Murmur does not offer."""

from __future__ import annotations

from typing import Any

from allauth.account.views import (
    PasswordChangeView,
    PasswordResetDoneView,
    PasswordResetFromKeyView,
    PasswordResetView,
)
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from accounts.known_browsers import remember_browser
from accounts.mail.delivery import find_delivery
from accounts.networks import is_loopback, network_of_request


class ChangePasswordView(PasswordChangeView):  # type: ignore[misc]  # allauth ships no types
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not request.user.has_usable_password():
            # The account has no password yet; the owner sets one through the reset email.
            return redirect("account_reset_password")
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return response


class NewPasswordView(PasswordResetFromKeyView):  # type: ignore[misc]
    def form_valid(self, form: Form) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        # This person reads the account's email, so they may sign in without a pause, even while
        # strangers guess passwords.
        remember_browser(self.request, response, self.reset_user)
        return response


class ResetView(PasswordResetView):  # type: ignore[misc]
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | build_mail_context(self.request)


class ResetDoneView(PasswordResetDoneView):  # type: ignore[misc]
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | build_mail_context(self.request)


def build_mail_context(request: HttpRequest) -> dict[str, Any]:
    """Return whether emails are sent and, for people at this computer, where unsent emails are."""
    delivery = find_delivery()
    is_here = is_loopback(network_of_request(request))
    place = delivery.place if is_here and not delivery.is_sent else ""
    return {
        "mails_are_sent": delivery.is_sent,
        "mails_are_lost": not delivery.is_sent and not delivery.place,
        "mail_place": place,
    }
