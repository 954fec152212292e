"""The forms that authors fill in. Each error says what to do."""

from surveys.authoring.forms.actions import LaunchForm, MoveForm, RemedyForm, UndoForm
from surveys.authoring.forms.differences import (
    Difference,
    add_marks,
    list_differences,
    list_frozen,
    take_theirs,
)
from surveys.authoring.forms.planning import PlanForm
from surveys.authoring.forms.question_base import QuestionForm
from surveys.authoring.forms.questions import QUESTION_FORMS, YesNoForm
from surveys.authoring.forms.settings import CreateForm, SettingsForm
from surveys.authoring.forms.translations import LanguageForm, TranslationForm

__all__ = [
    "QUESTION_FORMS",
    "CreateForm",
    "Difference",
    "LanguageForm",
    "LaunchForm",
    "MoveForm",
    "PlanForm",
    "QuestionForm",
    "RemedyForm",
    "SettingsForm",
    "TranslationForm",
    "UndoForm",
    "YesNoForm",
    "add_marks",
    "list_differences",
    "list_frozen",
    "take_theirs",
]
