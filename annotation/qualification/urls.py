"""Routes of qualification and its keys."""

from django.urls import URLPattern, path

from annotation.qualification import views

urlpatterns: list[URLPattern] = [
    path("work/qualification/<str:public_id>/", views.feedback, name="qualification-feedback"),
    path("work/qualification/<str:public_id>/start/", views.start, name="qualification-start"),
    path("b/<slug:slug>/qualification/", views.qualification, name="qualification"),
    path("b/<slug:slug>/qualification/responses/", views.choose, name="key-choose"),
    path("b/<slug:slug>/qualification/import/", views.import_keys, name="key-import"),
    path("b/<slug:slug>/qualification/answer_keys.csv", views.keys_example, name="keys-example"),
    path("b/<slug:slug>/qualification/keys-<slug:use>.csv", views.keys_csv, name="keys-csv"),
    path("b/<slug:slug>/qualification/keys/<str:public_id>/", views.key, name="key"),
    path("b/<slug:slug>/qualification/keys/<str:public_id>/active/", views.key_active, name="key-active"),
    path("b/<slug:slug>/qualification/keys/<str:public_id>/use/", views.key_use, name="key-use"),
]
