"""The chart: its specification and marks, the same numbers as the page, safe to fork."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from aggregator.results.charts import bundle
from aggregator.results.charts.chart import FONT, build_rows, build_specification, render_chart
from aggregator.results.charts.updates import find_waves_to_render
from aggregator.results.display import Results, find_view
from aggregator.results.snapshots import METHOD_VERSION, update_snapshot
from aggregator.simulation.demo_surveys import REDBOOK
from aggregator.simulation.truth import known_truth
from surveys.models import Survey, Wave
from tests.support.factories import make_launched_survey
from tests.support.fielding import field, process, send_codes


def results_of(survey: Survey) -> Results:
    results = find_view(survey).results
    assert results is not None
    return results


def marks_of(specification: dict[str, Any]) -> list[str]:
    return [layer["mark"]["type"] for layer in specification["layer"]]


@pytest.mark.django_db
class TestSpecification:
    def test_the_chart_has_only_dots_and_whiskers_and_one_axis_from_0_to_100(self) -> None:
        specification = build_specification(
            results_of(field(make_launched_survey(), yes=[80, 100], total=200, rendered=False))
        )
        assert set(marks_of(specification)) == {"rule", "point", "text"}
        [scale] = [
            layer["encoding"]["x"]["scale"]
            for layer in specification["layer"]
            if layer["mark"]["type"] == "point"
        ]
        assert scale["domain"] == [0, 1]

    def test_rows_show_what_the_page_shows(self) -> None:
        survey = field(make_launched_survey(), yes=[240, 350], total=1000, rendered=False)
        first, second = build_rows(results_of(survey))
        assert first.caution  # 0 to about 10 %: the width is many times the share
        assert first.estimate == 0
        assert not second.caution
        assert second.estimate == pytest.approx(0.2)
        assert second.label.startswith("Q2 ")
        low, high = second.low, second.high
        assert low is not None
        assert high is not None
        assert low < 0.2 < high

    @pytest.mark.parametrize("ending", [Wave.Ending.CAP, Wave.Ending.OWNER])
    def test_only_a_fixed_end_has_whiskers_inside(self, ending: Wave.Ending) -> None:
        wave = make_launched_survey(cap=200)
        survey = field(wave, yes=[80, 100], total=200, ending=ending, rendered=False)
        results = results_of(survey)
        fixed = ending == Wave.Ending.CAP
        for row in build_rows(results):
            assert (row.low is None, row.low_80 is None) == (False, not fixed)
            assert (row.high_50 is None, row.low_50 is None) == (not fixed, not fixed)
        specification = build_specification(results)
        ends = {layer["encoding"].get("x", {}).get("field") for layer in specification["layer"]}
        assert {"low_80", "low_50"}.isdisjoint(ends) != fixed
        assert ("50 %" in " ".join(specification["title"]["subtitle"])) == fixed

    def test_its_accessible_name_says_what_it_is_and_each_text_is_read_once(self) -> None:
        survey = field(make_launched_survey(), yes=[80, 100], total=200, rendered=False)
        specification = build_specification(results_of(survey))
        assert specification["description"].startswith("Chart of 2 estimated shares with 95 %")
        texts = [layer for layer in specification["layer"] if layer["mark"]["type"] == "text"]
        assert [layer["mark"].get("aria", True) for layer in texts] == [False, True] * 2

    def test_what_is_not_shown_has_no_dot_and_no_whisker(self) -> None:
        row = build_rows(
            results_of(field(make_launched_survey(), yes=[5, 5], total=10, rendered=False))
        )[0]
        assert (row.estimate, row.low, row.high) == (None, None, None)
        assert row.value == "too few answers"

    def test_a_contradiction_has_no_dot_and_no_whisker(self) -> None:
        survey = field(make_launched_survey(), yes=[1000, 500], total=1000, rendered=False)
        row = build_rows(results_of(survey))[0]
        assert (row.estimate, row.low, row.high) == (None, None, None)
        assert row.value == "contradiction"

    def test_long_questions_are_shortened_and_keep_their_number(self) -> None:
        wave = make_launched_survey(questions=["word " * 199])
        row = build_rows(results_of(field(wave, yes=[80], total=200, rendered=False)))[0]
        assert row.label.startswith("Q1 word")
        assert len(row.label) <= 70
        assert row.question.startswith("word " * 100)

    @pytest.mark.slow
    def test_only_the_demo_marks_the_true_values(self) -> None:
        wave = make_launched_survey(questions=["a?", "b?", "c?", "d?"])
        survey = field(wave, yes=[90, 80, 100, 110], total=200, rendered=False)
        snapshot = wave.snapshots.get()
        assert "tick" not in marks_of(render_chart(wave, snapshot, truth=known_truth(survey))[0])
        Survey.objects.filter(pk=survey.pk).update(demo=True, title=REDBOOK.title)
        wave = Wave.objects.get(pk=wave.pk)
        truth = known_truth(wave.survey)
        assert "tick" in marks_of(render_chart(wave, snapshot, truth=truth)[0])

    def test_no_chart_is_rendered_below_the_display_minimum(self) -> None:
        wave = make_launched_survey(display_minimum=100)
        field(wave, yes=[33, 17], total=99, rendered=False)
        with pytest.raises(ValueError, match="display minimum 100, got 99"):
            render_chart(wave, wave.snapshots.get())

    def test_pictures_contain_no_style_that_the_policy_forbids(self) -> None:
        wave = make_launched_survey(title="<b>&", questions=["</svg><script>?"])
        field(wave, yes=[80], total=200, rendered=False)
        specification, svg, png = render_chart(wave, wave.snapshots.get())
        assert re.search(r"<style|style=|<script|href=", svg) is None
        assert svg.startswith("<svg")
        assert png.startswith(b"\x89PNG\r\n")
        assert json.loads(json.dumps(specification)) == specification
        assert "http" not in json.dumps(specification).replace(specification["$schema"], "")

    @pytest.mark.slow
    def test_the_picture_does_not_change_between_two_batches(self) -> None:
        wave = make_launched_survey()
        send_codes(wave, yes=[40, 50], total=100)
        process(wave)
        before = wave.snapshots.get()
        send_codes(wave, yes=[3, 3], total=9)
        process(wave)
        assert render_chart(wave, wave.snapshots.get())[1] == render_chart(wave, before)[1]


def test_the_font_is_included_in_the_renderer() -> None:
    assert FONT.startswith("Liberation Sans")


@pytest.mark.slow
def test_importing_the_project_starts_no_renderer() -> None:
    """Workers fork after importing tasks; vl-convert's threads would not survive that."""
    code = (
        "import sys, django; django.setup(); import aggregator.tasks, config.urls;"
        "sys.exit(bool({'vl_convert', 'altair'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=60)
    assert done.returncode == 0


@pytest.mark.slow
def test_the_bundle_is_built_once_per_version(tmp_path: Any) -> None:
    assert bundle.build_bundle(folder=tmp_path)
    assert not bundle.build_bundle(folder=tmp_path)
    content = (tmp_path / bundle.STATIC_NAME).read_text()
    assert "vegaEmbed" in content
    stamp = (tmp_path / bundle.STATIC_NAME).with_suffix(".version")
    stamp.write_text("vl-convert-python 0.0.1\n")
    assert bundle.build_bundle(folder=tmp_path)
    assert len(bundle.hash_bundle(folder=tmp_path)) == 64


@pytest.mark.django_db
def test_a_chart_of_an_older_method_is_rendered_again() -> None:
    """The batches are the same, so only the version shows that the estimates have changed."""
    wave = make_launched_survey()
    field(wave, yes=[300, 500], total=1000)
    assert find_view(wave.survey).chart is not None
    assert not find_waves_to_render().exists()
    wave.snapshots.update(method_version=METHOD_VERSION - 1)
    update_snapshot(wave_id=wave.pk)
    assert find_view(wave.survey).chart is None
    assert list(find_waves_to_render()) == [wave]
