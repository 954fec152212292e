"""URLs of the home page, results, exports and the API."""

from django.urls import URLPattern, include, path

from aggregator.views import (
    background,
    breakdown,
    comparisons,
    data,
    deleting,
    downloads,
    files,
    health,
    history,
    home,
    key_driver,
    methods,
    mode_comparison,
    results,
    sealed_half,
    security_txt,
    study_report,
)
from aggregator.views.coins import coin_form, offline_code
from aggregator.views.publishing import break_it, choosing, ledger, public_results, releases
from surveys.manifest.modes import Mode


def _mode_pages(folder: str, *, prefix: str = "", mode: Mode = Mode.ELECTRONIC) -> list[URLPattern]:
    root = f"surveys/<slug:slug>/{folder}"
    pages = {
        "results": ("", results.results),
        "results_panel": ("/panel", results.results_panel),
        "estimates_csv": ("/estimates.csv", downloads.estimates_csv),
    }
    return [
        path(root + page, view, {"mode": mode}, name=prefix + name)
        for name, (page, view) in pages.items()
    ]


def _release_pages(
    folder: str, *, prefix: str = "", mode: Mode = Mode.ELECTRONIC
) -> list[URLPattern]:
    root = f"surveys/<slug:slug>/{folder}"
    found = {
        "releases": ("", releases.releases),
        "release_new": ("/new/<str:kind>", choosing.release_new),
        "release_ledger": ("/ledger", ledger.release_ledger),
        "release_ledger_csv": ("/ledger.csv", ledger.release_ledger_csv),
    }
    return [
        path(root + page, view, {"mode": mode}, name=prefix + name)
        for name, (page, view) in found.items()
    ]


app_name = "aggregator"
urlpatterns = [
    path("", home.home, name="home"),
    path("problems", home.problem_list, name="problems"),
    path("problems/<slug:slug>", home.problem, name="problem"),
    *_mode_pages("results"),
    # Reports from coins are left out: few people use coins, and a row shows one person's codes.
    path("surveys/<slug:slug>/results/reports.csv", downloads.reports_csv, name="reports_csv"),
    path("surveys/<slug:slug>/results/codebook.csv", downloads.codebook_csv, name="codebook_csv"),
    # The results of people who tossed coins have the same pages and files.
    *_mode_pages("results/coins", prefix="coin_", mode=Mode.MANUAL),
    path(
        "surveys/<slug:slug>/results/both", mode_comparison.mode_comparison, name="mode_comparison"
    ),
    path(
        "surveys/<slug:slug>/results/both.csv",
        mode_comparison.mode_comparison_csv,
        name="mode_comparison_csv",
    ),
    path("surveys/<slug:slug>/history", history.history, name="history"),
    path("surveys/<slug:slug>/history.csv", history.history_csv, name="history_csv"),
    path("surveys/<slug:slug>/data", data.data, name="data"),
    path("surveys/<slug:slug>/data/background", background.background, name="background"),
    path("surveys/<slug:slug>/break-it", break_it.break_it, name="break_it"),
    path("surveys/<slug:slug>/report", study_report.report, name="report"),
    path("surveys/<slug:slug>/chart", files.choose_chart, name="choose_chart"),
    path("surveys/<slug:slug>/files/<str:name>", files.file, name="file"),
    path(
        "surveys/<slug:slug>/files/coins/<str:name>",
        files.file,
        {"mode": Mode.MANUAL},
        name="coin_file",
    ),
    path("surveys/<slug:slug>/delete-with-data", deleting.delete, name="delete"),
    *[
        path(f"s/<slug:slug>/results{page}", view, {"mode": mode}, name=f"public_{name}")
        for mode, page, prefix in ((Mode.ELECTRONIC, "", ""), (Mode.MANUAL, "/coins", "coin_"))
        for page, view, name in (
            (page, public_results.public_results, f"{prefix}results"),
            (f"{page}.csv", public_results.public_results_csv, f"{prefix}results_csv"),
        )
    ],
    path("s/<slug:slug>/coins", coin_form.coins, name="coins"),
    path("s/<slug:slug>/coins/sent", coin_form.sent, name="coins_sent"),
    path("s/<slug:slug>/paper", coin_form.paper, name="paper"),
    path("s/<slug:slug>/send", offline_code.hand_in, name="hand_in"),
    path("s/<slug:slug>/send/sent", offline_code.handed_in, name="handed_in"),
    path("surveys/<slug:slug>/breakdown", breakdown.breakdowns, name="breakdowns"),
    path("surveys/<slug:slug>/breakdown/<str:question>", breakdown.breakdown, name="breakdown"),
    path(
        "surveys/<slug:slug>/breakdown/<str:question>/breakdown.csv",
        breakdown.breakdown_csv,
        name="breakdown_csv",
    ),
    path("surveys/<slug:slug>/compare", comparisons.compare, name="compare"),
    path("surveys/<slug:slug>/compare/sealed-half", sealed_half.sealed_half, name="sealed_half"),
    path("surveys/<slug:slug>/compare/key-driver", key_driver.key_driver, name="key_driver"),
    path("surveys/<slug:slug>/compare/<int:pk>/result", comparisons.comparison, name="comparison"),
    path(
        "surveys/<slug:slug>/compare/<int:pk>/result/panel",
        comparisons.comparison_panel,
        name="comparison_panel",
    ),
    path(
        "surveys/<slug:slug>/compare/<int:pk>/result.csv",
        comparisons.comparison_csv,
        name="comparison_csv",
    ),
    path("surveys/<slug:slug>/releases/<int:pk>", releases.release, name="release"),
    *_release_pages("releases"),
    # The results of people who tossed coins have the same pages, and a separate ledger.
    *_release_pages("releases/coins", prefix="coin_", mode=Mode.MANUAL),
    path("methods", methods.contents, name="methods"),
    path("methods/figures/<str:name>", methods.figure, name="methods_figure"),
    path("methods/paragraph/<str:anchor>", methods.paragraph, name="methods_paragraph"),
    path("methods/<str:name>", methods.chapter, name="methods_chapter"),
    path(".well-known/security.txt", security_txt.security_txt, name="security_txt"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("api", home.api_guide, name="api_guide"),
    path("api/", include("aggregator.api.urls")),
]
