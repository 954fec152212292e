"""Five surveys for measuring the start page in all six languages.

"mine" is long and sensitive, and uses nearly every feature; "one" is the shortest; "three" has only
yes/no questions; "weak" has the same questions with hardly any protection; "mixed" has three types
of questions that may be declined.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from accounts.models import User
from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question, launch_survey
from surveys.manifest.languages import list_texts, translate_manifest
from surveys.manifest.manifest import Limit
from surveys.manifest.serialization import parse_manifest
from surveys.models import Question, Survey, Wave

OTHERS = ("es", "fr", "de", "ar", "zh-hans")
LANGUAGES = ("en", *OTHERS)
USUAL: Mapping[str, Any] = {"minimum_batch": 50, "display_minimum": 100}
CONSENT = "We ask about your work.\n\nNobody will know what you said."
CONTACT = "staff-health@st-anna.example"
# All texts of the author, in English and in the other languages.
WORDS: Mapping[str, tuple[str, ...]] = {
    "Drugs, alcohol and mistakes on the night shift": (
        "Drogas, alcohol y errores en el turno de noche",
        "Drogues, alcool et erreurs pendant la garde de nuit",
        "Drogen, Alkohol und Fehler im Nachtdienst",
        "المخدرات والكحول والأخطاء في المناوبة الليلية",
        "夜班中的药物、饮酒与差错",
    ),
    "Nights are long, and we want to know what they cost. We ask all nurses and doctors of our "
    "three hospitals. The results will be used to plan rest and help, and will be shown to all "
    "staff in summer.": (
        (
            "Las noches son largas y queremos saber lo que cuestan. Preguntamos a todo el "
            "personal de enfermería y medicina de nuestros tres hospitales. Con los "
            "resultados planearemos descansos y ayuda, y los verá toda la plantilla en "
            "verano."
        ),
        (
            "Les nuits sont longues, et nous voulons savoir ce qu’elles coûtent. Nous "
            "interrogeons tous les soignants de nos trois hôpitaux. Les résultats "
            "serviront à prévoir du repos et de l’aide, et seront montrés à tout le "
            "personnel cet été."
        ),
        (
            "Nächte sind lang, und wir möchten wissen, was sie kosten. Wir fragen alle "
            "Pflegekräfte und Ärzte unserer drei Häuser. Mit den Ergebnissen planen wir "
            "Pausen und Hilfe; im Sommer sehen sie alle Mitarbeitenden."
        ),
        (
            "الليالي طويلة، ونريد أن نعرف ثمنها. نسأل جميع الممرضين والأطباء في مستشفياتنا "
            "الثلاثة. ستستخدم النتائج لتخطيط الراحة والمساعدة، وستعرض على جميع العاملين في "
            "الصيف."
        ),
        "夜晚很长，我们想知道它的代价。我们询问三家医院的全体护士和医生。结果将用于安排休息和帮助，并在夏天向全体员工公布。",
    ),
    "Thank you. You helped to make nights safer.": (
        "Gracias. Ha ayudado a que las noches sean más seguras.",
        "Merci. Vous avez aidé à rendre les nuits plus sûres.",
        "Danke. Sie haben geholfen, Nächte sicherer zu machen.",
        "شكرا لك. لقد ساعدت في جعل الليالي أكثر أمانا.",
        "谢谢。您帮助夜晚变得更安全。",
    ),
    "St Anna hospitals, staff health unit": (
        "Hospitales Santa Ana, salud laboral",
        "Hôpitaux Sainte-Anne, santé au travail",
        "St.-Anna-Kliniken, Betriebsmedizin",
        "مستشفيات سانت آنا، وحدة صحة العاملين",
        "圣安娜医院员工健康科",
    ),
    "Talk to someone, day and night": (
        "Hable con alguien, día y noche",
        "Parler à quelqu’un, jour et nuit",
        "Mit jemandem sprechen, Tag und Nacht",
        "تحدث إلى أحد، ليلا ونهارا",
        "日夜可以倾诉",
    ),
    CONSENT: (
        "Preguntamos por su trabajo.\n\nNadie sabrá lo que ha dicho.",
        "Nous parlons de votre travail.\n\nPersonne ne saura ce que vous avez dit.",
        "Wir fragen nach Ihrer Arbeit.\n\nNiemand erfährt, was Sie gesagt haben.",
        "نسأل عن عملك.\n\nلن يعرف أحد ما قلته.",
        "我们询问您的工作。\n\n没有人会知道您说了什么。",
    ),
    "Some questions are hard. You may stop at any time.": (
        "Algunas preguntas son difíciles. Puede parar en cualquier momento.",
        "Certaines questions sont difficiles. Vous pouvez arrêter à tout moment.",
        "Manche Fragen sind schwer. Sie können jederzeit aufhören.",
        "بعض الأسئلة صعبة. يمكنك التوقف في أي وقت.",
        "有些问题很难。您可以随时停下。",
    ),
    "On which kind of ward do you work most?": (
        "¿En qué tipo de planta trabaja más?",
        "Dans quel type de service travaillez-vous le plus ?",
        "Auf welcher Art von Station arbeiten Sie meistens?",
        "في أي نوع من الأقسام تعمل غالبا؟",
        "您主要在哪类病房工作？",
    ),
    "Emergency": ("Urgencias", "Urgences", "Notaufnahme", "الطوارئ", "急诊"),
    "Intensive care": (
        "Cuidados intensivos",
        "Soins intensifs",
        "Intensivstation",
        "العناية المركزة",
        "重症监护",
    ),
    "Another ward": ("Otra planta", "Un autre service", "Andere Station", "قسم آخر", "其他病房"),
    "In the last month, did you take anything to get through a night shift?": (
        "En el último mes, ¿tomó algo para aguantar un turno de noche?",
        "Le mois dernier, avez-vous pris quelque chose pour tenir une garde de nuit ?",
        "Haben Sie im letzten Monat etwas genommen, um einen Nachtdienst durchzustehen?",
        "في الشهر الماضي، هل تناولت شيئا لتتحمل مناوبة ليلية؟",
        "上个月，您是否为撑过夜班服用过什么？",
    ),
    "What did you take?": (
        "¿Qué tomó?",
        "Qu’avez-vous pris ?",
        "Was haben Sie genommen?",
        "ماذا تناولت؟",
        "您服用了什么？",
    ),
    "Alcohol": ("Alcohol", "Alcool", "Alkohol", "الكحول", "酒"),
    "Sleeping pills": ("Somníferos", "Somnifères", "Schlafmittel", "حبوب منومة", "安眠药"),
    "Stimulants": ("Estimulantes", "Stimulants", "Aufputschmittel", "منشطات", "兴奋剂"),
    "Painkillers": ("Analgésicos", "Antidouleurs", "Schmerzmittel", "مسكنات", "止痛药"),
    "Cannabis": ("Cannabis", "Cannabis", "Cannabis", "القنب", "大麻"),
    "Did you make a mistake that could have harmed a patient?": (
        "¿Cometió un error que pudo dañar a un paciente?",
        "Avez-vous fait une erreur qui aurait pu nuire à un patient ?",
        "Ist Ihnen ein Fehler passiert, der jemandem hätte schaden können?",
        "هل ارتكبت خطأ كان يمكن أن يؤذي مريضا؟",
        "您是否犯过可能伤害病人的差错？",
    ),
    "Did you report it?": (
        "¿Lo notificó?",
        "L’avez-vous signalée ?",
        "Haben Sie ihn gemeldet?",
        "هل أبلغت عنه؟",
        "您上报了吗？",
    ),
    "What would help you most?": (
        "¿Qué le ayudaría más?",
        "Qu’est-ce qui vous aiderait le plus ?",
        "Was würde Ihnen am meisten helfen?",
        "ما الذي يساعدك أكثر؟",
        "什么对您最有帮助？",
    ),
    "More staff": (
        "Más personal",
        "Plus de personnel",
        "Mehr Personal",
        "مزيد من الموظفين",
        "更多人手",
    ),
    "Fewer nights": (
        "Menos noches",
        "Moins de nuits",
        "Weniger Nächte",
        "ليال أقل",
        "减少夜班",
    ),
    "A place to rest": (
        "Un lugar para descansar",
        "Un lieu de repos",
        "Ein Ort zum Ausruhen",
        "مكان للراحة",
        "休息的地方",
    ),
    "Someone to talk to": (
        "Alguien con quien hablar",
        "Quelqu’un à qui parler",
        "Jemand zum Reden",
        "شخص أتحدث إليه",
        "可以倾诉的人",
    ),
    "Better pay": (
        "Mejor sueldo",
        "Un meilleur salaire",
        "Bessere Bezahlung",
        "أجر أفضل",
        "更高薪酬",
    ),
    "How often do you work although you are ill?": (
        "¿Con qué frecuencia trabaja estando enfermo?",
        "À quelle fréquence travaillez-vous en étant malade ?",
        "Wie oft arbeiten Sie, obwohl Sie krank sind?",
        "كم مرة تعمل وأنت مريض؟",
        "您多久带病上班一次？",
    ),
    "Never": ("Nunca", "Jamais", "Nie", "أبدا", "从不"),
    "Always": ("Siempre", "Toujours", "Immer", "دائما", "总是"),
    "How sure are you that you will leave this job within a year?": (
        "¿Qué seguridad tiene de que dejará este trabajo en un año?",
        "À quel point êtes-vous sûr de quitter ce poste d’ici un an ?",
        "Wie sicher ist es, dass Sie diese Stelle in einem Jahr verlassen?",
        "ما مدى تأكدك من ترك هذا العمل خلال عام؟",
        "您有多确定会在一年内离职？",
    ),
    "Not at all": ("Nada", "Pas du tout", "Gar nicht", "غير متأكد", "完全不"),
    "Certain": ("Total", "Tout à fait", "Ganz sicher", "متأكد", "非常确定"),
    "How many hours did you sleep before your last night shift?": (
        "¿Cuántas horas durmió antes de su último turno de noche?",
        "Combien d’heures avez-vous dormi avant votre dernière garde de nuit ?",
        "Wie viele Stunden haben Sie vor dem letzten Nachtdienst geschlafen?",
        "كم ساعة نمت قبل آخر مناوبة ليلية؟",
        "上次夜班前您睡了几小时？",
    ),
    "hours": ("horas", "heures", "Stunden", "ساعات", "小时"),
    "Cheating": ("Copiar", "La triche", "Schummeln", "الغش", "作弊"),
    "Have you ever cheated in an exam?": (
        "¿Ha copiado alguna vez en un examen?",
        "Avez-vous déjà triché à un examen ?",
        "Haben Sie je in einer Prüfung geschummelt?",
        "هل غششت يوما في امتحان؟",
        "您在考试中作过弊吗？",
    ),
    "On the road": ("En la carretera", "Sur la route", "Unterwegs", "على الطريق", "在路上"),
    "Have you ever driven after drinking?": (
        "¿Ha conducido alguna vez después de beber?",
        "Avez-vous déjà conduit après avoir bu ?",
        "Sind Sie je nach dem Trinken gefahren?",
        "هل قدت يوما بعد الشرب؟",
        "您曾酒后开车吗？",
    ),
    "Do you read messages while you drive?": (
        "¿Lee mensajes mientras conduce?",
        "Lisez-vous des messages en conduisant ?",
        "Lesen Sie beim Fahren Nachrichten?",
        "هل تقرأ الرسائل أثناء القيادة؟",
        "您开车时看消息吗？",
    ),
    "Have you driven without a licence?": (
        "¿Ha conducido sin permiso?",
        "Avez-vous conduit sans permis ?",
        "Sind Sie ohne Führerschein gefahren?",
        "هل قدت بدون رخصة؟",
        "您无证驾驶过吗？",
    ),
}


def make_mine(**settings: Any) -> Wave:
    """Make a survey of nine entries: a text, a declared group, and seven other questions."""
    title, introduction, closing, organization, help_name, *_ = WORDS
    survey = _make(
        title,
        cap=4000,
        closes_at=datetime(2100, 5, 31, 18, tzinfo=UTC),
        coins=True,
        **{
            "introduction": introduction,
            "closing_message": closing,
            "organization": organization,
            "contact": CONTACT,
            "help_name": help_name,
            "help_phone": "0800 555 0123",
            "help_url": "https://help.st-anna.example/nights",
            **settings,
        },
    )
    _ask_mine(survey)
    return _open(survey)


def _ask_mine(survey: Survey) -> None:
    def add(kind: str, text: str, **content: Any) -> str:
        return f"{_ask(survey, text, type=kind, **content).pk}"

    add("information", "Some questions are hard. You may stop at any time.")
    wards = ["Emergency", "Intensive care", "Another ward"]
    add("declared", "On which kind of ward do you work most?", options=wards)
    question = "In the last month, did you take anything to get through a night shift?"
    took = add("yes_no", question)
    drugs = ["Alcohol", "Sleeping pills", "Stimulants", "Painkillers", "Cannabis"]
    rule = {"name": took, "is": [1]}
    add("several", "What did you take?", options=drugs, limit=2, refusal=True, rule=rule)
    mistake = "Did you make a mistake that could have harmed a patient?"
    add("follow_up", mistake, follow_up="Did you report it?")
    helps = ["More staff", "Fewer nights", "A place to rest", "Someone to talk to", "Better pay"]
    add("choice", "What would help you most?", options=helps, refusal=True, flips=20)
    often = {"minimum": 1, "maximum": 5, "low_label": "Never", "high_label": "Always"}
    add("scale", "How often do you work although you are ill?", **often)
    sure = {"minimum": 0, "maximum": 10, "low_label": "Not at all", "high_label": "Certain"}
    leaving = "How sure are you that you will leave this job within a year?"
    add("scale", leaving, refusal=True, **sure)
    slept = "How many hours did you sleep before your last night shift?"
    add("number", slept, minimum=0, maximum=24, unit="hours", refusal=True)


def make_one() -> Wave:
    survey = _make("Cheating")
    _ask(survey, "Have you ever cheated in an exam?")
    return _open(survey)


def make_three(*, flips: int = 25) -> Wave:
    survey = _make("On the road")
    _ask(survey, "Have you ever driven after drinking?", flips=flips)
    _ask(survey, "Do you read messages while you drive?", flips=flips)
    _ask(survey, "Have you driven without a licence?", flips=flips)
    return _open(survey)


def make_weak() -> Wave:
    return make_three(flips=5)


def make_mixed() -> Wave:
    survey = _make("On the road")
    _ask(survey, "Have you ever driven after drinking?", refusal=True)
    ends = {"minimum": 1, "maximum": 5, "low_label": "Never", "high_label": "Always"}
    text = "Do you read messages while you drive?"
    _ask(survey, text, type="scale", refusal=True, **ends)
    number = {"minimum": 0, "maximum": 24, "unit": "hours"}
    text = "How many hours did you sleep before your last night shift?"
    _ask(survey, text, type="number", refusal=True, **number)
    return _open(survey)


def _make(title: str, **settings: Any) -> Survey:
    owner = User.objects.create_user(email=f"{secrets.token_hex(8)}@example.org", password=None)
    return Survey.objects.create_owned(
        owner, title=title, **{"introduction": "", **USUAL, **settings}
    )


def _ask(survey: Survey, text: str, **content: Any) -> Question:
    return add_question(survey=survey, text=text, **{"type": "yes_no", "flips": 25, **content})


def _open(survey: Survey) -> Wave:
    """Launch a survey that is fully translated into the five other languages."""
    texts = [one.text for one in list_texts(build_manifest(survey=survey, wave_number=1))]
    for place, language in enumerate(OTHERS):
        translated = {text: WORDS[text][place] for text in texts}
        survey.translations.create(language=language, texts=translated)
    return launch_survey(survey=survey, acknowledged=set(Limit))


FIVE: Mapping[str, Callable[[], Wave]] = {
    "mine": make_mine,
    "one": make_one,
    "three": make_three,
    "weak": make_weak,
    "mixed": make_mixed,
}


def list_authors_words(wave: Wave, language: str) -> list[str]:
    """List the author's sentences and names in one of the six languages, without the answers."""
    source = parse_manifest(bytes(wave.manifest))
    translated = translate_manifest(source, language, wave.words.get(language, ""))
    answers = {"options", "unit", "low_label", "high_label"}
    texts = [one.text for one in list_texts(translated) if not answers.intersection(one.kinds)]
    return [*texts, translated.contact] if translated.contact else texts
