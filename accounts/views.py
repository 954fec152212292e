"""Replacements for allauth views that would lead to pages Murmur does not offer."""

from __future__ import annotations

from typing import Any

from allauth.account.views import PasswordChangeView
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect


class ChangePasswordView(PasswordChangeView):  # type: ignore[misc]  # allauth ships no types
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not request.user.has_usable_password():
            # There is no password to change yet: it is set through the reset mail.
            return redirect("account_reset_password")
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return response
