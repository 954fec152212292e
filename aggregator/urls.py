"""Addresses of home, results, exports and the API."""

from django.urls import include, path

from aggregator.views import compare, exports, health, home, methods, results

app_name = "aggregator"
urlpatterns = [
    path("", home.home, name="home"),
    path("problems", home.problem_list, name="problems"),
    path("problems/<slug:slug>", home.problem, name="problem"),
    path("surveys/<slug:slug>/results", results.results, name="results"),
    path("surveys/<slug:slug>/results/panel", results.results_panel, name="results_panel"),
    path("surveys/<slug:slug>/results/chart.svg", results.chart_svg, name="chart_svg"),
    path("surveys/<slug:slug>/results/chart.png", results.chart_png, name="chart_png"),
    path("surveys/<slug:slug>/results/reports.csv", exports.reports_csv, name="reports_csv"),
    path("surveys/<slug:slug>/results/estimates.csv", exports.estimates_csv, name="estimates_csv"),
    path("surveys/<slug:slug>/compare", compare.compare, name="compare"),
    path("surveys/<slug:slug>/compare/<int:pk>/result", compare.comparison, name="comparison"),
    path(
        "surveys/<slug:slug>/compare/<int:pk>/result/panel",
        compare.comparison_panel,
        name="comparison_panel",
    ),
    path(
        "surveys/<slug:slug>/compare/<int:pk>/result.csv",
        compare.comparison_csv,
        name="comparison_csv",
    ),
    path("methods", methods.methods, name="methods"),
    path("methods/figures/<str:name>", methods.methods_figure, name="methods_figure"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("api", home.api_guide, name="api_guide"),
    path("api/", include("aggregator.api.urls")),
]
