"""Views of the banks: items, their use, files, and the fragment for the rubric editor."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError, ImportRefused
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics import access
from rubrics.bank import catalogue, files
from rubrics.bank.clusters import cluster_tag
from rubrics.bank.consensus import LICENCE, NAME, consensus
from rubrics.bank.forms import BankFilters, BankForm
from rubrics.bank.usage import Usage, rubrics_with, usage
from rubrics.editor.draft_content import items_of
from rubrics.models import Bank, Benchmark, Case, RubricDraft
from rubrics.origins import hidden_from
from rubrics.parsing.bank import BankEntry, in_language
from rubrics.services.banks import import_bank, item_from, set_bank_in_use
from rubrics.views.benchmarks import csv_response

PER_PAGE = 60
MAX_MATCHES = 60
CSV_COLUMNS = (
    *("bank", "key", "section", "dimension", "text_en", "text_zh", "text", "points", "tags", "applies_to"),
    *("published", "drafts"),
)
CSV_TEXT = (*CSV_COLUMNS[:7], "tags", "applies_to")


def _language(request: SignedInRequest) -> str:
    """The language in which texts of the bank are shown: that of the page, or the other one if it is chosen."""
    language = request.GET.get("language", "")
    return language if language in ("en", "zh") else (get_language() or "en").partition("-")[0]


def _line(entry: BankEntry, language: str, used: Usage | None = None) -> dict[str, Any]:
    """An item as templates show it."""
    return {
        "entry": entry,
        "text": in_language(entry.text, language),
        "guidance": in_language(entry.guidance, language),
        "dimension": in_language(entry.dimension, language),
        "section": catalogue.section_label(entry.section),
        "used": used or Usage(),
    }


@require_safe
@signed_in
def bank(request: SignedInRequest, slug: str) -> HttpResponse:
    """What the banks hold, by section."""
    benchmark = access.get_written_benchmark(request.user, slug)
    entries, banks = catalogue.catalogue(benchmark), catalogue.own_banks(benchmark)
    form = BankFilters(request.GET, entries=entries, banks=banks)
    query = form.query()
    matches = catalogue.matching(entries, query) if query else []
    order = list(catalogue.SECTIONS)
    matches.sort(key=lambda entry: order.index(entry.section) if entry.section in order else len(order))
    page = Paginator(matches, PER_PAGE).get_page(request.GET.get("page"))
    used, language = usage(benchmark), _language(request)
    return render(
        request,
        "rubrics/bank/bank.html",
        {
            "benchmark": benchmark,
            "form": form,
            "page_obj": page,
            "lines": [_line(entry, language, used.get(entry.name)) for entry in page],
            "language": language,
            "banks": banks,
            "total": len(entries),
            "narrowed": query is None or query != catalogue.BankQuery(),
        },
    )


@require_safe
@signed_in
def bank_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """The items of the list, all pages of it, with how often each is used."""
    benchmark = access.get_written_benchmark(request.user, slug)
    entries = catalogue.catalogue(benchmark)
    query = BankFilters(request.GET, entries=entries, banks=catalogue.own_banks(benchmark)).query()
    used = usage(benchmark)
    rows = (
        (_row(entry, used.get(entry.name) or Usage()) for entry in catalogue.matching(entries, query)) if query else ()
    )
    return csv_response(f"{slug}-bank.csv", stream_csv(CSV_COLUMNS, rows, text_columns=CSV_TEXT))


def _row(entry: BankEntry, used: Usage) -> tuple[Any, ...]:
    others = " ".join(text for language, text in entry.text.items() if language not in ("en", "zh"))
    return (
        *(entry.bank, entry.key, entry.section, in_language(entry.dimension, "en")),
        *(entry.text.get("en"), entry.text.get("zh"), others or None, entry.points),
        *("; ".join(entry.tags), "; ".join(entry.applies_to), used.published, used.drafts),
    )


@require_safe
@signed_in
def bank_item(request: SignedInRequest, slug: str, bank: str, key: str) -> HttpResponse:
    """One item in all its languages, and the rubrics that use it."""
    benchmark = access.get_written_benchmark(request.user, slug)
    entry = catalogue.find_entry(benchmark, bank, key)
    if entry is None:
        raise Http404
    languages = sorted(entry.text, key=lambda name: (name != "en", name))
    return render(
        request,
        "rubrics/bank/item.html",
        {
            "benchmark": benchmark,
            **_line(entry, _language(request)),
            "texts": [(name, entry.text[name], entry.guidance.get(name, "")) for name in languages],
            "rubrics": rubrics_with(benchmark, entry.name, user=request.user),
            "cluster_tag": cluster_tag(entry) if entry.applies_to else "",
        },
    )


@require_safe
@signed_in
def bank_search(request: SignedInRequest, slug: str) -> HttpResponse:
    """What the rubric editor of ``case`` may insert: a fragment of buttons, each with the criterion as JSON.

    Filters work as on the page of the bank. Cluster criteria that apply to the case come first; items that the stored
    draft holds already are marked. Texts are in the language of the case. Without a case none of this applies.
    """
    benchmark = access.get_written_benchmark(request.user, slug)
    case = access.get_case_to_write(request.user, slug, request.GET["case"]) if request.GET.get("case") else None
    entries = catalogue.catalogue(benchmark)
    form = BankFilters(request.GET, entries=entries, banks=catalogue.own_banks(benchmark))
    query = form.query()
    matches = catalogue.matching(entries, query) if query else []
    applies = {entry.name for entry in catalogue.applying(matches, case.all_tags)} if case else set()
    matches.sort(key=lambda entry: entry.name not in applies)
    language = (case.language if case else "") or _language(request)
    lines = [
        {
            **_line(entry, language),
            "item": json.dumps(insertable(entry, language), ensure_ascii=False),
            "applies": entry.name in applies,
        }
        for entry in matches[:MAX_MATCHES]
    ]
    context = {
        "benchmark": benchmark,
        "lines": lines,
        "held": _held(case, request.user) if case else set(),
        "more": max(0, len(matches) - MAX_MATCHES),
        "language": language,
    }
    return render(request, "rubrics/bank/search.html", context)


def insertable(entry: BankEntry, language: str) -> dict[str, Any]:
    """An item as the editor takes it; the tag of its cluster is among its tags."""
    item = item_from(entry, language)
    return {"text": item.text, "points": item.points, "tags": list(item.tags), "bank": item.bank}


def _held(case: Case, user: User) -> set[str]:
    """The names of bank items in the draft of a case, as it was last saved; none where ``user`` must not see them."""
    drafts = RubricDraft.objects.filter(rubric__case=case, rubric__status__in=["draft", "in_review"])
    draft = drafts.exclude(rubric__in=hidden_from(user, case.benchmark)).first()
    return {item.bank for item in items_of(draft.content) if item.bank} if draft else set()


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def banks(request: SignedInRequest, slug: str) -> HttpResponse:
    """The banks of a benchmark, and a form for another one."""
    benchmark = access.get_written_benchmark(request.user, slug)
    if request.method != "POST":
        return _banks_page(request, benchmark, BankForm())
    form = BankForm(request.POST, request.FILES)
    if not form.is_valid():
        return _banks_page(request, benchmark, form, status=422)
    try:
        counts = import_bank(
            benchmark=benchmark,
            file=form.cleaned_data["file"],
            options={name: form.cleaned_data[name] for name in ("bank", "title", "licence")},
            by=request.user,
            at=timezone.now(),
            progress=lambda _read: None,
        )
    except ImportRefused as refused:
        return _banks_page(request, benchmark, form, status=refused.status_code, refused=refused)
    except DomainError as error:
        form.add_error("bank", str(error))
        return _banks_page(request, benchmark, form, status=error.status_code)
    return _banks_page(request, benchmark, BankForm(), counts=counts["bank items"], imported=form.cleaned_data["bank"])


def _banks_page(
    request: SignedInRequest, benchmark: Benchmark, form: BankForm, status: int = 200, **more: Any
) -> HttpResponse:
    rows = Bank.objects.filter(benchmark=benchmark).annotate(number=Count("items")).order_by("-active", "title")
    context = {
        "benchmark": benchmark,
        "form": form,
        "banks": rows,
        "consensus_name": NAME,
        "consensus_licence": LICENCE,
        "consensus_number": len(consensus()),
    }
    return render(request, "rubrics/bank/banks.html", {**context, **more}, status=status)


@require_POST
@signed_in
def bank_use(request: SignedInRequest, slug: str, bank: str) -> HttpResponse:
    """Take a bank out of use, or back (``active``: 1)."""
    benchmark = access.get_written_benchmark(request.user, slug)
    chosen_bank = access.get_bank(benchmark, bank)
    set_bank_in_use(bank=chosen_bank, active=request.POST.get("active") == "1")
    return redirect("rubrics:banks", slug)


@require_safe
@signed_in
def bank_export(request: SignedInRequest, slug: str, bank: str, ending: str) -> StreamingHttpResponse:
    """A bank as a file that can be imported again."""
    benchmark = access.get_written_benchmark(request.user, slug)
    if ending not in ("csv", "jsonl"):
        raise Http404
    entries: Iterable[BankEntry]
    entries = consensus() if bank == NAME else catalogue.entries_of(access.get_bank(benchmark, bank))
    if ending == "csv":
        return csv_response(f"{bank}.csv", files.as_csv(entries))
    response = StreamingHttpResponse(files.as_jsonl(entries), content_type="application/jsonl; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{bank}.jsonl"'
    return response
