"""*Try one criterion*: one live request of a chat judge, about a made-up example or a response of the benchmark.

No verdict is stored. The answer stays with its trial (`scoring.endpoint_trials`) for an hour.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.db.models import Exists, OuterRef
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from pydantic import TypeAdapter

from annotation.models import KeyedResponse
from consilium.core.errors import DomainError
from consilium.core.i18n import translate
from consilium.core.limits import MAX_KEY_LENGTH
from consilium.llm.client import ChatClient
from consilium.llm.endpoint import Endpoint
from consilium.llm.errors import EndpointRefused
from consilium.llm.judging import Call, Judgement, judge_body
from consilium.llm.meter import Allowance
from consilium.llm.parsing import ParsedVerdict
from consilium.llm.prompts import JudgeItem, Messages, body_of, nonce_for
from rubrics.models import Benchmark, Candidate, Case, Response, Rubric, RubricItem
from scoring.judges.config import ChatConfig, chat_config
from scoring.judges.endpoint_check import asked_once, how_to_fix
from scoring.judges.example import example_item, example_language, messages_about
from scoring.judges.prompt_previews import Passage, passages_of
from scoring.keys.grants import bound_keys_for
from scoring.models import EndpointTrial, Judge
from scoring.work.chat import nonce_key

# A page waits for the answer.
MAX_SECONDS = 45.0
MAX_CASES_OFFERED = 200


@dataclass(frozen=True, slots=True)
class Choice:
    """What is asked about: a case by its short name, a candidate by name, a criterion by its position from 1."""

    case: str = ""
    candidate: str = ""
    criterion: int | None = None


@dataclass(frozen=True, slots=True)
class JudgeTrial:
    """The request, split at its fences as in a preview, and the answer. ``case`` is empty for the example."""

    case: str
    candidate: str
    language: str  # of the texts from outside
    position: int
    criterion: str
    points: int
    nonce: str
    messages: tuple[tuple[str, tuple[Passage, ...]], ...]
    call: Call
    verdict: ParsedVerdict | None
    cost: float | None  # in the currency of the judge's prices
    fix: str = ""  # what to do where there was no answer


TRIAL = TypeAdapter(JudgeTrial)


def chosen_row(benchmark: Benchmark, choice: Choice) -> tuple[Response, RubricItem]:
    """The response and the criterion of a choice; `DomainError` where there is none, or it must not be sent."""
    rows = Response.objects.filter(case__benchmark=benchmark, case__key=choice.case, case__excluded_at=None)
    if choice.candidate:
        rows = rows.filter(candidate__name=choice.candidate)
    response = rows.select_related("case", "candidate").order_by("candidate__name", "setting", "sample").first()
    if response is None:
        raise DomainError(
            _("There is no response of this candidate to this case, or the case is excluded.")
            if choice.candidate
            else _("There is no case “%(case)s” with a response, or it is excluded.") % {"case": choice.case}
        )
    if KeyedResponse.objects.filter(response=response, active=True).exists():
        raise DomainError(_("This response is used as a gold item or for qualification. Choose another one."))
    items = RubricItem.objects.filter(rubric__case=response.case, rubric__status="published", rubric__track="gold")
    row = items.filter(position=choice.criterion or 1).select_related("criterion").first()
    if row is None:
        raise DomainError(_("The published rubric of this case has no criterion %(n)s.") % {"n": choice.criterion or 1})
    return response, row


def criterion_of_form(trial: EndpointTrial, values: QueryDict, seconds: float) -> str:
    """Ask once with the values of a `TrialForm`; the `JudgeTrial` as JSON."""
    form = TrialForm(values, benchmark=trial.benchmark)
    if not form.is_valid() or trial.judge is None:
        raise DomainError(" ".join(str(error) for errors in form.errors.values() for error in errors))
    return TRIAL.dump_json(try_criterion(trial.judge, trial.benchmark, form.choice(), seconds=seconds)).decode()


def criterion_context(trial: EndpointTrial) -> dict[str, Any]:
    """What `scoring/judges/_trial.html` shows of a trial that is done."""
    return {"answer": TRIAL.validate_json(trial.result), "judge": trial.judge}


def try_criterion(judge: Judge, benchmark: Benchmark, choice: Choice, *, seconds: float = MAX_SECONDS) -> JudgeTrial:
    """Ask the judge once; `DomainError` where its settings, the choice or the operator's list do not allow it."""
    config = chat_config(judge.config)
    response, position = None, 0
    item = example_item(benchmark.rule_sheet)
    if choice.case:
        response, row = chosen_row(benchmark, choice)
        position = row.position
        text, points = row.criterion.text, row.points
        item = JudgeItem(response.case.conversation, response.text, text, points, benchmark.rule_sheet)
    nonce = nonce_for(item, nonce_key())
    messages = messages_about(item, config, nonce=nonce)
    try:
        endpoint = asked_once(config, timeout_s=min(seconds, MAX_SECONDS))
        judgement = asyncio.run(_ask(config, messages, endpoint, bound_keys_for(benchmark, endpoint)))
    except EndpointRefused as refused:
        raise DomainError(translate(refused.args[0])) from None
    call = judgement.calls[-1]
    return JudgeTrial(
        case=response.case.key if response else "",
        candidate=response.candidate.name if response else "",
        language=response.case.language if response else example_language(),
        position=position,
        criterion=item.criterion,
        points=item.points,
        nonce=nonce,
        messages=passages_of(messages, nonce),
        call=call,
        verdict=judgement.verdict,
        cost=_cost(config, call),
        fix=how_to_fix(call.error_kind, config) if judgement.failed else "",
    )


