"""Routes of the rubric editor and of rubrics as tables; part of `rubrics.urls`."""

from django.urls import URLPattern, path

from rubrics.editor import rubric_views as rubric_editor
from rubrics.editor import table_views as rubric_tables

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/write/tags.json", rubric_editor.tag_suggestions, name="tag-suggestions"),
    path("b/<slug:slug>/rubrics.<str:kind>", rubric_tables.rubrics_table, name="rubrics-table"),
    path("b/<slug:slug>/traceability.csv", rubric_tables.benchmark_traceability, name="benchmark-traceability"),
    path("b/<slug:slug>/write/<str:public_id>/rubric/", rubric_editor.write_rubric, name="write-rubric"),
    path("b/<slug:slug>/write/<str:public_id>/rubric/draft/", rubric_editor.rubric_draft, name="rubric-draft"),
    path("b/<slug:slug>/write/<str:public_id>/rubric/lint/", rubric_editor.rubric_lint, name="rubric-lint"),
    path("b/<slug:slug>/write/<str:public_id>/rubric/paste/", rubric_editor.rubric_paste, name="rubric-paste"),
    path("b/<slug:slug>/write/<str:public_id>/rubric/begin/", rubric_editor.begin_version, name="begin-version"),
    path(
        "b/<slug:slug>/write/<str:public_id>/rubric/table.<str:kind>", rubric_tables.rubric_table, name="rubric-table"
    ),
    path("b/<slug:slug>/write/<str:public_id>/traceability/", rubric_tables.traceability, name="traceability"),
    path(
        "b/<slug:slug>/write/<str:public_id>/traceability.<str:kind>",
        rubric_tables.traceability_table,
        name="traceability-table",
    ),
]
