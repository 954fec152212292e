"""All URLs, app by app."""

from django.urls import include, path

urlpatterns = [
    path("accounts/", include("accounts.urls")),
    path("", include("surveys.urls")),
    path("", include("aggregator.urls")),
]

handler404 = "config.errors.not_found"
handler500 = "config.errors.server_error"
