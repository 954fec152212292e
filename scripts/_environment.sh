# Sourced by the commands in this folder: installs the packages that a requirements file pins in .venv.

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

# prepare FILE: installs FILE into .venv unless this has already been done.
prepare() {
    local file=$1 stamp wanted
    [ -w . ] || stop_with "Murmur cannot write to its folder $PWD. Copy Murmur to a folder that you own."
    find_python
    stamp=.venv/installed-${file%.txt}
    wanted=$(sha256sum "$file" | cut -d' ' -f1)
    [ -x .venv/bin/python ] || rm -rf .venv
    if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
        printf 'Installing the packages of %s (once) …\n' "$file"
        [ -d .venv ] || "$PYTHON" -m venv .venv || stop_with "The virtual environment could not be created in $PWD/.venv."
        .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "$file" ||
            stop_with "Installing $file failed; the lines above say why. Nothing was started."
        # The other file's stamp may no longer describe what is installed.
        rm -f .venv/installed-*
        printf '%s\n' "$wanted" >"$stamp"
        # The development requirements contain the others.
        [ "$file" = requirements-dev.txt ] && sha256sum requirements.txt | cut -d' ' -f1 >.venv/installed-requirements
    fi
    return 0
}
