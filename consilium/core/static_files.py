"""Static file storage: names with a content hash, also in imports between our own modules."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFiles(CompressedManifestStaticFilesStorage):
    """Rewrites `import … from "./page.js";` in `static/js` to the name with the hash.

    Only relative addresses that end in a semicolon are rewritten, which is how Biome formats them.
    """

    support_js_module_import_aggregation = True
    # A chain of imports needs up to one pass per file, depending on the order in which the file system lists them.
    max_post_process_passes = 40
    # Only our own scripts: those of packages have imports that lead nowhere. Django has no public setting for it.
    _js_module_import_aggregation_patterns = (
        "js/*.js",
        CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1],
    )
