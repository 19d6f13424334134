"""Routes of audits: the list, the auditor's pages, and one audit."""

from django.urls import URLPattern, path

from rubrics.audits import auditor_views, views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/audits/", views.audits, name="audits"),
    path("b/<slug:slug>/audits/new/", views.new_audit, name="audit-new"),
    path("b/<slug:slug>/audits/draw", views.audit_draw, name="audit-draw"),
    path("b/<slug:slug>/audits/desk/", auditor_views.dashboard, name="audit-desk"),
    path("b/<slug:slug>/audits/take/", auditor_views.take, name="audit-take"),
    path("b/<slug:slug>/audits/cases/<str:public_id>/", auditor_views.item, name="audit-item"),
    path("b/<slug:slug>/audits/cases/<str:public_id>/save/", auditor_views.save, name="audit-item-save"),
    path("b/<slug:slug>/audits/cases/<str:public_id>/submit/", auditor_views.submit, name="audit-item-submit"),
    path("b/<slug:slug>/audits/cases/<str:public_id>/release/", auditor_views.release, name="audit-item-release"),
    path("b/<slug:slug>/audits/<str:public_id>/", views.audit, name="audit"),
    path("b/<slug:slug>/audits/<str:public_id>/rates.csv", views.rates_csv, name="audit-rates-csv"),
    path("b/<slug:slug>/audits/<str:public_id>/readings.csv", views.readings_csv, name="audit-readings-csv"),
    path("b/<slug:slug>/audits/<str:public_id>/close/", views.close, name="audit-close"),
    path("b/<slug:slug>/audits/<str:public_id>/remove/<str:case>/", views.remove, name="audit-remove"),
    path("b/<slug:slug>/audits/<str:public_id>/keep/<str:case>/", views.keep, name="audit-keep"),
]
