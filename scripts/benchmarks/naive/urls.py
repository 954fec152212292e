"""The only address. The intake's own address never reaches Django: the ASGI entry answers it."""

from django.urls import path

from scripts.benchmarks.naive.views import Reports

urlpatterns = [path("naive/reports", Reports.as_view())]
