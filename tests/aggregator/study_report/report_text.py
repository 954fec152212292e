"""The text of one section of a report."""

from __future__ import annotations

from dataclasses import replace

from aggregator.study_report.content import Section, StudyReport, list_texts


def find_section(report: StudyReport, anchor: str) -> Section:
    return next(section for section in report.sections if section.anchor == anchor)


def text_of_section(report: StudyReport, anchor: str) -> str:
    only = replace(report, title="", marks=(), sections=(find_section(report, anchor),))
    return "\n".join(list_texts(only))
