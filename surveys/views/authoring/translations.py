"""Shows the languages of a survey, and saves the author's words in each of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from surveys.access import Action
from surveys.authoring import services
from surveys.authoring.drafts import build_manifest
from surveys.authoring.errors import Overtaken
from surveys.authoring.forms import (
    LanguageForm,
    TranslationForm,
    add_marks,
    list_differences,
    take_theirs,
)
from surveys.authoring.forms.translations import PREFIX, field_name
from surveys.authoring.stamps import stamp_translation
from surveys.authoring.translations import list_states, list_unused
from surveys.manifest.languages import (
    NAMES,
    SourceText,
    list_missing,
    list_texts,
    name_language,
    translate_own_words,
)
from surveys.models import Survey, Translation
from surveys.views.authoring.access import authoring
from surveys.views.authoring.draft_page import (
    REFUSED,
    page_or_form,
    posted_to,
    read_stamp,
    require_draft,
)

# The most fields on one page. Django limits their number, and long pages tire authors.
TEXTS_OF_A_PART = 100


@page_or_form
@authoring(Action.EDIT)
def languages(request: HttpRequest, survey: Survey) -> HttpResponse:
    if request.method == "POST":
        require_draft(survey)
    wave = survey.find_wave()
    if wave is not None:
        frozen = wave.description
        context = {"survey": survey, "frozen": [*frozen.languages]}
        return render(request, "surveys/authoring/languages.html", context)
    states = list_states(survey=survey, manifest=build_manifest(survey=survey, wave_number=1))
    taken = [survey.language, *(state.language for state in states)]
    form = LanguageForm(posted_to(request), taken=taken)
    if request.method == "POST" and form.is_valid():
        added = services.add_translation(survey=survey, language=form.cleaned_data["language"])
        return redirect("surveys:translation", slug=survey.slug, code=added.language)
    context = {"survey": survey, "states": states, "form": form}
    status = REFUSED if form.errors else 200
    return render(request, "surveys/authoring/languages.html", context, status=status)


@page_or_form
@authoring(Action.EDIT)
def translation(request: HttpRequest, survey: Survey, code: str) -> HttpResponse:
    """Show and save the words of one language. A long survey is divided into parts."""
    require_draft(survey)
    found = _find_translation(request, survey, code)
    manifest = build_manifest(survey=survey, wave_number=1)
    sources = list_texts(manifest)
    parts = -(-len(sources) // TEXTS_OF_A_PART)
    part = _read_part(request, parts)
    shown = sources[(part - 1) * TEXTS_OF_A_PART : part * TEXTS_OF_A_PART]
    own = translate_own_words(manifest, code)
    make_form = partial(TranslationForm, language=code, texts=found.texts, own=own)
    form = make_form(sources=shown)
    context: dict[str, object] = {"stamp": add_marks(stamp_translation(found), stored=form)}
    if request.method == "POST":
        # New texts earlier in the survey may have moved some of these texts to another part.
        sent = [one for one in sources if one in shown or field_name(one.text) in request.POST]
        typed, stamp = make_form(request.POST, sources=sent), read_stamp(request)
        stored_form = make_form(sources=sent)
        posted = take_theirs(request.POST, stored_form, typed=typed, stamp=stamp)
        form = make_form(posted, sources=sent)
        homeless = _find_homeless(request.POST, sources)
        context = {"stamp": stamp, "homeless": homeless}
        if form.is_valid() and not homeless:
            stored = _save(request, form, survey=survey, found=found)
            if stored is None:
                messages.success(request, f"The {name_language(code)} translation was saved.")
                if part < parts:
                    return redirect(f"{request.path}?part={part + 1}")
                return redirect("surveys:languages", slug=survey.slug)
            context |= stored
    context |= {
        "survey": survey,
        "code": code,
        "name": name_language(code),
        "form": form,
        "missing": len(list_missing(manifest, found.texts)),
        "unused": list_unused(manifest, found),
        "part": part,
        "parts": range(1, parts + 1),
    }
    status = REFUSED if form.errors or context.get("homeless") else 200
    return render(request, "surveys/authoring/translation.html", context, status=status)


def _save(
    request: HttpRequest, form: TranslationForm, *, survey: Survey, found: Translation
) -> dict[str, object] | None:
    """Save the words. If other words were saved in the meantime, return the differences to show."""
    try:
        services.save_translation(
            survey=survey,
            language=found.language,
            texts=form.typed_texts,
            stamp=read_stamp(request),
        )
    except Overtaken as error:
        newer = _find_translation(request, survey, found.language)
        sources = list(form.sources.values())
        fresh = TranslationForm(
            sources=sources, language=found.language, texts=newer.texts, own=form.own
        )
        differences = list_differences(form, fresh, stamp=read_stamp(request))
        if not differences:  # the same form was sent twice
            return None
        form.add_error(None, str(error))
        stamp = add_marks(stamp_translation(newer), stored=fresh, typed=form)
        return {"stamp": stamp, "differences": differences}
    return None


def _find_translation(request: HttpRequest, survey: Survey, code: str) -> Translation:
    """Find a translation. If it was removed in another tab, a new one keeps the typed words."""
    found = survey.translations.filter(language=code).first()
    if found is None and (request.method != "POST" or code not in NAMES):
        raise Http404
    return found or Translation(survey=survey, language=code)


def _read_part(request: HttpRequest, parts: int) -> int:
    text = request.GET.get("part", "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 1
    return min(max(number, 1), parts)


def _find_homeless(posted: QueryDict, sources: Iterable[SourceText]) -> list[str]:
    """List words typed for texts that were changed or deleted while the page was open."""
    known = {field_name(source.text) for source in sources}
    typed = {name: str(words) for name, words in posted.items() if name.startswith(PREFIX)}
    return [words for name, words in typed.items() if name not in known and words.strip()]


@page_or_form
@authoring(Action.EDIT)
def remove(request: HttpRequest, survey: Survey, code: str) -> HttpResponse:
    require_draft(survey)
    found = get_object_or_404(survey.translations, language=code)
    name = name_language(code)
    if request.method == "POST":
        services.remove_translation(translation=found)
        messages.success(request, f"{name} was removed.")
        return redirect("surveys:languages", slug=survey.slug)
    context = {"survey": survey, "name": name, "count": len(found.texts)}
    return render(request, "surveys/authoring/translation_remove.html", context)
