"""The columns of a REDCap data dictionary."""

from __future__ import annotations

# Each column's header in files from REDCap's API, and in files downloaded from REDCap's pages.
HEADS = {
    "field_name": "Variable / Field Name",
    "form_name": "Form Name",
    "section_header": "Section Header",
    "field_type": "Field Type",
    "field_label": "Field Label",
    "select_choices_or_calculations": "Choices, Calculations, OR Slider Labels",
    "field_note": "Field Note",
    "text_validation_type_or_show_slider_number": "Text Validation Type OR Show Slider Number",
    "text_validation_min": "Text Validation Min",
    "text_validation_max": "Text Validation Max",
    "identifier": "Identifier?",
    "branching_logic": "Branching Logic (Show field only if...)",
    "required_field": "Required Field?",
    "custom_alignment": "Custom Alignment",
    "question_number": "Question Number (surveys only)",
    "matrix_group_name": "Matrix Group Name",
    "matrix_ranking": "Matrix Ranking?",
    "field_annotation": "Field Annotation",
}
