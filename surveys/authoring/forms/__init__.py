"""The forms that authors fill in. Each error says what to do."""

from surveys.authoring.forms.actions import LaunchForm, MoveForm, RemedyForm, UndoForm
from surveys.authoring.forms.differences import StoredValue, list_frozen, list_stored
from surveys.authoring.forms.planning import PlanForm
from surveys.authoring.forms.question_base import QuestionForm
from surveys.authoring.forms.questions import QUESTION_FORMS, YesNoForm
from surveys.authoring.forms.settings import CreateForm, SettingsForm
from surveys.authoring.forms.translations import LanguageForm, TranslationForm

__all__ = [
    "QUESTION_FORMS",
    "CreateForm",
    "LanguageForm",
    "LaunchForm",
    "MoveForm",
    "PlanForm",
    "QuestionForm",
    "RemedyForm",
    "SettingsForm",
    "StoredValue",
    "TranslationForm",
    "UndoForm",
    "YesNoForm",
    "list_frozen",
    "list_stored",
]
