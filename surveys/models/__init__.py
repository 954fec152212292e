"""The models of surveys, questions and waves."""

from surveys.models.asked_questions import AskedBefore, AskedQuestion, AskedTogether
from surveys.models.history import HistoryChanges, HistoryRow, Kind, Verb
from surveys.models.imports import Import
from surveys.models.people import (
    FormerMember,
    Invitation,
    Membership,
    Role,
    Team,
    TeamMember,
    TeamSurvey,
)
from surveys.models.planned_comparisons import PlannedComparison
from surveys.models.planned_releases import PlannedRelease
from surveys.models.questions import (
    MAX_ITEM_LENGTH,
    MAX_OPTION_LENGTH,
    MAX_QUESTION_LENGTH,
    MAX_SCORED_OPTION_LENGTH,
    Question,
    QuestionContent,
    Translation,
)
from surveys.models.settings import DAYS_BEFORE_DELETION, MAX_QUESTIONS
from surveys.models.stored_texts import StoredText
from surveys.models.surveys import (
    SLUG_ALPHABET,
    SLUG_LENGTH,
    DeletedWave,
    Survey,
    Wave,
    WaveQuerySet,
    list_frozen_columns,
    new_slug,
    start_of,
    today,
)

__all__ = [
    "DAYS_BEFORE_DELETION",
    "MAX_ITEM_LENGTH",
    "MAX_OPTION_LENGTH",
    "MAX_QUESTIONS",
    "MAX_QUESTION_LENGTH",
    "MAX_SCORED_OPTION_LENGTH",
    "SLUG_ALPHABET",
    "SLUG_LENGTH",
    "AskedBefore",
    "AskedQuestion",
    "AskedTogether",
    "DeletedWave",
    "FormerMember",
    "HistoryChanges",
    "HistoryRow",
    "Import",
    "Invitation",
    "Kind",
    "Membership",
    "PlannedComparison",
    "PlannedRelease",
    "Question",
    "QuestionContent",
    "Role",
    "StoredText",
    "Survey",
    "Team",
    "TeamMember",
    "TeamSurvey",
    "Translation",
    "Verb",
    "Wave",
    "WaveQuerySet",
    "list_frozen_columns",
    "new_slug",
    "start_of",
    "today",
]
