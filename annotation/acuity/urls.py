"""Routes of second rounds, rulings and reference sets."""

from django.urls import URLPattern, path

from annotation.acuity import round_views, ruling_views, views

urlpatterns: list[URLPattern] = [
    path("work/rulings/", ruling_views.rulings, name="rulings"),
    path("work/rulings/in/<slug:slug>/", ruling_views.rulings_in, name="rulings-in"),
    path("work/rulings/<str:public_id>/", ruling_views.ruling, name="ruling"),
    path("work/rulings/<str:public_id>/time/", ruling_views.time, name="ruling-time"),
    path("b/<slug:slug>/labels/<str:public_id>/second-round/", round_views.second_round, name="second-round"),
    path(
        "b/<slug:slug>/labels/<str:public_id>/second-round/preview/",
        round_views.second_round_preview,
        name="second-round-preview",
    ),
    path("b/<slug:slug>/labels/<str:public_id>/moves.csv", round_views.moves_csv, name="label-moves-csv"),
    path("b/<slug:slug>/labels/<str:public_id>/rulings/", round_views.ask_for_rulings, name="ask-for-rulings"),
    path(
        "b/<slug:slug>/labels/<str:public_id>/rulings/preview/",
        round_views.rulings_preview,
        name="ask-for-rulings-preview",
    ),
    path("b/<slug:slug>/labels/<str:public_id>/rulings.csv", round_views.rulings_csv, name="label-rulings-csv"),
    path("b/<slug:slug>/reference-sets/", views.reference_sets, name="reference-sets"),
    path("b/<slug:slug>/reference-sets.csv", views.reference_sets_csv, name="reference-sets-csv"),
    path("b/<slug:slug>/reference-sets/new/", views.new, name="reference-set-new"),
    path("b/<slug:slug>/reference-sets/preview", views.preview, name="reference-set-preview"),
    path("b/<slug:slug>/reference-sets/<int:number>/", views.reference_set, name="reference-set"),
    path("b/<slug:slug>/reference-sets/<int:number>/reference.csv", views.items_csv, name="reference-set-csv"),
    path(
        "b/<slug:slug>/reference-sets/<int:number>/since/<int:earlier>.csv",
        views.difference_csv,
        name="reference-set-difference",
    ),
]
