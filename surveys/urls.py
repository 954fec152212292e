"""URLs of the authoring pages and of the respondent's pages."""

from django.urls import path, re_path

from surveys.manifest.languages import NAMES
from surveys.views.authoring import (
    budget,
    definitions,
    exchange,
    pasting,
    planned,
    planned_releases,
    planning,
    preview,
    publication,
    questions,
    share,
    translation_files,
    translations,
)
from surveys.views.authoring import surveys as authoring
from surveys.views.respondent import checking, respond

app_name = "surveys"
urlpatterns = [
    path("surveys/new", authoring.create, name="create"),
    path("surveys/import/definition", definitions.import_definition, name="definition_import"),
    path("surveys/import", exchange.upload, name="import"),
    path("surveys/import/<slug:slug>", exchange.imported, name="imported"),
    path("surveys/import/<slug:slug>/panel", exchange.imported_panel, name="imported_panel"),
    path("surveys/<slug:slug>/", authoring.edit, name="edit"),
    path("surveys/<slug:slug>/definition.json", definitions.export, name="definition"),
    path("surveys/<slug:slug>/definition/compare", definitions.compare, name="definition_compare"),
    path("surveys/<slug:slug>/settings", authoring.settings, name="settings"),
    path("surveys/<slug:slug>/settings/<slug:page>", authoring.settings, name="settings_page"),
    path("surveys/<slug:slug>/questions", questions.list_questions, name="questions"),
    path("surveys/<slug:slug>/questions/new", questions.create, name="question_create"),
    path("surveys/<slug:slug>/questions/paste", pasting.paste, name="questions_paste"),
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
    path("surveys/<slug:slug>/budget", budget.remedy, name="budget_remedy"),
    path("surveys/<slug:slug>/budget/undo", budget.undo, name="budget_undo"),
    path("surveys/<slug:slug>/planned", planned.planned, name="planned"),
    path("surveys/<slug:slug>/planned/<int:pk>/remove", planned.remove, name="planned_remove"),
    path("surveys/<slug:slug>/planned-releases", planned_releases.planned, name="planned_releases"),
    path(
        "surveys/<slug:slug>/planned-releases/<int:pk>/remove",
        planned_releases.remove,
        name="planned_release_remove",
    ),
    path("surveys/<slug:slug>/preview", preview.preview, name="preview"),
    path(
        "surveys/<slug:slug>/preview/manifest.json",
        preview.preview_manifest,
        name="preview_manifest",
    ),
    path("surveys/<slug:slug>/xlsform.xlsx", exchange.xlsform, name="xlsform"),
    path("surveys/<slug:slug>/redcap.csv", exchange.redcap_dictionary, name="redcap"),
    path("surveys/<slug:slug>/languages", translations.languages, name="languages"),
    path(
        "surveys/<slug:slug>/languages/<slug:code>",
        translations.translation,
        name="translation",
    ),
    path(
        "surveys/<slug:slug>/languages/<slug:code>/remove",
        translations.remove,
        name="translation_remove",
    ),
    path("surveys/<slug:slug>/translations", translation_files.upload, name="translation_file"),
    path(
        "surveys/<slug:slug>/translations.csv",
        translation_files.download,
        name="translation_file_download",
    ),
    path("surveys/<slug:slug>/share", share.share, name="share"),
    path("surveys/<slug:slug>/share/qr.svg", share.qr_svg, name="share_qr_svg"),
    path("surveys/<slug:slug>/share/qr.png", share.qr_png, name="share_qr_png"),
    path("surveys/<slug:slug>/poster", share.poster, name="poster"),
    path("surveys/<slug:slug>/launch", authoring.launch, name="launch"),
    path("surveys/<slug:slug>/close", authoring.close, name="close"),
    path("surveys/<slug:slug>/copy", authoring.copy, name="copy"),
    path("surveys/<slug:slug>/delete", authoring.delete, name="delete"),
    path(
        "surveys/<slug:slug>/public-results",
        publication.switch_public_results,
        name="public_results",
    ),
    path("schemas/definition-1.json", definitions.schema, name="definition_schema"),
    path("plan", planning.show_plan, name="plan"),
    path("s/<slug:slug>", respond.respond, name="respond"),
    re_path(
        r"^s/(?P<slug>[-\w]+)/(?P<language>[A-Za-z]{2,3}(?:-[A-Za-z]+)*)$",
        respond.respond,
        name="respond_in",
    ),
    path("s/<slug:slug>/check", checking.check, name="check"),
    path("s/<slug:slug>/page.html", checking.single_page, name="single_page"),
    re_path(r"^m/(?P<digest>[0-9a-f]{64})\.json$", respond.manifest, name="manifest"),
    re_path(
        rf"^m/(?P<digest>[0-9a-f]{{64}})/(?P<language>{'|'.join(NAMES)})\.json$",
        respond.frozen_words,
        name="words",
    ),
    path("r/<str:version>/<path:name>", respond.client_file, name="client_file"),
    path("r/x", respond.elsewhere, name="elsewhere"),
]
