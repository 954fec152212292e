"""The surveys of the demo, and the people who answer them.

- Try Murmur: three questions that anyone may answer; it stays open and has no invented people.
- Married life: the Redbook survey of 1974, with the published counts of R. C. Fair, A Theory of
  Extramarital Affairs, Journal of Political Economy 86(1), 1978, pp. 45-61.
- Student life: every type of question; its people are invented from the assumptions in `_invent`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from aggregator.simulation.respondents import Answers
from surveys.authoring.services import add_question
from surveys.manifest.manifest import Manifest, Publication
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Question, Survey

# Maps (affair, unhappy, religious, children) to the number of women. A marriage rated 3 or less of
# 5 counts as unhappy, and 3 or more of 4 as religious; 1 for children means any.
REDBOOK_COUNTS: dict[tuple[int, int, int, int], int] = {
    (0, 0, 0, 0): 906,
    (0, 0, 0, 1): 832,
    (0, 0, 1, 0): 822,
    (0, 0, 1, 1): 1155,
    (0, 1, 0, 0): 119,
    (0, 1, 0, 1): 204,
    (0, 1, 1, 0): 65,
    (0, 1, 1, 1): 210,
    (1, 0, 0, 0): 216,
    (1, 0, 0, 1): 499,
    (1, 0, 1, 0): 108,
    (1, 0, 1, 1): 388,
    (1, 1, 0, 0): 128,
    (1, 1, 0, 1): 384,
    (1, 1, 1, 0): 50,
    (1, 1, 1, 1): 280,
}
ORGANIZATION = "Murmur demo"
INVENTED_PEOPLE = 3000
INVENTED_SEED = 20260101


@dataclass(frozen=True, kw_only=True)
class Demo:
    key: str
    title: str
    introduction: str
    note: str  # where the true values come from, or "" if they are unknown
    add_questions: Callable[[Survey], None]
    people: Callable[[], Sequence[Answers]]  # empty if the survey stays open for real people
    settings: dict[str, Any]
    # The comparisons that the survey plans, each with its outcome and group.
    planned: tuple[tuple[str, str], ...] = ()
    # The releases that the survey plans, so that their page shows something.
    releases: tuple[ReleaseRequest, ...] = ()

    def people_of(self, manifest: Manifest) -> list[Answers]:
        """Return each person's answers by the manifest's names, which may number texts too."""
        names = {f"q{one.number}": one.name for one in manifest.questions if one.is_answered}
        return [
            {names[name]: answer for name, answer in answers.items()} for answers in self.people()
        ]


_OPEN_QUESTIONS = (
    "Have you ever pretended to have read a book?",
    "Have you ever blamed someone else for your own mistake?",
    "Have you ever taken something home from work that was not yours?",
)


def _add_open_questions(survey: Survey) -> None:
    for text in _OPEN_QUESTIONS:
        add_question(survey=survey, text=text)


OPEN = Demo(
    key="open",
    title="Try Murmur",
    introduction=(
        "Three small questions for anyone who wants to see how Murmur works. Your browser "
        "scrambles each answer before it sends anything."
    ),
    note="",
    add_questions=_add_open_questions,
    people=list,
    settings={"organization": ORGANIZATION},
)


_REDBOOK_QUESTIONS = (
    "While you were married, did you ever have an affair?",
    "Would you call your marriage less than happy?",
    "Are you religious?",
    "Do you have children?",
)


def _add_redbook_questions(survey: Survey) -> None:
    for text in _REDBOOK_QUESTIONS:
        add_question(survey=survey, text=text)


def _redbook_people() -> list[Answers]:
    return [
        {f"q{number}": code for number, code in enumerate(person, start=1)}
        for person, count in REDBOOK_COUNTS.items()
        for _ in range(count)
    ]


REDBOOK = Demo(
    key="redbook",
    title="Married life",
    introduction=(
        "Four short questions about married life. They were asked of 6,366 women in 1974; here "
        "their replies are given once more, through a page that scrambles them."
    ),
    note="These figures were published in 1978, so for once the estimates can be checked.",
    add_questions=_add_redbook_questions,
    people=_redbook_people,
    settings={
        "organization": ORGANIZATION,
        "cap": sum(REDBOOK_COUNTS.values()),
        "publication": Publication.EXACT,
    },
    planned=(("q1", "q2"), ("q1", "q3")),
)


def _add_study_questions(survey: Survey) -> None:
    _add_questions_on_the_past_month(survey)
    _add_questions_on_wellbeing(survey)


def _add_questions_on_the_past_month(survey: Survey) -> None:
    types = Question.Type
    add_question(
        survey=survey,
        type=types.INFORMATION,
        text="The next questions are about the past month. Each person is asked some of them only.",
    )
    add_question(
        survey=survey,
        type=types.DECLARED,
        text="Which year are you in?",
        options=["First year", "Later year"],
    )
    pills = add_question(
        survey=survey,
        text="Did you take a pill to study that was not prescribed to you?",
        refusal=True,
    )
    add_question(
        survey=survey,
        type=types.NUMBER,
        text="On how many days?",
        minimum=0,
        maximum=30,
        unit="days",
        refusal=True,
        rule={"name": str(pills.pk), "is": [1]},
    )
    add_question(
        survey=survey,
        type=types.CHOICE,
        text="What did you mostly do when you could not sleep?",
        options=["Read or watch something", "Work", "Drink alcohol", "Nothing"],
    )


def _add_questions_on_wellbeing(survey: Survey) -> None:
    types = Question.Type
    add_question(
        survey=survey,
        type=types.SCALE,
        text="How often did you feel hopeless?",
        minimum=1,
        maximum=5,
        low_label="Never",
        high_label="Always",
        refusal=True,
    )
    add_question(
        survey=survey,
        type=types.SEVERAL,
        text="What did you skip to save money?",
        options=["Meals", "Medicine", "Books", "Heating"],
        limit=2,
        refusal=True,
    )
    add_question(
        survey=survey,
        type=types.SCALE,
        text="How content are you with your life?",
        minimum=0,
        maximum=10,
        low_label="Not at all",
        high_label="Completely",
    )
    add_question(
        survey=survey,
        type=types.FOLLOW_UP,
        text="Did you think of giving up your studies?",
        follow_up="Did you tell anybody?",
        flips=20,
    )


def _invent_people() -> list[Answers]:
    generator = random.Random(INVENTED_SEED)  # noqa: S311  invented people, no secrets
    return [_invent(generator) for _ in range(INVENTED_PEOPLE)]


def _invent(generator: random.Random) -> Answers:
    """Invent one person; these numbers are the only assumptions of this demo."""

    def chance(share: float) -> bool:
        return generator.random() < share

    first_year, strained = chance(0.3), chance(0.35)
    pills = chance(0.45 if strained else 0.1)
    days = min(30, round(generator.expovariate(1 / (9 if strained else 4))) + 1)
    awake = generator.choices(range(4), (25, 30, 30, 15) if strained else (50, 10, 10, 30))[0]
    hopeless = generator.choices(range(5), (5, 15, 30, 30, 20) if strained else (45, 30, 15, 8, 2))
    skipped = [item for item in (1, 2, 3, 4) if chance(0.4 if strained else 0.15)][:2]
    content = min(10, max(0, round(generator.gauss(4.5 if strained else 7.2, 1.8))))
    leaving = generator.choices(range(3), (45, 20, 35) if strained else (88, 7, 5))[0]
    return {
        "q1": 0 if first_year else 1,
        "q2": None if chance(0.08) else int(pills),
        "q3": None if chance(0.05) else days,
        "q4": awake,
        "q5": None if chance(0.05) else hopeless[0],
        "q6": None if chance(0.05) else skipped,
        "q7": content,
        "q8": leaving,
    }


STUDY = Demo(
    key="study",
    title="Student life (invented people)",
    introduction=(
        "Every kind of question but a score. The 3,000 people who answered it do not exist: "
        "their answers are drawn from assumptions, so that the estimates can be checked. Their "
        "number is public only because this is a demo: a real survey with protected figures closes "
        "on a date."
    ),
    note="These figures are assumptions: the people are invented, so the truth is known.",
    add_questions=_add_study_questions,
    people=_invent_people,
    settings={
        "organization": ORGANIZATION,
        "cap": INVENTED_PEOPLE,
        "drawn": 4,
        "publication": Publication.PROTECTED,
        "release_epsilon_hundredths": 200,
    },
    releases=(
        # The year of study, pills, sleepless nights, and how often they felt hopeless.
        ReleaseRequest(
            kind=ReleaseKind.TABLE, questions=("q1", "q2", "q4", "q5"), epsilon_hundredths=50
        ),
        ReleaseRequest(kind=ReleaseKind.LEADER, questions=("q4",), epsilon_hundredths=50),
        ReleaseRequest(kind=ReleaseKind.MEDIAN, questions=("q5",), epsilon_hundredths=50),
    ),
)

DEMOS = (OPEN, REDBOOK, STUDY)
