"""How to cite the study and the software."""

from __future__ import annotations

from django.conf import settings

from aggregator.results.display import View
from aggregator.study_report.content import Heading, Paragraph, Section, Tone, Words
from aggregator.study_report.sections.head import count_reports, describe_dates
from surveys.formatting import whole

CITATION = "citation"


def write_citation(view: View) -> Section:
    wave, manifest = view.wave, view.manifest
    assert wave is not None
    assert manifest is not None
    reports = count_reports(view) or 0
    year = (wave.closed_at or wave.launched_at).year
    study = (
        f"{manifest.organization or '[Authors]'} ({year}). {manifest.title} [Survey under local "
        f"differential privacy]. {describe_dates(wave)}; {whole(reports)} reports. Manifest "
        f"SHA-256: {wave.manifest_hash_hex}."
    )
    software = (
        f"Murmur contributors ({year}). Murmur: surveys on sensitive questions under local "
        f"differential privacy (version {settings.VERSION}) [Software]. Apache License 2.0."
    )
    return Section(
        anchor=CITATION,
        heading="How to cite",
        parts=(
            Heading(words=Words(text="The study")),
            Paragraph(text=study, tone=Tone.TO_PASTE),
            Heading(words=Words(text="The software")),
            Paragraph(text=software, tone=Tone.TO_PASTE),
        ),
    )
