"""Write the report of a study from what may be shown of it now."""

from __future__ import annotations

from dataclasses import replace

from aggregator.results.blocks import list_blocks
from aggregator.results.display import View
from aggregator.study_report.content import Section, StudyReport, list_texts
from aggregator.study_report.sections.citation import write_citation
from aggregator.study_report.sections.claims import write_claims
from aggregator.study_report.sections.comparisons import write_comparisons
from aggregator.study_report.sections.findings import explain_nothing, write_findings
from aggregator.study_report.sections.head import list_marks, write_facts
from aggregator.study_report.sections.limits import write_limits
from aggregator.study_report.sections.methods import write_methods
from aggregator.study_report.sections.participants import write_participants
from aggregator.study_report.sections.protection import write_protection
from aggregator.study_report.sections.references import write_references
from aggregator.study_report.sections.releases import write_releases
from surveys.manifest.languages import direction, language_tag


def write_report(view: View) -> StudyReport:
    """Write the report of a survey that was opened; results are left out while there are none."""
    wave, manifest, results = view.wave, view.manifest, view.results
    assert wave is not None
    assert manifest is not None
    blocks = list_blocks(results) if results else []
    sections: list[Section] = []
    if results:
        sections += [
            write_participants(blocks),
            write_findings(results, blocks),
            *write_comparisons(results),
        ]
    else:
        sections.append(explain_nothing(view))
    if wave.sealed_half:
        sections.append(write_claims(wave, manifest))
    if manifest.publishes_releases:
        sections.append(write_releases(wave))
    sections += [
        write_protection(wave, manifest),
        write_limits(wave, results, blocks),
        write_methods(view.survey, wave, results),
    ]
    report = StudyReport(
        title=manifest.title,
        tag=language_tag(manifest.language),
        direction=direction(manifest.language),
        marks=list_marks(view),
        facts=write_facts(view),
        sections=tuple(sections),
        day=wave.closed_at.date() if wave.closed_at else None,
    )
    closing = (write_references(list_texts(report)), write_citation(view))
    return replace(report, sections=(*report.sections, *closing))
