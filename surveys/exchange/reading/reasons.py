"""The reasons why cells and rows are left out, in the sentences that authors read."""

from __future__ import annotations

PRIDE = "Murmur collects none of this."
FREE_TEXT = "A free text cannot be scrambled. Offer answers to choose from."
NO_DATES = "A date cannot be scrambled. Ask for a range, such as an age group."
NO_FILES = "Murmur does not ask for pictures, sounds, files or signatures."
NO_PLACES = "Murmur does not ask for places."
PIPED = "It shows an earlier answer, which never leaves the browser unscrambled."
OTHER_TEXT = "The text field for other answers is left out. “Other” can be an option."
NO_EFFECT = "Without effect."
NO_HINTS = "Murmur has no hints. Add the words to the question if people need them."
NO_BOUNDS = "Give the smallest and the largest whole number. Murmur does not guess them."
NO_SCORE = "This calculation cannot become a score."
CLOSED_ALREADY = "Without effect: the answers are a list."
NEVER_FILLED = "Murmur never fills in an answer."
NO_FORMATTING = "Formatting is left out."
NO_NAME = "Texts to read have no name."
NO_RULE = "The rule is left out, so everyone is asked."
NO_SUM = "It does not add earlier answers."
TOO_DEEP = "It is nested too deeply."
UNKNOWN_TYPE = "Murmur does not know the type “{}”."
WHOLE = "Becomes a whole number."

# Types of questions in XLSForm.
PERSONAL = {
    *("start", "end", "today", "deviceid", "imei", "username", "phonenumber", "phone_number"),
    *("email", "audit", "simserial", "sim_id", "subscriberid", "subscriber_id", "start_geopoint"),
    *("device_id", "get_phone_number", "get_device_id", "get_sim_id", "uri"),
}
REFUSED = {
    **dict.fromkeys(("text", "string", "note_text"), FREE_TEXT),
    **dict.fromkeys(("date", "time", "datetime", "date_time"), NO_DATES),
    **dict.fromkeys(("geopoint", "geotrace", "geoshape", "location", "gps", "osm"), NO_PLACES),
    **dict.fromkeys(("image", "photo", "audio", "video", "file", "barcode"), NO_FILES),
    "background_audio": PRIDE,
    "rank": "Murmur has no ranking. Ask for the first choice.",
    "hidden": "Murmur has no hidden questions.",
    **dict.fromkeys(("xml_external", "csv_external"), "Murmur reads no other files."),
}
# Columns of XLSForm, as pyxform names them.
WITHOUT_EFFECT: set[tuple[str, ...]] = {
    *(("bind", name) for name in ("required", "jr:requiredMsg", "jr:constraintMsg", "readonly")),
    *(("control", name) for name in ("appearance", "rows")),
}
LACKING: dict[tuple[str, ...], str] = {
    ("hint",): NO_HINTS,
    ("guidance_hint",): NO_HINTS,
    ("media",): "Murmur’s pages contain only text.",
    ("default",): NEVER_FILLED,
    ("garbling",): "Murmur scrambles Yes and No alike, with its own strength.",
}
