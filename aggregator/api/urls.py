"""URLs below /api/."""

from django.urls import path

from aggregator.api import definitions, description, views
from aggregator.api.intake_view import intake

urlpatterns = [
    path("reports", intake, name="intake"),
    path("schema", description.Schema.as_view(), name="api_schema"),
    path("definitions/validate", definitions.validate, name="api_definition_validate"),
    path("surveys", views.SurveyList.as_view(), name="api_surveys"),
    path("surveys/<slug:slug>", views.survey, name="api_survey"),
    path("surveys/<slug:slug>/definition", definitions.definition, name="api_definition"),
    path("surveys/<slug:slug>/results", views.results, name="api_results"),
    path("surveys/<slug:slug>/reports.csv", views.reports_csv, name="api_reports_csv"),
    path("surveys/<slug:slug>/codebook.csv", views.codebook_csv, name="api_codebook_csv"),
    path("surveys/<slug:slug>/estimates.csv", views.estimates_csv, name="api_estimates_csv"),
]
