"""How a benchmark uses suggestions."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from consilium.core.audit import audited
from drafting.models.recipes import DraftingRecipe
from rubrics.models import Benchmark


@audited
class DraftingTerms(models.Model):
    """The terms of a benchmark; where there is no row, the defaults hold."""

    class ReviewersSee(models.TextChoices):
        AFTER_DECISION = "after", _("After their decision")
        ALWAYS = "always", _("While they review")

    benchmark = models.OneToOneField(Benchmark, on_delete=models.CASCADE, related_name="drafting_terms")
    # So many criteria of an author's own before suggestions open; 0: they open at once.
    own_first = models.PositiveSmallIntegerField(_("own criteria first"), default=0)
    reviewers_see = models.CharField(
        _("reviewers see which criteria were suggested"),
        max_length=6,
        choices=ReviewersSee.choices,
        default=ReviewersSee.AFTER_DECISION,
    )
    # The version of a recipe that an author's button orders; none: only admins order.
    recipe = models.ForeignKey(
        DraftingRecipe, verbose_name=_("recipe for authors"), null=True, blank=True, on_delete=models.PROTECT,
        related_name="+",
    )  # fmt: skip

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(own_first__lte=100), name="drafting_terms_own_first")]

    def __str__(self) -> str:
        return str(self.benchmark)
