"""What deploy/image puts into the image, and the list of it: made here of the
programs as they were built, on whatever Debian this is."""

import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import unittest

import attend_server

ROOT = attend_server.ROOT
IMAGE = ROOT / "deploy/image"
BUILD = pathlib.Path(attend_server.BINARY).parents[1]
EPOCH = 1700000000
LOADER = "lib64/ld-linux-x86-64.so.2"
MAY_MOUNT = subprocess.run(["unshare", "--mount", "true"],
                           capture_output=True).returncode == 0

sys.path.insert(0, str(IMAGE))
import collect as collecting  # noqa: E402
import pack  # noqa: E402
import packages  # noqa: E402
import sbom  # noqa: E402


def run(program, *arguments):
    return subprocess.run(
        [sys.executable, "-B", IMAGE / program, *arguments], text=True,
        capture_output=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)})


def collect(root):
    return run("collect.py", BUILD, root)


def digest_of(root):
    """Of all that an image's layer has of each file."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        state = path.lstat()
        content = (os.readlink(path).encode() if path.is_symlink() else
                   path.read_bytes() if path.is_file() else b"")
        digest.update(f"{path.relative_to(root)} {state.st_mode:o} "
                      f"{state.st_mtime_ns} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


class CollectTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = pathlib.Path(cls.folder.name) / "root"
        result = collect(cls.root)
        if result.returncode != 0:
            raise RuntimeError(result.stderr)
        cls.document = json.loads(
            (cls.root / "usr/share/doc/attend/sbom.spdx.json").read_text())
        cls.parts = {part["SPDXID"]: part
                     for part in cls.document["packages"]}

    def parts_of(self, kind):
        return [part for identity, part in self.parts.items()
                if identity.startswith(f"SPDXRef-{kind}-")]

    def test_programs_need_nothing_else(self):
        for program in "libexec/attend/attend-server-program", "bin/attend":
            command = [self.root / LOADER, "--inhibit-cache", "--library-path",
                       self.root / "usr/lib/x86_64-linux-gnu"]
            path = self.root / "usr" / program
            found = subprocess.run([*command, "--list", path], check=True,
                                   capture_output=True, text=True).stdout
            files = re.findall(r"=> (\S+) \(0x", found)
            self.assertGreater(len(files), 10)
            for file in files:
                self.assertTrue(file.startswith(str(self.root)), file)
            subprocess.run([*command, path, "--help"], check=True,
                           capture_output=True)

    @unittest.skipUnless(MAY_MOUNT, "needs the right to mount")
    def test_it_serves_without_rights_where_nothing_can_be_written(self):
        inside = ["unshare", "--mount", "sh", "-c",
                  'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && '
                  'exec chroot --userspec=65532:65532 "$0" "$@"', self.root]
        model = "--model=/usr/share/attend/models/en-de"
        with attend_server.ready(
                [*inside, "/usr/bin/attend-server", model,
                 *attend_server.FREE_PORTS], env={}) as (_, port):
            made = subprocess.run(
                [*inside, "/usr/bin/attend", "translate",
                 f"--address=127.0.0.1:{port}", "A dog runs."], env={},
                capture_output=True, check=True, text=True)
        self.assertEqual(made.stdout, "Ein Hund rennt.\n")

    def test_there_is_nothing_else_to_run(self):
        self.assertEqual({path.name for path in
                          (self.root / "usr/bin").iterdir()},
                         {"attend", "attend-server"})
        libraries = self.root / "usr/lib"
        for path in self.root.rglob("*"):
            if path.is_file() and path.stat().st_mode & 0o111:
                self.assertTrue(
                    path.parent in (self.root / "usr/bin",
                                    self.root / "usr/libexec/attend",
                                    self.root / "usr/lib64") or
                    path.is_relative_to(libraries), path)

    def test_only_tmp_may_be_written(self):
        for path in self.root.rglob("*"):
            state = path.lstat()
            self.assertEqual(state.st_mtime, EPOCH, path)
            if not path.is_symlink() and path != self.root / "tmp":
                self.assertFalse(state.st_mode & 0o022, path)
        self.assertEqual((self.root / "tmp").stat().st_mode & 0o7777, 0o1777)

    def test_users_and_certificates(self):
        users = (self.root / "etc/passwd").read_text()
        self.assertRegex(users, r"(?m)^attend:x:65532:65532:")
        self.assertEqual(users.count("/sbin/nologin"), users.count("\n"))
        bundle = (self.root / "etc/ssl/certs/ca-certificates.crt").read_text()
        known = list(pathlib.Path("/usr/share/ca-certificates/mozilla")
                     .glob("*.crt"))
        # None of this machine's own.
        self.assertEqual(bundle.count("BEGIN CERTIFICATE"), len(known))

    def test_the_same_files_make_the_same_image(self):
        with tempfile.TemporaryDirectory() as folder:
            again = pathlib.Path(folder) / "root"
            self.assertEqual(collect(again).returncode, 0)
            self.assertEqual(digest_of(again), digest_of(self.root))

    def test_programs_do_not_know_where_they_were_built(self):
        folders = {ROOT, BUILD, pathlib.Path.home(), pathlib.Path(
            os.environ.get("CARGO_HOME", "/none"))} - {pathlib.Path("/")}
        for program in collecting.PROGRAMS.values():
            content = (self.root / program).read_bytes()
            for folder in folders:
                found = re.search(rb"[ -~]*%b/[ -~]*" %
                                  re.escape(os.fsencode(folder)), content)
                self.assertIsNone(found, f"{program}: {found}")

    def test_a_library_that_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            build, root = pathlib.Path(folder) / "build", f"{folder}/root"
            for program in collecting.PROGRAMS:
                copy = build / program
                copy.parent.mkdir(parents=True)
                copy.write_bytes((BUILD / program).read_bytes().replace(
                    b"libstdc++.so.6", b"libnone++.so.6"))
                copy.chmod(0o755)
            (build / "CMakeCache.txt").touch()
            result = run("collect.py", build, root)
        self.assertEqual(result.returncode, 1)
        self.assertIn("libnone++.so.6 => not found", result.stderr)

    def test_packages_are_listed_with_their_versions_and_licences(self):
        status = self.root / "var/lib/dpkg/status.d"
        known = {part["name"]: part["versionInfo"]
                 for part in self.parts_of("deb")}
        for name in "libc6", "libstdc++6", "ca-certificates":
            self.assertIn(name, known)
        for path in status.iterdir():
            version = re.search(r"^Version: (.*)$", path.read_text(), re.M)
            self.assertEqual(known[path.name], version.group(1))
            self.assertTrue((self.root / "usr/share/doc" / path.name /
                             "copyright").stat().st_size)

    def test_crates_are_listed_as_they_are_locked(self):
        lock = tomllib.loads(
            (ROOT / "engine/tokenizer/rust/Cargo.lock").read_text())
        locked = {(crate["name"], crate["version"]): crate.get("checksum")
                  for crate in lock["package"]}
        listed = {(part["name"], part["versionInfo"]):
                  part["checksums"][0]["checksumValue"]
                  for part in self.parts_of("cargo")}
        self.assertTrue({"tokenizers", "minijinja", "llguidance"} <=
                        {name for name, _ in listed})
        for key, checksum in listed.items():
            self.assertEqual(checksum, locked[key], key)
            self.assertTrue(any((self.root / "usr/share/doc").glob(
                f"{key[0]}-{key[1]}/*")) or key[0] in WITHOUT_A_FILE, key)
        # What only builds, or serves other systems, is not in the programs.
        self.assertFalse([name for name, _ in listed
                          if name in ("cc", "syn", "windows-sys")])

    def test_the_model_is_listed(self):
        [model] = self.parts_of("model")
        weights = (ROOT / "models/en-de/model.safetensors").read_bytes()
        self.assertEqual(model["checksums"][0]["checksumValue"],
                         hashlib.sha256(weights).hexdigest())

    def test_the_list_has_the_form_of_spdx(self):
        self.assertEqual(self.document["spdxVersion"], "SPDX-2.3")
        self.assertEqual(self.document["creationInfo"]["created"],
                         "2023-11-14T22:13:20Z")
        [image] = self.document["documentDescribes"]
        self.assertEqual(self.parts[image]["versionInfo"],
                         attend_server.version())
        self.assertEqual(len(self.parts), len(self.document["packages"]))
        contained = {relation["relatedSpdxElement"]
                     for relation in self.document["relationships"]}
        self.assertEqual(contained, set(self.parts) - {image})
        for identity, part in self.parts.items():
            self.assertRegex(identity, r"^SPDXRef-[A-Za-z0-9.-]+$")
            self.assertRegex(part["licenseDeclared"],
                             r"^[A-Za-z0-9.-]+( (AND|OR|WITH) "
                             r"[A-Za-z0-9.-]+)*$")


class PackTest(unittest.TestCase):
    """Of a root that has little in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.archive = self.folder / "image.tar"
        root = self.folder / "root"
        parts = root / sbom.PATH
        parts.parent.mkdir(parents=True)
        parts.write_text("{}")
        (root / "program").write_text("x" * 1000)
        (root / "program").chmod(0o755)
        (root / "link").symlink_to("program")
        (root / "tmp").mkdir()
        (root / "tmp").chmod(0o1777)
        self.root = root

    def pack(self, archive):
        result = run("pack.py", self.root, archive, "abc")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def blob(self, descriptor):
        name = descriptor["digest"].replace(":", "/")
        with tarfile.open(self.archive) as archive:
            content = archive.extractfile(f"blobs/{name}").read()
        self.assertEqual(len(content), descriptor["size"])
        self.assertEqual(f"sha256:{hashlib.sha256(content).hexdigest()}",
                         descriptor["digest"])
        return content

    def test_layout(self):
        printed = self.pack(self.archive)
        with tarfile.open(self.archive) as archive:
            index = json.load(archive.extractfile("index.json"))
            layout = json.load(archive.extractfile("oci-layout"))
        self.assertEqual(layout, {"imageLayoutVersion": "1.0.0"})
        [manifest] = index["manifests"]
        self.assertIn(manifest["digest"], printed)
        image = json.loads(self.blob(manifest))
        with tarfile.open(self.archive) as archive:
            [docker] = json.load(archive.extractfile("manifest.json"))
        self.assertEqual(
            [docker["Config"], *docker["Layers"]],
            ["blobs/" + one["digest"].replace(":", "/")
             for one in (image["config"], *image["layers"])])
        manifest = json.loads(self.blob(manifest))
        image = json.loads(self.blob(manifest["config"]))
        self.assertEqual((image["architecture"], image["os"]),
                         ("amd64", "linux"))
        config = image["config"]
        self.assertEqual(config["Entrypoint"], ["/usr/bin/attend-server"])
        self.assertEqual(config["User"], "65532:65532")
        self.assertEqual(set(config["ExposedPorts"]),
                         {"50051/tcp", "8080/tcp"})
        self.assertEqual(config["Healthcheck"], {
            "Test": ["CMD", "/usr/bin/attend-server", "--health-check"],
            "Interval": 10 * 10**9, "Timeout": 5 * 10**9,
            "StartPeriod": 120 * 10**9})
        labels = config["Labels"]
        self.assertEqual(labels["org.opencontainers.image.revision"], "abc")
        self.assertEqual(labels["org.opencontainers.image.version"],
                         attend_server.version())
        [layer] = manifest["layers"]
        tar = gzip.decompress(self.blob(layer))
        self.assertEqual(image["rootfs"]["diff_ids"],
                         [f"sha256:{hashlib.sha256(tar).hexdigest()}"])
        self.check_layer(tar)

    def check_layer(self, tar):
        with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
            members = {member.name: member for member in archive}
        self.assertEqual(list(members), sorted(members))
        for member in members.values():
            self.assertEqual((member.uid, member.gid, member.mtime),
                             (0, 0, EPOCH))
        self.assertEqual(members["link"].linkname, "program")
        self.assertEqual(members["program"].mode, 0o755)
        self.assertEqual(members["tmp"].mode, 0o1777)

    def test_the_same_root_makes_the_same_archive(self):
        self.pack(self.archive)
        again = self.folder / "again.tar"
        for path in self.root.rglob("*"):  # of another checkout
            os.utime(path, (1, 1), follow_symlinks=False)
        self.pack(again)
        self.assertEqual(self.archive.read_bytes(), again.read_bytes())
        self.assertEqual((self.folder / "again.tar.spdx.json").read_text(),
                         "{}")

    def test_an_instruction_that_is_unknown(self):
        with self.assertRaisesRegex(SystemExit, "VOLUME in the last stage"):
            pack.image_config("FROM scratch\nVOLUME /x\n", "abc")
        with self.assertRaisesRegex(SystemExit, "RUN in the last stage"):
            pack.image_config("FROM a\nRUN b\nFROM scratch\nRUN \\\n"
                              "# why\n  c\n", "abc")


