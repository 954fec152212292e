# Sourced by the commands in this folder: installs the pinned packages in .venv.

# Every process imports the same modules. Without bytecode, each process compiles them again.
unset PYTHONDONTWRITEBYTECODE

stop_with() {
    printf '%s\n' "$1" >&2
    exit 1
}

# find_python: sets PYTHON to an interpreter that Murmur can run on.
find_python() {
    PYTHON=${PYTHON:-python3}
    command -v "$PYTHON" >/dev/null 2>&1 ||
        stop_with "Murmur needs Python 3.11 or newer, but '$PYTHON' was not found."
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        stop_with "Murmur needs Python 3.11 or newer, but '$PYTHON' is $("$PYTHON" -V 2>&1)."
    "$PYTHON" -c 'import ensurepip, venv' >/dev/null 2>&1 ||
        stop_with "Python's venv module is missing. On Debian, install the package python3-venv."
}

# install FILE …: installs wheels only, because a machine may lack a compiler. Compiles no bytecode:
# most modules of these packages are never imported. Shows the output of pip if pip fails.
install() {
    local file said status=0
    local options=(--quiet --disable-pip-version-check --no-compile --require-hashes --only-binary :all:)
    for file in "$@"; do options+=(-r "$file"); done
    said=$(mktemp)
    .venv/bin/python -m pip install "${options[@]}" >"$said" 2>&1 || status=$?
    [ $status = 0 ] || cat "$said" >&2
    rm -f "$said"
    return $status
}

# works_with CHOSEN: succeeds if .venv works and was made with the chosen Python, if one was chosen.
works_with() {
    local identity='import sys; print(*sys.version_info[:3], sys.base_prefix)'
    .venv/bin/python -c 'import pip' 2>/dev/null || return 1
    [ -z "$1" ] || [ "$("$1" -c "$identity")" = "$(.venv/bin/python -c "$identity")" ]
}

# prepare PURPOSE: installs the packages for a purpose, run or dev, unless they are installed.
prepare() {
    local purpose=$1 chosen=${PYTHON:-} run=(requirements.txt requirements-embedded.txt) files stamp wanted
    [ -w . ] || stop_with "Murmur cannot write to its folder $PWD. Copy Murmur to a folder that you own."
    find_python
    works_with "$chosen" || rm -rf .venv
    stamp=.venv/installed-$purpose
    files=("${run[@]}")
    [ "$purpose" = run ] || files=("requirements-$purpose.txt")
    wanted=$(cat "${files[@]}" | sha256sum)
    if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
        printf 'Installing the packages of %s (once) …\n' "$(IFS=+; echo "${files[*]}" | sed 's/+/ and /')"
        [ -d .venv ] || "$PYTHON" -m venv .venv || stop_with "The virtual environment could not be created in $PWD/.venv."
        install "${files[@]}" || stop_with "The packages could not be installed; the lines above say why. Nothing was started."
        # The other purpose's stamp may no longer match the installed packages.
        rm -f .venv/installed-*
        printf '%s\n' "$wanted" >"$stamp"
        # The development packages include the others.
        [ "$purpose" = run ] || cat "${run[@]}" | sha256sum >.venv/installed-run
    fi
    return 0
}
