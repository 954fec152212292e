"""What authors type: shape and range of each input, with errors that say what to do."""

from surveys.forms.planning import PlanForm
from surveys.forms.question_base import QuestionForm
from surveys.forms.questions import QUESTION_FORMS, YesNoForm
from surveys.forms.settings import SettingsForm, SurveyTextForm
from surveys.forms.translations import LanguageForm, TranslationForm

__all__ = [
    "QUESTION_FORMS",
    "LanguageForm",
    "PlanForm",
    "QuestionForm",
    "SettingsForm",
    "SurveyTextForm",
    "TranslationForm",
    "YesNoForm",
]
