"""Routes of qualification, keys and quality; part of ``annotation.urls``."""

from django.urls import URLPattern, path

from annotation.qualification import views as qualification
from annotation.quality import views as quality

urlpatterns: list[URLPattern] = [
    path("work/quality/", quality.own, name="own-quality"),
    path("work/quality.csv", quality.own_csv, name="own-quality-csv"),
    path("work/qualification/<str:public_id>/", qualification.feedback, name="qualification-feedback"),
    path("work/qualification/<str:public_id>/start/", qualification.start, name="qualification-start"),
    path("b/<slug:slug>/quality/", quality.quality, name="quality"),
    path("b/<slug:slug>/quality.csv", quality.quality_csv, name="quality-csv"),
    path("b/<slug:slug>/quality/<int:membership>/", quality.person, name="quality-person"),
    path("b/<slug:slug>/quality/<int:membership>/figures.csv", quality.person_csv, name="quality-person-csv"),
    path("b/<slug:slug>/quality/<int:membership>/hold/", quality.hold, name="quality-hold"),
    path("b/<slug:slug>/quality/<int:membership>/lift/", quality.lift, name="quality-lift"),
    path("b/<slug:slug>/qualification/", qualification.qualification, name="qualification"),
    path("b/<slug:slug>/qualification/responses/", qualification.choose, name="key-choose"),
    path("b/<slug:slug>/qualification/import/", qualification.import_keys, name="key-import"),
    path("b/<slug:slug>/qualification/keys-<slug:use>.csv", qualification.keys_csv, name="keys-csv"),
    path("b/<slug:slug>/qualification/keys/<str:public_id>/", qualification.key, name="key"),
    path("b/<slug:slug>/qualification/keys/<str:public_id>/active/", qualification.key_active, name="key-active"),
    path("b/<slug:slug>/qualification/keys/<str:public_id>/use/", qualification.key_use, name="key-use"),
]
