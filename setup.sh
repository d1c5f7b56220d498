#!/bin/sh
# Sets gridcore up beside its source, in .venv, and uses it:
#
#     ./setup.sh run       set up, then the main job: a fault study of the 9-bus system
#     ./setup.sh test      set up, then the tests but for the slow ones (-m "" for all)
#     ./setup.sh ida       set up the IDA integrator only (scikits.odes on the SUNDIALS found here)
#     ./setup.sh           set up only
#
# As root, system packages that are missing are installed by apt; otherwise one sentence says which.
# What is there already is not done again.
set -eu
cd "$(dirname "$0")"

VENV=.venv
CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/gridcore"

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# Make sure of Debian packages: succeeds if they are installed now, otherwise says what to do.
need() { # need <what for> <package>...
    for_what=$1; shift
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        say "installing $* ($for_what)"
        log=$(mktemp)
        if (apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@") \
                >"$log" 2>&1; then
            rm -f "$log"
            return 0
        fi
        say "apt-get could not install $*; its output is in $log"
        return 1
    fi
    say "$for_what needs a package that is missing: sudo apt-get install $*"
    return 1
}

find_python() {
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    fail "gridcore needs Python 3.11 or newer"
}

# The environment with gridcore in it; done again when the metadata changes.
set_up_gridcore() { # set_up_gridcore <extras to install, "[test]" or nothing>
    if [ ! -x $VENV/bin/pip ]; then
        python=$(find_python)
        "$python" -c 'import ensurepip' 2>/dev/null || need "a virtual environment" python3-venv || exit 1
        say "making $VENV with $("$python" --version)"
        "$python" -m venv $VENV
    fi
    stamp="$VENV/gridcore${1:-}.stamp"
    made_of=$(cat pyproject.toml setup.py; ls plugins)
    if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$made_of" ]; then
        say "installing gridcore and what it needs into $VENV (a minute or two the first time)"
        $VENV/bin/pip install -qq --disable-pip-version-check -e ".${1:-}"
        printf '%s\n' "$made_of" >"$stamp"
    fi
}

# Version of the SUNDIALS headers the compiler finds ($SUNDIALS_INST/include first), or nothing.
sundials_version() {
    printf '#include <sundials/sundials_config.h>\nversion SUNDIALS_VERSION\n' |
        ${CC:-cc} -E -P ${SUNDIALS_INST:+"-I$SUNDIALS_INST/include"} - 2>/dev/null |
        sed -n 's/^version *"\([0-9.]*\).*/\1/p'
}

has_python_headers() {
    [ -f "$($VENV/bin/python -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ]
}

# scikits.odes, of the version that fits SUNDIALS. Its wheel is compiled once and kept.
set_up_ida() {
    $VENV/bin/python -c 'import scikits_odes_sundials.ida' 2>/dev/null && return 0
    if ! command -v "${CC:-cc}" >/dev/null; then
        need "the IDA integrator needs a C compiler" gcc libc6-dev || return 1
    fi
    missing=
    [ -n "$(sundials_version)" ] || missing="libsundials-dev"
    has_python_headers || missing="$missing python3-dev"
    # shellcheck disable=SC2086  # a list of packages
    [ -z "$missing" ] || need "the IDA integrator" $missing || return 1
    version=$(sundials_version)
    case $version in
        6.*) odes=3.0.0 ;;
        7.*) odes=3.1.1 ;;
        *)
            say "the IDA integrator needs SUNDIALS 6 or 7, found '$version'"
            return 1 ;;
    esac
    wheels="$CACHE/wheels/sundials-$version"
    tag=$($VENV/bin/python -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
    if ! ls "$wheels"/scikits_odes_sundials-$odes-"$tag"-*.whl >/dev/null 2>&1; then
        say "compiling scikits-odes-sundials $odes for SUNDIALS $version: one to three minutes, once"
        mkdir -p "$wheels"
        constraint=$(mktemp)
        # 3.0.0 is written for Cython before 3, which the headers of numpy 2.5 refuse; binaries fit either numpy.
        [ "$odes" != 3.0.0 ] || printf 'cython<3\nnumpy<2.5\n' >"$constraint"
        log=$(mktemp)
        # Older pip takes the constraint of the build environment from PIP_CONSTRAINT, newer from the other.
        if ! PIP_CONSTRAINT="$constraint" PIP_BUILD_CONSTRAINT="$constraint" \
                $VENV/bin/pip wheel --disable-pip-version-check --no-cache-dir --no-deps --wheel-dir "$wheels" \
                "scikits-odes-sundials==$odes" >"$log" 2>&1; then
            say "scikits-odes-sundials could not be compiled; the output is in $log"
            return 1
        fi
        rm -f "$constraint" "$log"
    fi
    $VENV/bin/pip install -qq --disable-pip-version-check --find-links "$wheels" "scikits-odes-sundials==$odes"
    $VENV/bin/python -c 'import scikits_odes_sundials.ida'
}

case ${1:-} in
    "" | run | test | ida) ;;
    *) sed -n '4,7s/^# *//p' "$0" >&2; exit 2 ;;
esac
what=${1:-}
[ $# = 0 ] || shift

if [ "$what" = test ]; then set_up_gridcore "[test]"; else set_up_gridcore; fi
if ! set_up_ida; then
    [ "$what" != ida ] || fail "the IDA integrator is not available"
    say "going on without the IDA integrator; the theta method does not need it"
fi
case $what in
    run)  exec $VENV/bin/gridcore run wscc9 --plot "$@" ;;
    test) unset PYTHONDONTWRITEBYTECODE  # tests start hundreds of processes, which need not compile it all anew
          exec $VENV/bin/python -m pytest -n auto --dist worksteal -m "not slow" "$@" ;;
    *) say "done: $VENV/bin/gridcore" ;;
esac
