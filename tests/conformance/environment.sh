#!/bin/sh
# Makes a virtual environment with the packages of a file of requirements, unless
# it is there. A file optional.txt beside the requirements has packages that not
# every system has; bare.txt those that are installed without what they depend
# on, of which only a part is needed.
#
#   tests/conformance/environment.sh FOLDER REQUIREMENTS
set -eu

folder=${1:?a folder for the environment}
requirements=${2:?a file of requirements}
optional=$(dirname "$requirements")/optional.txt
bare=$(dirname "$requirements")/bare.txt
if [ ! -e "$bare" ]; then bare=; fi

wanted=$(cat "$requirements" ${bare:+"$bare"})
if [ "$(cat "$folder/wanted" 2>/dev/null)" = "$wanted" ]; then
  exit 0
fi
# By uv, which takes a quarter of pip's time, unless only pip knows the way to a
# registry.
install() {
  "$folder/bin/uv" pip install --quiet --python "$folder/bin/python" "$@" \
    2>/dev/null || install_by_pip "$@"
}
install_by_pip() {
  "$folder/bin/pip" install --quiet --no-compile --disable-pip-version-check "$@"
}
rm -rf "$folder"
python3 -m venv "$folder"
install_by_pip uv==0.13.9
install -r "$requirements"
if [ -n "$bare" ]; then install --no-deps -r "$bare"; fi
if [ -e "$optional" ] && ! install -r "$optional" 2>/dev/null; then
  echo "$optional: not for this system"
fi
printf '%s\n' "$wanted" >"$folder/wanted"
