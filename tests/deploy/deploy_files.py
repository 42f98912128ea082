"""The files of deploy/, as the tests in this folder read them."""

import re
import unittest

import attend_server
import yaml

ROOT = attend_server.ROOT
# After the drain the server takes up to this long to flush and end.
FLUSH_SECONDS = 15


def read_yaml(path):
    with open(ROOT / path) as file:
        return list(yaml.safe_load_all(file))


def dockerfile():
    """Instructions, as (NAME, the rest of it)."""
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines
            if line and not line.startswith("#")]


def drain_seconds(environment):
    """The longest time from a signal to the end of the process."""
    def value(name):
        default = re.search(rf"{name}, default ([^)]+)\)",
                            attend_server.help_text()).group(1)
        text = environment.get(name, default)
        return 0 if text == "0" else attend_server.seconds(text)
    return (value("ATTEND_DRAIN_DELAY") + value("ATTEND_DRAIN_TIMEOUT") +
            FLUSH_SECONDS)


class DeployTest(unittest.TestCase):
    def check_environment(self, environment):
        self.assertLessEqual(set(environment), attend_server.variables())
        attend_server.help_text(environment)  # raises if a value is no good
