"""Puts a plan into words: what the survey could find out, and warnings, such as too few people."""

from __future__ import annotations

from collections.abc import Iterator

from surveys.formatting import guess, percent, points, whole
from surveys.manifest.strength import (
    HARDLY,
    LARGEST_TOTAL_EPSILON,
    LARGEST_UNCONFIRMED_EPSILON,
    MEDIUM_FROM,
    is_weak,
    strength_word,
)
from surveys.planning.figures import HALF
from surveys.planning.long_lists import describe_long_list
from surveys.planning.plan_input import PlanInput
from surveys.planning.planner import CROWD, SHOWN_FROM, Plan, write_share


def describe_assumption(plan: Plan) -> str:
    """Say which interval the verdict assumes, and how it assumes that the survey ends."""
    if plan.given.watched:
        return (
            "You may watch results and close the survey when you like: all intervals hold together "
            "at 95 %. The settings of the survey must say that you expect this many people."
        )
    return (
        "This assumes a 95 % interval for one look (normal approximation). The end is fixed before "
        "the survey opens, and the survey closes then."
    )


def describe_declining() -> str:
    """Say how many more people each question needs with "prefer not to say"."""
    plain, with_it = PlanInput(), PlanInput(refusal=True)
    needed, more = Plan(given=plain).people_at_end, Plan(given=with_it).people_at_end
    return (
        f"This option takes more people. For ±{points(plain.margin)} points, a yes/no question of "
        f"the usual strength then needs about {more / needed:.1f} times as many: {whole(more)} "
        f"instead of {whole(needed)}, if {percent(with_it.refusing)} decline."
    )


def describe_verdict(plan: Plan) -> str:
    given = plan.given
    people = f"With {whole(given.people)} people and {given.flips} flips of 100"
    if plan.margin >= HALF:
        return (
            f"{people}, any value would be plausible, so you would learn nothing. {_remedy(plan)}"
        )
    digits = 0 if plan.margin >= 0.01 else 1 if plan.margin >= 0.001 else 2
    low = max(0.0, given.share - plan.margin)
    high = min(1.0, given.share + plan.margin)
    only = "only " if plan.margin > given.margin else ""
    of_range = " of the range" if given.mean else ""
    reach = (
        f"{people}, you can {only}say “between {percent(low, digits)} and "
        f"{percent(high, digits)}{of_range}” if the true {'mean' if given.mean else 'share'} is "
        f"{write_share(given.share)}{_describe_answerers(given)}."
    )
    if plan.margin <= given.margin:
        return f"{reach} That is as precise as you wanted (±{write_wanted(given)} points)."
    return f"{reach} {_remedy(plan)}"


def _describe_answerers(given: PlanInput) -> str:
    """Name the people whom the share describes; return an empty string for everyone."""
    text = ""
    if given.rule and given.refusal:
        text = (
            f" among those who answer, {write_share(given.asked)} are asked, and "
            f"{write_share(given.refusing)} of them prefer not to say"
        )
    elif given.rule:
        text = f" among those who are asked, and {write_share(given.asked)} are"
    elif given.refusal:
        text = f" among those who answer, and {write_share(given.refusing)} prefer not to say"
    if given.part < 1:
        text += f", and {write_share(given.part)} of the people get the question"
    return text


def write_wanted(given: PlanInput) -> str:
    """Write the wanted precision in points, such as 5 or 0.5."""
    return write_share(given.margin).partition("\N{NO-BREAK SPACE}")[0]


def _remedy(plan: Plan) -> str:
    given, lighter = plan.given, plan.people_at_medium
    text = f"For ±{write_wanted(given)} points, you need about {_about(plan.people_needed)} people"
    if lighter is not None:
        text += (
            f", or {MEDIUM_FROM} flips of 100 and about {_about(lighter)} people "
            "(medium protection)"
        )
        if given.questions > 1:
            text += ". Or ask each person fewer questions, each with less protection"
        if lighter > given.people:
            text += (
                f". With {whole(given.people)} people, {MEDIUM_FROM} flips of 100 give "
                f"±{points(plan.margin_at_medium, 1)} points"
            )
    return f"{text}."


def list_warnings(plan: Plan) -> list[str]:
    return [*_warn_about_privacy(plan), *_warn_about_people(plan)]


def _warn_about_privacy(plan: Plan) -> Iterator[str]:
    if plan.total_epsilon > LARGEST_TOTAL_EPSILON:
        yield (
            f"Respondents’ pages refuse a total ε above {LARGEST_TOTAL_EPSILON:.0f}. "
            "Ask fewer questions, or protect each more strongly."
        )
    elif plan.total_epsilon > LARGEST_UNCONFIRMED_EPSILON:
        yield (
            f"The total ε is above {LARGEST_UNCONFIRMED_EPSILON}: if a person’s answers are "
            "related, guesses about that person are almost certain to be right. Ask fewer "
            "questions, or protect each more strongly."
        )
    word = strength_word(plan.epsilon)
    if is_weak(word):
        weak = "an answer is hardly protected" if word == HARDLY else "the protection is light"
        yield (
            f"With {plan.given.flips} flips of 100, {weak}: someone who saw a code could guess the "
            f"answer right at most {guess(plan.epsilon)} times in 100, instead of 50."
        )


def _warn_about_people(plan: Plan) -> Iterator[str]:
    given = plan.given
    if given.people < CROWD:
        yield (
            f"Reports are sealed in batches of at least {CROWD} unless you choose otherwise. "
            "With fewer people, nothing would be sealed, and closing would delete the reports."
        )
    elif given.people < SHOWN_FROM:
        yield (
            f"Results appear only once there are {SHOWN_FROM} reports, unless you choose "
            "otherwise. With fewer people, nothing would be shown."
        )
    if plan.margin > given.margin and plan.margin >= given.share:
        yield "There are too few people to learn much: the interval would reach down to 0."
    elif plan.margin > given.margin and plan.margin >= 1 - given.share:
        yield "There are too few people to learn much: the interval would reach up to 100 %."
    long_list = describe_long_list(codes=given.symbols, epsilon=plan.epsilon, share=given.share)
    if long_list:
        yield long_list


def _about(people: int) -> str:
    """Write 1,399 as 1,400, because an expected number has at most two significant digits."""
    if people < 100:
        return whole(people)
    step = 10 ** (len(str(people)) - 2)
    return whole(round(people / step) * step)
