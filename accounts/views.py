"""Where allauth's own page would lead to one that is not offered here."""

from __future__ import annotations

from typing import Any

from allauth.account.views import PasswordChangeView
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect


class ChangePasswordView(PasswordChangeView):  # type: ignore[misc]  # allauth ships no types
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not request.user.has_usable_password():
            # Nothing to change yet: a first password comes by mail, like a forgotten one.
            return redirect("account_reset_password")
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return response
