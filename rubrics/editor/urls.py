"""Routes of writing: the dashboard, a case, its rubric, and rubrics as tables."""

from django.urls import URLPattern, path

from rubrics.editor import beside_views, case_views, dashboard_views, rubric_views, table_views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/write/", dashboard_views.dashboard_page, name="write"),
    path("b/<slug:slug>/write.csv", dashboard_views.dashboard_csv, name="write-csv"),
    path("b/<slug:slug>/write/new/", case_views.new_case, name="write-new"),
    path("b/<slug:slug>/write/<str:public_id>/", case_views.write_case, name="write-case"),
    path("b/<slug:slug>/write/<str:public_id>/save/", case_views.save, name="write-case-save"),
    path("b/<slug:slug>/write/<str:public_id>/preview/", case_views.preview, name="write-preview"),
    path("b/<slug:slug>/write/<str:public_id>/erratum/", case_views.erratum, name="write-erratum"),
    path("b/<slug:slug>/write/<str:public_id>/delete/", case_views.delete, name="write-delete"),
    path("b/<slug:slug>/write/<str:public_id>/time/", beside_views.time, name="write-time"),
    path("b/<slug:slug>/write/<str:public_id>/privacy/", beside_views.waive, name="write-waive"),
    path("b/<slug:slug>/write/<str:public_id>/privacy/<int:waiver>/", beside_views.ask_again, name="write-ask-again"),
    path("b/<slug:slug>/write/tags.json", rubric_views.tag_suggestions, name="tag-suggestions"),
    path("b/<slug:slug>/rubrics.<str:kind>", table_views.rubrics_table, name="rubrics-table"),
    path("b/<slug:slug>/traceability.csv", table_views.benchmark_traceability, name="benchmark-traceability"),
    path("b/<slug:slug>/write/<str:public_id>/rubric/", rubric_views.write_rubric, name="write-rubric"),
    path("b/<slug:slug>/write/<str:public_id>/rubric/draft/", rubric_views.rubric_draft, name="rubric-draft"),
    path("b/<slug:slug>/write/<str:public_id>/rubric/lint/", rubric_views.rubric_lint, name="rubric-lint"),
    path("b/<slug:slug>/write/<str:public_id>/rubric/paste/", rubric_views.rubric_paste, name="rubric-paste"),
    path("b/<slug:slug>/write/<str:public_id>/rubric/begin/", rubric_views.begin_version, name="begin-version"),
    path("b/<slug:slug>/write/<str:public_id>/rubric/table.<str:kind>", table_views.rubric_table, name="rubric-table"),
    path("b/<slug:slug>/write/<str:public_id>/traceability/", table_views.traceability, name="traceability"),
    path(
        "b/<slug:slug>/write/<str:public_id>/traceability.<str:kind>",
        table_views.traceability_table,
        name="traceability-table",
    ),
]
