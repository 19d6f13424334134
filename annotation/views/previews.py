"""The errors of a form in its preview, and a form whose preview was made into a batch already."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from annotation.services.previews import AlreadyCreated


def errors_in_words(form: forms.Form) -> list[str]:
    """One line for each error of the form, with the label of its field."""
    lines = []
    for name, errors in form.errors.items():
        values = [{"field": form[name].label, "error": error} for error in errors] if name in form.fields else []
        lines += [_("%(field)s: %(error)s") % value for value in values] or [str(error) for error in errors]
    return lines


def checked_fields(form: forms.Form) -> list[forms.BoundField]:
    """The fields with a number or a date: their errors are shown beside them whenever the preview is made."""
    typed = (forms.IntegerField, forms.FloatField, forms.DateField)
    return [field for field in form.visible_fields() if isinstance(field.field, typed)]


def to_existing_batch(request: HttpRequest, slug: str, repeated: AlreadyCreated) -> HttpResponse:
    """Redirect a preview that is sent again to the batch that was made from it."""
    messages.info(request, str(repeated))
    return redirect("annotation:batch", slug, repeated.batch.public_id)
