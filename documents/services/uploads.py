"""Uploads of files of documents: an import for each file, all of them or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.core.files.base import File
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from documents.models import Collection
from documents.parsing.limits import LIMITS
from rubrics.models import ImportJob
from rubrics.services import create_import


@transaction.atomic
def upload_documents(
    *, collection: Collection, uploads: Sequence[tuple[File, str]], options: Mapping[str, str], by: User
) -> list[ImportJob]:
    """Store the files, each with its name, and ask workers to import them into the collection."""
    jobs = []
    for file, name in uploads:
        if file.size > LIMITS.file_bytes:
            raise DomainError(
                _("The file “%(name)s” is larger than %(n)d MB.") % {"name": name, "n": LIMITS.file_bytes // 10**6}
            )
        jobs.append(
            create_import(
                benchmark=collection.benchmark,
                kind=ImportJob.Kind.DOCUMENTS,
                file=file,
                file_name=name,
                options={**options, "collection": collection.name, "collection_id": collection.public_id},
                by=by,
            )
        )
    return jobs
