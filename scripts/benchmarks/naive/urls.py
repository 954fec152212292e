"""The only address. It differs from the intake's, which the ASGI entry answers before Django."""

from django.urls import path

from scripts.benchmarks.naive.views import Reports

urlpatterns = [path("naive/reports", Reports.as_view())]
