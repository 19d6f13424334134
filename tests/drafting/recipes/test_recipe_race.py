"""Two people save the next version of a recipe at the same moment: one of them is told so."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from consilium.core.errors import Conflict
from drafting.models import DraftingRecipe
from tests.drafting.recipes.conftest import Save, content
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_the_second_of_two_saves_at_once_is_a_conflict(save: Save) -> None:
    save()

    def second() -> str:
        try:
            save(content(limits={"passages": 9}), based_on=1)
        except Conflict as error:
            return str(error)
        finally:
            connection.close()
        return ""

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            save(content(limits={"passages": 8}), based_on=1)
            answer = pool.submit(second)
            wait_until(_somebody_waits, message="the other save waits for this transaction")
        assert "Someone else has saved version 2 of “main” in the meantime" in answer.result()
    assert DraftingRecipe.objects.get(version=2).content["limits"]["passages"] == 8


def _somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        row = cursor.fetchone()
    return bool(row and row[0])
