"""Static files of researcher pages: compressed, with hashed names and rewritten imports.

The respondent's scripts are not among these files: `surveys` serves them itself.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage

# htmx's extensions are not used, and a comment in one of them looks like an import.
UNUSED = "django_htmx/ext/"


class StaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # untyped
    support_js_module_import_aggregation = True

    def post_process(
        self, paths: Mapping[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[tuple[str, str | None, bool | Exception]]:
        used = {name: source for name, source in paths.items() if not name.startswith(UNUSED)}
        yield from super().post_process(used, dry_run, **options)
