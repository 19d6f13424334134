"""`{% page_module %}` names a page's module and what it imports."""

from __future__ import annotations

from django.template import engines


def tag(name: str) -> list[str]:
    template = engines["django"].from_string('{% load modules %}{% page_module "' + name + '" %}')
    return [line for line in template.render().splitlines() if line]


def test_a_module_without_imports_is_one_script_tag() -> None:
    assert tag("accounts/invitations/welcome") == [
        '<script type="module" src="/static/js/accounts/invitations/welcome.js"></script>'
    ]


def test_imports_are_loaded_with_the_module_each_once() -> None:
    assert tag("core/ui") == [
        '<link rel="modulepreload" href="/static/js/core/page.js">',
        '<link rel="modulepreload" href="/static/js/core/server.js">',
        '<link rel="modulepreload" href="/static/js/core/toast.js">',
        '<link rel="modulepreload" href="/static/js/core/undo_offer.js">',
        '<link rel="modulepreload" href="/static/js/core/words.js">',
        '<link rel="modulepreload" href="/static/js/core/save_store.js">',
        '<script type="module" src="/static/js/core/ui.js"></script>',
    ]


def test_imports_of_imports_are_loaded_too() -> None:
    # rubrics/imports/imports.js imports core/page.js.
    # annotation/shared/comments.js reaches key_names.js through keys.js alone.
    assert '<link rel="modulepreload" href="/static/js/core/page.js">' in tag("rubrics/imports/imports")
    assert '<link rel="modulepreload" href="/static/js/annotation/shared/key_names.js">' in tag(
        "annotation/grading/grading"
    )
