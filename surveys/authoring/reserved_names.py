"""Reserved names, which no variable may have, because files or other programs use them.

All names are in lower case, because SPSS and SQL ignore case.
"""

from __future__ import annotations

# Columns of Murmur's files. A test compares these names with all of aggregator/exports.
_COLUMNS = """
    account advanced_sum alert alert_above_percent answer answer_text base basic_sum block
    bound_people cap changes code column count critical_value data day delta delta_cap
    delta_of_sums delta_spent design difference difference_high difference_low difference_method
    difference_p_value ending epsilon epsilon_took_part estimand estimand_text estimate
    exact_sum fake_2_percent_high fake_2_percent_low family first follow_up gates group group_n
    group_question group_question_text group_text high inner_50_high inner_50_low inner_80_high
    inner_80_low interval_high interval_level interval_low interval_method joint_estimate k
    keep_probability kind ks label level library looks low manifest_sha256 meaning mechanism
    method method_version mode n name noisy_code_count noisy_people noisy_people_margin note
    number object of original other_probability outcome_maximum outcome_minimum part people
    planned pooled pooled_high pooled_low probability_if_true public_from quantity question
    question_epsilon question_number question_text question_type questions randomization
    raw_share release release_kind reliability reserved_on rho row scale second section
    short_label simultaneous_high simultaneous_level simultaneous_low simultaneous_method slope
    spent standard_error standing state statement_epsilon status survey suspended symbol
    threshold thresholds through_batch title unit value verb wave who zcdp_sum
"""
# Columns of the mode comparison, which begin with the name of either mode.
_OF_MODES = """
    count estimate interval_high interval_low interval_method n reliability standard_error status
    threshold through_batch
"""
OWN_COLUMNS = frozenset(
    [
        *_COLUMNS.split(),
        *(f"{side}_{name}" for side in ("browser", "coins") for name in _OF_MODES.split()),
    ]
)

_R = "break else false for function if in inf na nan next null repeat true while"
# str1 to str2045 are in variable_names.py.
_STATA = "byte double float if in int long strl using with"
_SPSS = "all and by eq ge gt le lt ne not or to with"
# Words that SQL-92, PostgreSQL or SQLite reserves.
_SQL = """
    absolute action add all allocate alter analyse analyze and any are array as asc assertion
    asymmetric at authorization avg begin between binary bit bit_length both by cascade cascaded
    case cast catalog char char_length character character_length check close coalesce collate
    collation column commit concurrently connect connection constraint constraints continue convert
    corresponding count create cross current current_catalog current_date current_role
    current_schema current_time current_timestamp current_user cursor date day deallocate dec
    decimal declare default deferrable deferred delete desc describe descriptor diagnostics
    disconnect distinct do domain double drop else end escape except exception exec execute exists
    external extract false fetch first float for foreign found freeze from full get global go goto
    grant group having hour identity ilike immediate in index indicator initially inner input
    insensitive insert int integer intersect interval into is isnull isolation join key language
    last lateral leading left level like limit local localtime localtimestamp lower match max min
    minute module month names national natural nchar next no not notnull null nullif numeric
    octet_length of offset on only open option or order outer output overlaps pad partial placing
    position precision prepare preserve primary prior privileges procedure public read real
    references relative restrict returning revoke right rollback rows schema scroll second section
    select session session_user set similar size smallint some space sql sqlcode sqlerror sqlstate
    substring sum symmetric system_user table tablesample temporary then time timestamp
    timezone_hour timezone_minute to trailing transaction translate translation trim true union
    unique unknown update upper usage user using value values variadic varchar varying verbose view
    when whenever where window with work write year zone
"""
# Programs, each with the names that would prevent it from reading a file.
RESERVED_WORDS = {
    "R": frozenset(_R.split()),
    "Stata": frozenset(_STATA.split()),
    "SPSS": frozenset(_SPSS.split()),
    "SQL": frozenset(_SQL.split()),
}
