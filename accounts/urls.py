"""The few allauth pages that Murmur offers: sign-in, password change and reset."""

from allauth.account import views
from django.urls import path, re_path
from django.views.decorators.http import require_http_methods

from accounts.views import ChangePasswordView, NewPasswordView, ResetDoneView, ResetView

# allauth's views treat PUT as POST; pages need only these methods.
page = require_http_methods(["GET", "HEAD", "POST"])

urlpatterns = [
    path("login/", page(views.login), name="account_login"),
    path("logout/", page(views.logout), name="account_logout"),
    path("inactive/", page(views.account_inactive), name="account_inactive"),
    path("reauthenticate/", page(views.reauthenticate), name="account_reauthenticate"),
    path("password/change/", page(ChangePasswordView.as_view()), name="account_change_password"),
    path("password/reset/", page(ResetView.as_view()), name="account_reset_password"),
    path("password/reset/done/", page(ResetDoneView.as_view()), name="account_reset_password_done"),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        page(NewPasswordView.as_view()),
        name="account_reset_password_from_key",
    ),
    path(
        "password/reset/key/done/",
        page(views.password_reset_from_key_done),
        name="account_reset_password_from_key_done",
    ),
]
