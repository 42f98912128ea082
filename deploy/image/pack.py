#!/usr/bin/env python3
"""Packs a root file system that collect.py made into an OCI archive, as the last
stage of the Dockerfile says, and puts the list of its parts beside it:
ARCHIVE.spdx.json. Prints the digest of the image and its sizes.

    deploy/image/pack.py ROOT ARCHIVE REVISION

The same root makes the same archive, to the bit: names are sorted, all files
are root's, and all times are SOURCE_DATE_EPOCH (default 0).
"""

import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shlex
import shutil
import sys
import tarfile

import packages
import sbom

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
MEDIA = "application/vnd.oci.image."
UNITS = {"s": 10**9, "m": 60 * 10**9}


def last_stage(dockerfile):
    """Its instructions, as (NAME, the rest of it)."""
    lines = [line for line in dockerfile.splitlines()
             if line.strip() and not line.lstrip().startswith("#")]
    text = "\n".join(lines).replace("\\\n", " ")
    instructions = [tuple(line.split(maxsplit=1)) for line in
                    text.splitlines()]
    last = max(i for i, (name, _) in enumerate(instructions) if name == "FROM")
    return instructions[last + 1:]


def health_check(text):
    """--interval=10s ... CMD ["program", ...], in Docker's form. OCI has none,
    and lets images have more than it knows."""
    options, command = text.split("CMD", 1)
    check = {"Test": ["CMD", *json.loads(command)]}
    for name, number, unit in re.findall(r"--([\w-]+)=(\d+)([sm])\b", options):
        key = "".join(word.capitalize() for word in name.split("-"))
        check[key] = int(number) * UNITS[unit]
    return check


def image_config(dockerfile, revision):
    """What to run in a container, and how."""
    config = {"Labels": {}}
    for name, rest in last_stage(dockerfile):
        if name == "LABEL":
            for pair in shlex.split(rest.replace("$REVISION", revision)):
                key, value = pair.split("=", 1)
                config["Labels"][key] = value
        elif name == "WORKDIR":
            config["WorkingDir"] = rest
        elif name == "USER":
            config["User"] = rest
        elif name == "EXPOSE":
            config["ExposedPorts"] = {f"{port}/tcp": {}
                                      for port in rest.split()}
        elif name == "ENTRYPOINT":
            config["Entrypoint"] = json.loads(rest)
        elif name == "HEALTHCHECK":
            config["Healthcheck"] = health_check(rest)
        elif name not in ("ARG", "COPY"):
            raise SystemExit(f"Dockerfile: {name} in the last stage is not "
                             "known to pack.py")
    return config


def entry(name, size=0, kind=tarfile.REGTYPE, mode=0o644):
    result = tarfile.TarInfo(name)
    result.size, result.type, result.mode, result.mtime = (
        size, kind, mode, EPOCH)
    return result


def add_path(archive, path, name):
    mode = path.lstat().st_mode & 0o7777
    if path.is_symlink():
        link = entry(name, kind=tarfile.SYMTYPE, mode=0o777)
        link.linkname = os.readlink(path)
        archive.addfile(link)
    elif path.is_dir():
        archive.addfile(entry(name, kind=tarfile.DIRTYPE, mode=mode))
    else:
        with open(path, "rb") as file:
            archive.addfile(entry(name, path.stat().st_size, mode=mode), file)


def layer(root):
    """All of a root as a tar file."""
    result = io.BytesIO()
    with tarfile.open(fileobj=result, mode="w",
                      format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(root.rglob("*")):
            add_path(archive, path, str(path.relative_to(root)))
    return result.getvalue()


class Blobs:
    """The contents of an OCI archive, by their digests."""

    def __init__(self):
        self.blobs = {}

    def add(self, content, kind):
        """Gives its descriptor."""
        if not isinstance(content, bytes):
            content = json.dumps(content, indent=1).encode()
        digest = hashlib.sha256(content).hexdigest()
        self.blobs[f"blobs/sha256/{digest}"] = content
        return {"mediaType": MEDIA + kind, "digest": f"sha256:{digest}",
                "size": len(content)}


def fill(blobs, tar, config):
    """Adds an image of one layer; gives the descriptor of its manifest."""
    created = datetime.datetime.fromtimestamp(
        EPOCH, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    packed = blobs.add(gzip.compress(tar, 9, mtime=0), "layer.v1.tar+gzip")
    image = blobs.add({
        "created": created, "architecture": "amd64", "os": "linux",
        "config": config,
        "rootfs": {"type": "layers", "diff_ids": [
            f"sha256:{hashlib.sha256(tar).hexdigest()}"]},
        "history": [{"created": created, "created_by": "deploy/image"}]},
        "config.v1+json")
    return blobs.add({"schemaVersion": 2, "mediaType": f"{MEDIA}manifest.v1+json",
                      "config": image, "layers": [packed],
                      "annotations": config["Labels"]}, "manifest.v1+json")


def for_docker(blobs, manifest, name):
    """What `docker load` of Debian's Docker reads in place of index.json."""
    def path(descriptor):
        return "blobs/" + descriptor["digest"].replace(":", "/")

    image = json.loads(blobs.blobs[path(manifest)])
    return json.dumps([{
        "Config": path(image["config"]), "RepoTags": [name],
        "Layers": [path(one) for one in image["layers"]]}]).encode()


def write(path, files):
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        for folder in "blobs", "blobs/sha256":
            archive.addfile(entry(folder, kind=tarfile.DIRTYPE, mode=0o755))
        for name in sorted(files):
            archive.addfile(entry(name, len(files[name])),
                            io.BytesIO(files[name]))


def main(root, archive, revision):
    config = image_config((packages.SOURCE / "Dockerfile").read_text(), revision)
    version = config["Labels"]["org.opencontainers.image.version"]
    tar, blobs = layer(root), Blobs()
    manifest = fill(blobs, tar, config)
    index = {"schemaVersion": 2, "mediaType": f"{MEDIA}index.v1+json",
             "manifests": [{
                 **manifest, "platform": {"architecture": "amd64",
                                          "os": "linux"},
                 # The names by which others and Docker load it.
                 "annotations": {
                     "org.opencontainers.image.ref.name": version,
                     "io.containerd.image.name":
                         f"docker.io/library/attend:{version}"}}]}
    write(archive, {**blobs.blobs, "manifest.json": for_docker(
                        blobs, manifest, f"attend:{version}"),
                    "index.json": json.dumps(index).encode(),
                    "oci-layout": b'{"imageLayoutVersion": "1.0.0"}'})
    shutil.copyfile(root / sbom.PATH, f"{archive}.spdx.json")
    packed = sum(len(blob) for blob in blobs.blobs.values())
    print(f"{archive}: {manifest['digest']}, {packed / 1e6:.1f} MB, "
          f"unpacked {len(tar) / 1e6:.1f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(f"usage: {sys.argv[0]} ROOT ARCHIVE REVISION")
    main(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3])