# Crates that were published without a file of their licence.
WITHOUT_A_FILE = set()


class LicenceTest(unittest.TestCase):
    HEAD = "Format: https://x/copyright-format/1.0/\n\n"

    def test_known_names(self):
        text = (self.HEAD + "Files: *\nLicense: Expat\n\n"
                "Files: debian/*\nLicense: GPL-2.0+\n\nLicense: Expat\n text\n")
        self.assertEqual(sbom.debian_licence(text),
                         ("GPL-2.0-or-later AND MIT", ["Expat", "GPL-2.0+"]))

    def test_a_name_that_is_unknown(self):
        text = (self.HEAD + "Files: *\nLicense: Expat\n\n"
                "Files: a\nLicense: GPL-2+ with exception\n")
        self.assertEqual(
            sbom.debian_licence(text),
            ("NOASSERTION", ["Expat", "GPL-2+ with exception"]))

    def test_another_form(self):
        for text in "", "This is free.\n\nLicense: Expat\n", self.HEAD:
            self.assertEqual(sbom.debian_licence(text), ("NOASSERTION", []))

    def test_a_file_of_no_package(self):
        with self.assertRaisesRegex(SystemExit, "of no package: /dev/null"):
            packages.owners(["/bin/bash", "/dev/null"])


if __name__ == "__main__":
    unittest.main()
