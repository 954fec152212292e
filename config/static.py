"""Static files of the researcher pages: hashed names, compressed, imports rewritten.

The respondent's modules are not among them: surveys serves those byte for byte.
"""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFilesStorage(CompressedManifestStaticFilesStorage):
    support_js_module_import_aggregation = True
