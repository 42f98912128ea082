"""The parts of a root file system that collect.py makes, as SPDX 2.3 in JSON:
packages of Debian, the crates and headers that the programs were built of, the
source of gRPC, and models.

A licence that has no name in SPDX is NOASSERTION, with Debian's words for it.
SOURCE_DATE_EPOCH (default 0) is the time of the document.
"""

import datetime
import hashlib
import json
import os
import re
import tomllib
import uuid

import packages

# Of the document in the root.
PATH = "usr/share/doc/attend/sbom.spdx.json"

# Names of licences in Debian that SPDX has by another name.
SPDX_NAMES = {
    "apache-2": "Apache-2.0", "apache-2.0": "Apache-2.0",
    "bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause",
    "bsl-1.0": "BSL-1.0", "curl": "curl", "expat": "MIT",
    "gpl-1+": "GPL-1.0-or-later", "gpl-2": "GPL-2.0-only",
    "gpl-2+": "GPL-2.0-or-later", "gpl-3": "GPL-3.0-only",
    "gpl-3+": "GPL-3.0-or-later", "isc": "ISC",
    "lgpl-2+": "LGPL-2.0-or-later", "lgpl-2.1": "LGPL-2.1-only",
    "lgpl-2.1+": "LGPL-2.1-or-later", "lgpl-3+": "LGPL-3.0-or-later",
    "mit": "MIT", "mpl-2.0": "MPL-2.0", "zlib": "Zlib"}
# Headers that are compiled into the programs; their packages have no libraries.
HEADERS = ("/usr/include/boost/version.hpp", "/usr/include/CLI/CLI.hpp",
           "/usr/include/nlohmann/json.hpp", "/usr/include/xxhash.h")


def part(kind, name, version, licence, **more):
    """An element, with what SPDX asks of each."""
    identity = re.sub(r"[^A-Za-z0-9.-]", "-", f"{kind}-{name}-{version}")
    return {"SPDXID": f"SPDXRef-{identity}", "name": name,
            "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
            "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def purl(locator):
    return {"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER",
                              "referenceType": "purl",
                              "referenceLocator": locator}]}


def sha256(digest):
    return {"checksums": [{"algorithm": "SHA256", "checksumValue": digest}]}


def debian_licence(text):
    """Of a copyright file: an expression of SPDX, and Debian's words for it."""
    if "copyright-format/1" not in text.split("\n\n")[0]:
        return "NOASSERTION", []
    words = sorted({word.strip() for paragraph in text.split("\n\n")
                    if re.search(r"^Files:", paragraph, re.M)
                    for word in re.findall(r"^License: *(\S.*)$", paragraph,
                                           re.M)})
    names = [SPDX_NAMES.get(re.sub(r"\.0\+$", "+", word.lower()))
             for word in words]
    if not words or None in names:
        return "NOASSERTION", words
    return " AND ".join(sorted(set(names))), words


def debian_part(status, copyright_text, use):
    """`status`: the paragraph of dpkg."""
    fields = dict(re.findall(r"^([\w-]+): (.*)$", status, re.M))
    name, version = fields["Package"], fields["Version"]
    licence, words = debian_licence(copyright_text)
    more = {}
    if words:
        more["licenseComments"] = ("Of any file of the source package: " +
                                   ", ".join(words))
    source = fields.get("Source", name).split(" ")[0]
    escaped = version.replace("+", "%2B").replace(":", "%3A")
    return part("deb", name, version, licence,
                supplier="Organization: Debian",
                sourceInfo=f"{use}; Debian's source package is {source}",
                **more, **purl(f"pkg:deb/debian/{name}@{escaped}"
                               f"?arch={fields['Architecture']}"))


def debian_parts(root):
    known = root / "var/lib/dpkg/status.d"
    uses = {path.name: "files" for path in known.iterdir()}
    uses |= {name: "headers, compiled into the programs"
             for name in packages.owners(HEADERS)}
    return [debian_part(packages.status(name),
                        packages.copyright_file(name).read_text(
                            errors="replace"), uses[name])
            for name in sorted(uses)]


def checksums(lock):
    """Of the crates in a Cargo.lock, by name and version."""
    crates = tomllib.loads((packages.SOURCE / lock).read_text())["package"]
    return {(crate["name"], crate["version"]): crate["checksum"]
            for crate in crates if "checksum" in crate}


def crate_part(name, version, licence, checksum):
    # Older crates write so what an expression calls OR.
    licence = re.sub(r" */ *", " OR ", licence or "NOASSERTION")
    return part("cargo", name, version, licence, supplier="NOASSERTION",
                **sha256(checksum), **purl(f"pkg:cargo/{name}@{version}"))


def crate_parts():
    locked = checksums("engine/tokenizer/rust/Cargo.lock")
    return [crate_part(crate["name"], crate["version"], crate["license"],
                       locked[crate["name"], crate["version"]])
            for crate in packages.linked_crates()]


def grpc_parts(root):
    """deploy/grpc's, if its licences are there."""
    if not (root / "usr/share/doc/grpc").is_dir():
        return []
    return [crate_part(name, version, "Apache-2.0", checksum)
            for (name, version), checksum in
            checksums("deploy/grpc/Cargo.lock").items()
            if name == "grpcio-sys"]


def model_parts(root):
    weights = (root / "usr/share/attend/models").glob("*/model.safetensors")
    for path in sorted(weights):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        yield part("model", path.parent.name, digest[:12], "NOASSERTION",
                   supplier="NOASSERTION", primaryPackagePurpose="OTHER",
                   summary="Weights of a model. The README.md beside them "
                           "names the data and their licences.",
                   **sha256(digest))


def text(root):
    cmake = (packages.SOURCE / "CMakeLists.txt").read_text()
    version = re.search(r"project\(attend VERSION (\S+)", cmake).group(1)
    image = part("image", "attend", version, "Apache-2.0",
                 supplier="NOASSERTION", primaryPackagePurpose="CONTAINER")
    parts = [*debian_parts(root), *grpc_parts(root), *crate_parts(),
             *model_parts(root)]
    name = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([image, *parts]))
    created = datetime.datetime.fromtimestamp(
        int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT", "name": f"attend-{version}",
        "documentNamespace": f"urn:uuid:{name}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: attend-sbom"]},
        "documentDescribes": [image["SPDXID"]],
        "packages": [image, *parts],
        "relationships": [
            {"spdxElementId": image["SPDXID"], "relationshipType": "CONTAINS",
             "relatedSpdxElement": each["SPDXID"]} for each in parts]},
        indent=1) + "\n"
