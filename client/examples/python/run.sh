#!/bin/sh
# Installs the client from the checkout, and calls every method.
#
#   ATTEND_ADDRESS=localhost:50051 ./run.sh
set -eu
cd "$(dirname "$0")"
pip install --quiet "${ATTEND_PYTHON_CLIENT-../../python}"
python3 calls.py
