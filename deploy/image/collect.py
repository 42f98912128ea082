#!/usr/bin/env python3
"""Makes the root file system of the image: the programs of a build, the bundled
model, and what the programs need to run: the libraries that they link,
certificates of CAs, names of users. No shell, no package manager.

    deploy/image/collect.py BUILD ROOT

Libraries come from the packages of this Debian. What dpkg knows of them comes
along (in var/lib/dpkg/status.d, where scanners look), and so do licences, those
of crates too, and a list of all parts (sbom.py), in usr/share/doc. Two roots
that are made of the same files are equal to the bit: all times are
SOURCE_DATE_EPOCH (default 0).
"""

import os
import pathlib
import re
import shutil
import sys

import packages
import sbom

# In the build, and in the image. The first one starts the second.
PROGRAMS = {"server/attend-server": "usr/bin/attend-server",
            "libexec/attend/attend-server-program":
                "usr/libexec/attend/attend-server-program",
            "client/attend": "usr/bin/attend"}
DATA = "usr/share/attend"  # where the programs are run
MODEL = "models/en-de"
USERS = """root:x:0:0:root:/:/sbin/nologin
nobody:x:65534:65534:nobody:/:/sbin/nologin
attend:x:65532:65532:attend:/:/sbin/nologin
"""
GROUPS = """root:x:0:
nogroup:x:65534:
attend:x:65532:
"""
FILES = {"etc/passwd": USERS, "etc/group": GROUPS,
         "etc/nsswitch.conf": "hosts: files dns\n"}
# Where programs look for libraries, and for their loader.
LINKS = {"lib": "usr/lib", "lib64": "usr/lib64",
         "etc/os-release": "../usr/lib/os-release"}
CERTIFICATES = pathlib.Path("/usr/share/ca-certificates/mozilla")
LICENCES = pathlib.Path("/usr/share/common-licenses")
GRPC = "usr/share/doc/grpc"


def libraries(program):
    """The files that the loader maps for it, and the loader."""
    text = packages.output("ldd", program)
    if "not found" in text:
        raise SystemExit(f"{program}: a library is missing:\n{text}")
    return re.findall(r"(/\S+) \(0x", text)


def put(root, path, source):
    target = root / str(path).lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    # A checkout, or cargo, may have other modes.
    executable = os.access(source, os.X_OK)
    target.chmod(0o755 if executable else 0o644)


def put_text(root, path, text):
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    target.chmod(0o644)


def put_folder(root, path, source):
    for file in sorted(source.iterdir()):
        put(root, f"{path}/{file.name}", file)


def put_program(target, program):
    target.parent.mkdir(parents=True, exist_ok=True)
    packages.output("strip", "-o", target, program)
    target.chmod(0o755)


def put_patched_grpc(root, build):
    """The licences of a gRPC that is in the programs."""
    cache = (build / "CMakeCache.txt").read_text()
    prefix = re.search(r"^ATTEND_GRPC_PREFIX:\w+=(.+)$", cache, re.M)
    if prefix:
        put_folder(root, GRPC, pathlib.Path(prefix.group(1)) / "share/doc/grpc")


def put_libraries(root, programs):
    """Gives the files that were put."""
    paths = sorted({path for program in programs
                    for path in libraries(program)})
    for path in paths:
        # /lib and /lib64 are links.
        put(root, path if path.startswith("/usr/") else "/usr" + path, path)
    return paths


def put_certificates(root):
    # Only those of the package: this machine may trust others, too.
    texts = [path.read_text() for path in sorted(CERTIFICATES.glob("*.crt"))]
    if not texts:
        raise SystemExit(f"{CERTIFICATES} has no certificates")
    put_text(root, "etc/ssl/certs/ca-certificates.crt",
             "".join(text.rstrip("\n") + "\n" for text in texts))


def put_licences(root, names):
    for name in names:
        put_text(root, f"var/lib/dpkg/status.d/{name}", packages.status(name))
        put(root, packages.copyright_file(name), packages.copyright_file(name))
    put_folder(root, LICENCES, LICENCES)  # which the files above name
    for crate in packages.linked_crates():
        folder = pathlib.Path(crate["manifest_path"]).parent
        target = f"usr/share/doc/{crate['name']}-{crate['version']}"
        for path in sorted(folder.iterdir()):
            if re.match("(?i)(licen[cs]e|copying|notice|unlicense)", path.name):
                put(root, f"{target}/{path.name}", path)


def set_times(root):
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    for folder, folders, names in os.walk(root):
        for name in folders + names + ["."]:
            os.utime(pathlib.Path(folder) / name, (epoch, epoch),
                     follow_symlinks=False)


def main(build, root):
    os.umask(0o022)
    root.mkdir()
    programs = [build / name for name in PROGRAMS]
    for program, target in zip(programs, PROGRAMS.values()):
        put_program(root / target, program)
    put_patched_grpc(root, build)
    put_folder(root, f"{DATA}/{MODEL}", packages.SOURCE / MODEL)
    found = put_libraries(root, programs)
    put_certificates(root)
    put(root, "/usr/lib/os-release", "/usr/lib/os-release")
    put(root, "usr/share/doc/attend/LICENSE", packages.SOURCE / "LICENSE")
    for path, text in FILES.items():
        put_text(root, path, text)
    for link, target in LINKS.items():
        (root / link).symlink_to(target)
    put_licences(root, sorted(packages.owners(found) |
                              {"base-files", "ca-certificates"}))
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)
    put_text(root, sbom.PATH, sbom.text(root))
    set_times(root)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} BUILD ROOT")
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