async def _ask(
    config: ChatConfig, messages: Messages, endpoint: Endpoint, bound_keys: list[str]
) -> Judgement[ParsedVerdict]:
    criteria = 1 if config.together else None
    body = body_of(messages, endpoint.parameters(criteria=criteria))
    async with ChatClient(endpoint, allowed_hosts=settings.JUDGE_ALLOWED_HOSTS, bound_keys=bound_keys) as client:
        return await judge_body(client, body, criteria=criteria)


def _cost(config: ChatConfig, call: Call) -> float | None:
    if not config.priced or call.usage is None:
        return None
    prices = Allowance(price_in=config.price_in, price_out=config.price_out)
    return prices.cost(call.usage.tokens_in, call.usage.tokens_out)


class TrialForm(forms.Form):
    """What *Try one criterion* asks about; without a case the example."""

    prefix = "try"
    case = forms.CharField(
        label=_lazy("Case"),
        max_length=MAX_KEY_LENGTH,
        required=False,
        help_text=_lazy("The short name of a case. Leave empty to use a made-up example."),
        widget=forms.TextInput(attrs={"list": "trial-cases", "autocomplete": "off"}),
    )
    candidate = forms.ChoiceField(label=_lazy("Candidate"), required=False, help_text=_lazy("Only with a case."))
    criterion = forms.IntegerField(
        label=_lazy("Criterion"),
        min_value=1,
        max_value=10_000,
        initial=1,
        required=False,
        help_text=_lazy("Its number in the rubric."),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        names = Candidate.objects.filter(benchmark=benchmark, responses__isnull=False).distinct().order_by("name")
        candidate = self.fields["candidate"]
        assert isinstance(candidate, forms.ChoiceField)
        candidate.choices = [("", _("First by name")), *((name, name) for name in names.values_list("name", flat=True))]

    def choice(self) -> Choice:
        """What the valid form names."""
        data = self.cleaned_data
        return Choice(data["case"].strip(), data["candidate"], data["criterion"])

    @property
    def cases(self) -> list[str]:
        """Short names to choose from: the first cases with a published rubric and a response."""
        rubrics = Rubric.objects.filter(case=OuterRef("pk"), status="published", track="gold")
        answered = Response.objects.filter(case=OuterRef("pk"))
        rows = Case.objects.filter(Exists(rubrics), Exists(answered), benchmark=self.benchmark).included()
        return list(rows.order_by("key").values_list("key", flat=True)[:MAX_CASES_OFFERED])
