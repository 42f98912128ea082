"""What Debian and cargo on this machine say of what they have installed."""

import json
import os
import pathlib
import re
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RUST = SOURCE / "engine/tokenizer/rust"


def output(*command, check=True):
    # cargo is found where rustup puts it, too.
    path = f"{os.environ['PATH']}:{pathlib.Path.home() / '.cargo/bin'}"
    return subprocess.run(
        [str(word) for word in command], check=check, stdout=subprocess.PIPE,
        stderr=None if check else subprocess.DEVNULL, text=True,
        env={**os.environ, "LC_ALL": "C", "PATH": path}).stdout


def owners(paths):
    """The packages that these files are from."""
    # dpkg knows a file of /usr/lib by the name that it had in the package.
    names = {}
    for path in paths:
        real = os.path.realpath(path)
        names[real] = names[real.removeprefix("/usr")] = path
    found = {}
    for line in output("dpkg-query", "-S", *names, check=False).splitlines():
        package, name = re.match(r"([^:,\s]+).*: (/.*)", line).groups()
        found[names[name]] = package
    missing = set(paths) - set(found)
    if missing:
        raise SystemExit(f"of no package: {', '.join(sorted(missing))}")
    return set(found.values())


def status(package):
    return output("dpkg-query", "--status", package)


def copyright_file(package):
    return pathlib.Path(f"/usr/share/doc/{package}/copyright")


def linked_crates():
    """What cargo says of the crates that it links into the programs, but our
    own; in the order of their names."""
    host = re.search(r"^host: (\S+)$", output("rustc", "-vV"), re.M).group(1)
    manifest = ["--locked", "--offline", "--manifest-path", RUST / "Cargo.toml"]
    tree = output("cargo", "tree", *manifest, "--target", host, "--prefix",
                  "none", "--edges", "normal,no-proc-macro", "--format", "{p}")
    linked = {tuple(re.match(r"(\S+) v(\S+)", line).groups())
              for line in tree.splitlines()}
    known = json.loads(output("cargo", "metadata", *manifest,
                              "--format-version", "1", "--filter-platform",
                              host))["packages"]
    return sorted((crate for crate in known if crate["source"] and
                   (crate["name"], crate["version"]) in linked),
                  key=lambda crate: (crate["name"], crate["version"]))
