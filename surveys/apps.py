"""Surveys, their frozen manifests and the respondent's pages."""

from django.apps import AppConfig


class SurveysConfig(AppConfig):
    name = "surveys"
