"""Routes of the pages of near-miss pairs."""

from django.urls import URLPattern, path

from validation.pairs import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/pairs/", views.pairs, name="pairs"),
    path("b/<slug:slug>/pairs/new/", views.new_pair, name="pair-new"),
    path("b/<slug:slug>/pairs/import/", views.import_page, name="pairs-import"),
    path("b/<slug:slug>/pairs/judge/", views.queue, name="pair-queue"),
    path("b/<slug:slug>/pairs/judge/<str:public_id>/", views.judge, name="pair-judge"),
    path("b/<slug:slug>/pairs/judge/<str:public_id>/skip", views.skip, name="pair-skip"),
    path("b/<slug:slug>/pairs/<str:public_id>/", views.pair, name="pair"),
]
