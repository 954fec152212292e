"""The only URL. Requests to the intake's URL never reach Django; config/asgi.py answers them."""

from django.urls import path

from scripts.benchmarks.naive.views import Reports

urlpatterns = [path("naive/reports", Reports.as_view())]
