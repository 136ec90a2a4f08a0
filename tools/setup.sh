#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `make` needs beyond git, make, python3 and cc. As root on a system with apt it installs what is
# missing; anybody else is told the one command to run. It never calls sudo.
#   setup.sh compilers          the host's C compiler and the Arm cross compiler
#   setup.sh venv DIRECTORY     a virtual environment with ripbench in it, editable
#   setup.sh extras DIRECTORY   what only `make test-all` needs: clang, node, rp2040js, Chromium
set -eu

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }

# need COMMAND APT_PACKAGES BREW_PACKAGES PACMAN_PACKAGES
need() {
    command -v "$1" >/dev/null 2>&1 && return 0
    if may_install; then
        echo "installing $2 (no '$1' found)"
        apt_install $2
        command -v "$1" >/dev/null 2>&1 && return 0
    fi
    say_how "$1 is missing" "$2" "$3" "$4"
    exit 1
}

apt_install() {
    log=$(mktemp)
    if ! { DEBIAN_FRONTEND=noninteractive apt-get update &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; } >"$log" 2>&1; then
        cat "$log" >&2
    fi
    rm -f "$log"
}

say_how() {
    echo "$1. Install it with one of:" >&2
    echo "    Debian, Ubuntu:  sudo apt-get install --no-install-recommends $2" >&2
    echo "    macOS:           brew install $3" >&2
    echo "    Arch:            sudo pacman -S $4" >&2
}

compilers() {
    need cc gcc gcc gcc
    need arm-none-eabi-gcc "gcc-arm-none-eabi binutils-arm-none-eabi" \
        "--cask gcc-arm-embedded" "arm-none-eabi-gcc arm-none-eabi-binutils"
}

venv() {
    python=${PYTHON:-python3}
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "$python is $("$python" -V 2>&1); ripbench needs Python 3.11 or later (make PYTHON=python3.12)" >&2
        exit 1
    }
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        if may_install; then
            echo "installing python3-venv ($python has no venv module)"
            apt_install python3-venv
        fi
        "$python" -c 'import ensurepip, venv' 2>/dev/null || {
            say_how "$python has no venv module" python3-venv python@3.12 python
            exit 1
        }
    fi
    [ -x "$1/bin/python" ] || "$python" -m venv "$1"
    echo "installing ripbench and its tools into $1"
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
}

extras() {
    need clang clang llvm clang
    need node nodejs node nodejs
    need npm npm node npm
    need chromium "chromium fonts-dejavu-core" "--cask chromium" "chromium ttf-dejavu"
    echo "installing rp2040js into $1"
    npm install --silent --no-fund --no-audit --prefix "$1/node" rp2040js@1.4.1
}

case "${1:-}" in
compilers) compilers ;;
venv) venv "${2:?directory}" ;;
extras) extras "${2:?directory}" ;;
*) echo "usage: setup.sh compilers | venv DIRECTORY | extras DIRECTORY" >&2; exit 2 ;;
esac
