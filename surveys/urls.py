"""Addresses of authoring and of the respondent's pages."""

from django.urls import path, re_path

from surveys.views import authoring, planning, questions, respond

app_name = "surveys"
urlpatterns = [
    path("surveys/new", authoring.create, name="create"),
    path("surveys/<slug:slug>/", authoring.edit, name="edit"),
    path("surveys/<slug:slug>/settings", authoring.settings, name="settings"),
    path("surveys/<slug:slug>/questions/new", questions.create, name="question_create"),
    path("surveys/<slug:slug>/questions/<int:pk>/edit", questions.edit, name="question_edit"),
    path(
        "surveys/<slug:slug>/questions/<int:pk>/move",
        questions.move,
        name="question_move",
    ),
    path(
        "surveys/<slug:slug>/questions/<int:pk>/delete",
        questions.delete,
        name="question_delete",
    ),
    path("surveys/<slug:slug>/preview", respond.preview, name="preview"),
    path(
        "surveys/<slug:slug>/preview/manifest.json",
        respond.preview_manifest,
        name="preview_manifest",
    ),
    path("surveys/<slug:slug>/launch", authoring.launch, name="launch"),
    path("surveys/<slug:slug>/close", authoring.close, name="close"),
    path("surveys/<slug:slug>/copy", authoring.copy, name="copy"),
    path("surveys/<slug:slug>/delete", authoring.delete, name="delete"),
    path("plan", planning.plan, name="plan"),
    path("s/<slug:slug>", respond.respond, name="respond"),
    re_path(r"^m/(?P<digest>[0-9a-f]{64})\.json$", respond.manifest, name="manifest"),
    path("r/<str:version>/<str:name>", respond.client_file, name="client_file"),
]
