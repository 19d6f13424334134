"""Routes of coding: for staff, and for adjudicators."""

from django.urls import URLPattern, path

from annotation.codes import ruling_views, views

urlpatterns: list[URLPattern] = [
    path("work/code-rulings/", ruling_views.rulings, name="code-rulings"),
    path("work/code-rulings/<str:public_id>/", ruling_views.ruling, name="code-ruling"),
    path("work/code-rulings/<str:public_id>/time/", ruling_views.time, name="code-ruling-time"),
    path("b/<slug:slug>/coding/", views.coding, name="coding"),
    path("b/<slug:slug>/coding/new-batch/", views.batch_new, name="coding-batch-new"),
    path("b/<slug:slug>/coding/new-batch/preview/", views.batch_preview, name="coding-batch-preview"),
    path("b/<slug:slug>/coding/<int:version>/rulings/", views.ask_for_rulings, name="coding-rulings"),
    path("b/<slug:slug>/coding/<int:version>/given.csv", views.codings_csv, name="coding-csv"),
]
