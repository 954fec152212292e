"""Errors of authoring, each with the sentence that the author reads.

SurveyError
├── NotDraft            a launched survey cannot change
├── TooManyQuestions    the author must remove one first
├── BrokenRules         a change would break rules, which `problems` lists
├── RuleError           the text of a rule cannot be read
├── ChangedMeanwhile    the survey is not what the author was shown
├── Overtaken           the values in a form were changed in another window
├── QuestionDeleted     the question of a form was deleted in another window
├── AddedTwice          a form was sent twice and would add the same question again
├── PreviewOutdated     text or a file would now become something other than its preview showed
├── InsertionOutdated   a draft or the source of its questions is not what the author was shown
├── SelectionRefused    the selected questions cannot be changed; `problems` says why
├── RemedyRefused       a step that changes strengths cannot be made or undone; `problems` says why
├── NotAcknowledged     the author has not acknowledged a limit that the survey exceeds
└── NotLaunchable       the survey cannot be opened; `problems` lists the reasons
"""

from collections.abc import Sequence

from surveys.lifecycle.errors import SurveyError
from surveys.models import MAX_QUESTIONS


class NotDraft(SurveyError):
    def __init__(self) -> None:
        super().__init__(
            "This survey has been opened, so it can no longer be changed. "
            "Copy it to make a new draft with other questions."
        )


class TooManyQuestions(SurveyError):
    def __init__(self) -> None:
        super().__init__(f"A survey can hold {MAX_QUESTIONS} questions at most.")


class BrokenRules(SurveyError):
    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(self.problems))


class RuleError(SurveyError):
    """The text of a rule cannot be read. The message says where it fails and what is allowed."""


class ChangedMeanwhile(SurveyError):
    def __init__(self) -> None:
        super().__init__(
            "The survey was changed after this page was shown. "
            "Check again what would be frozen, then open the survey."
        )


class Overtaken(SurveyError):
    def __init__(self) -> None:
        super().__init__(
            "This was changed by someone else, or in another window, after you opened this page. "
            "Nothing has been saved yet. Choose what to keep, then save again."
        )


class QuestionDeleted(SurveyError):
    def __init__(self) -> None:
        super().__init__(
            "This question was deleted while you were editing it. You can add it again."
        )


class AddedTwice(SurveyError):
    def __init__(self, called: str) -> None:
        super().__init__(
            f"The survey already has what you entered, as {called}. To add it a second time, save "
            "again."
        )


class PreviewOutdated(SurveyError):
    def __init__(self) -> None:
        super().__init__(
            "The text or the survey has changed since the preview, so nothing was saved. "
            "Check the new preview."
        )


class InsertionOutdated(SurveyError):
    def __init__(self) -> None:
        super().__init__(
            "One of the two surveys has changed since this page was shown, so nothing was "
            "inserted. If you pressed the button twice, the draft already has the questions. "
            "Otherwise, press it again."
        )


class SelectionRefused(SurveyError):
    def __init__(self, problem: str) -> None:
        self.problems = (problem,)
        super().__init__(problem)


class RemedyRefused(SurveyError):
    def __init__(self, problem: str) -> None:
        self.problems = (problem,)
        super().__init__(problem)


class NotAcknowledged(SurveyError):
    def __init__(self, limits: Sequence[str]) -> None:
        self.limits = tuple(limits)
        super().__init__(
            "The survey exceeds limits that you have not acknowledged. Read why each of them is "
            "there, and tick its box."
        )


class NotLaunchable(SurveyError):
    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(self.problems))
