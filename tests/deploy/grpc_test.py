"""deploy/grpc/build.sh, and how CMake finds what it built. A few empty files
stand for gRPC, whose build takes long."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

import attend_server

ROOT = attend_server.ROOT
LOCK = (ROOT / "deploy/grpc/Cargo.lock").read_text()
[(CRATE_VERSION, CHECKSUM)] = re.findall(
    r'name = "grpcio-sys"\nversion = "(.*)"\nsource = .*\nchecksum = "(.*)"',
    LOCK)
[VERSION] = re.findall(r"\+(\d+\.\d+\.\d+)", CRATE_VERSION)
CRATE = f"grpcio-sys-{CRATE_VERSION}"

# Builds the files that build.sh installs, and puts them where gRPC does.
CMAKE_LISTS = """
cmake_minimum_required(VERSION 3.25)
project(grpc LANGUAGES C)
find_package(Protobuf REQUIRED CONFIG)
file(WRITE ${PROJECT_BINARY_DIR}/main.c "int main(void) { return 0; }")
foreach(name gpr address_sorting upb grpc grpc++)
  add_library(${name} STATIC ${PROJECT_BINARY_DIR}/main.c)
endforeach()
add_dependencies(grpc++ gpr address_sorting upb grpc)
add_executable(grpc_cpp_plugin ${PROJECT_BINARY_DIR}/main.c)
set(fields "Description: none\\nCflags: -I\\${includedir}\\nVersion:")
set(paths "prefix=/nowhere\\nincludedir=\\${prefix}/include\\n\
libdir=\\${prefix}/lib\\n")
set(files ${PROJECT_BINARY_DIR}/libs/opt/pkgconfig)
file(WRITE ${files}/gpr.pc "${paths}Name: gpr\\n${fields} 33.0.0\\nRequires: \\n\
Requires.private: \\nLibs: -L\\${libdir} -lgpr\\nLibs.private: \\n")
file(WRITE ${files}/grpc.pc "${paths}Name: grpc\\n${fields} 33.0.0\\n\
Requires: gpr\\nRequires.private: openssl\\nLibs: -L\\${libdir} -lgrpc\\n\
Libs.private: -lupb\\n")
file(WRITE ${files}/grpc++.pc "${paths}Name: grpc++\\n${fields} @VERSION@\\n\
Requires: grpc\\nRequires.private: \\nLibs: -L\\${libdir} -lgrpc++\\n\
Libs.private: \\n")
""".replace("@VERSION@", VERSION)

PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(grpc_found LANGUAGES NONE)
include({ROOT}/proto/find_grpc.cmake)
message("version ${{grpcpp_VERSION}}")
get_target_property(libraries PkgConfig::grpcpp INTERFACE_LINK_LIBRARIES)
message("found ${{GRPC_CPP_PLUGIN}};${{libraries}};end")
"""


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


class BuildTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.scratch = pathlib.Path(directory.name).resolve()
        self.prefix = self.scratch / "prefix"
        self.scripts = self.scratch / "deploy"
        shutil.copytree(ROOT / "deploy/grpc", self.scripts)
        self.make_crate()
        self.make_cargo()

    def make_crate(self):
        source = self.scratch / CRATE / "grpc"
        write(source / "CMakeLists.txt", CMAKE_LISTS)
        for name in ("LICENSE", "NOTICE.txt", "include/grpc/grpc.h",
                     "include/grpcpp/grpcpp.h"):
            write(source / name, name)
        for part in ("address_sorting", "upb", "utf8_range", "xds", "xxhash"):
            write(source / "third_party" / part / "LICENSE", part)
        self.crate = self.scratch / f"registry/cache/mirror/{CRATE}.crate"
        self.crate.parent.mkdir(parents=True)
        with tarfile.open(self.crate, "w:gz") as archive:
            archive.add(self.scratch / CRATE, CRATE)

    def make_cargo(self):
        """A cargo that has downloaded the crate, and notes its calls."""
        manifest = self.scratch / f"registry/src/mirror/{CRATE}/Cargo.toml"
        self.calls = self.scratch / "calls"
        write(self.scratch / "bin/cargo", f"""#!/bin/sh
echo "$*" >>{self.calls}
[ "$1" = fetch ] || echo '{{"packages":[{{"id":"a","manifest_path":"/b/src/c/d\
/Cargo.toml"}},{{"manifest_path":"{manifest}","metadata":null}}]}}'
""", 0o755)
        write(self.scratch / "bin/rustc", "#!/bin/sh\necho host: here\n", 0o755)

    def lock_this_crate(self):
        digest = hashlib.sha256(self.crate.read_bytes()).hexdigest()
        write(self.scripts / "Cargo.lock", LOCK.replace(CHECKSUM, digest))

    def build(self):
        path = f"{self.scratch / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            [self.scripts / "build.sh", self.prefix], capture_output=True,
            text=True, env=os.environ | {"PATH": path, "JOBS": "1"})

    def find(self, prefix, **environment):
        write(self.scratch / "found/CMakeLists.txt", PROJECT)
        return subprocess.run(
            ["cmake", "--fresh", "-G", "Ninja", "-S", self.scratch / "found",
             "-B", self.scratch / "found/build",
             f"-DATTEND_GRPC_PREFIX={prefix}"],
            capture_output=True, text=True, env=os.environ | environment)

    def test_a_file_with_another_hash_is_refused(self):
        refused = self.build()
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn(f"the SHA-256 of {self.crate} is not {CHECKSUM}",
                      refused.stderr)
        self.assertFalse((self.prefix / "lib").exists())
        self.assertIn("--locked", self.calls.read_text())

    def test_what_was_built_is_found_whole(self):
        self.lock_this_crate()
        built = self.build()
        self.assertEqual(built.returncode, 0, built.stderr + built.stdout)
        calls = self.calls.read_text()
        self.assertEqual(self.build().returncode, 0)
        self.assertEqual(self.calls.read_text(), calls)  # nothing to do
        self.assertEqual(
            len(list((self.prefix / "share/doc/grpc").iterdir())), 2 + 5)
        moved = self.prefix.rename(self.scratch / "moved")
        found = self.find(moved)
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertIn(f"version {VERSION}\n", found.stderr)
        files = re.search("found (.*);end", found.stderr)[1].split(";")
        for name in ("bin/grpc_cpp_plugin", "lib/libgrpc++.a", "lib/libgrpc.a", "lib/libupb.a"):
            self.assertIn(str(moved / name), files)
        self.assertTrue(any(re.search(r"\bssl$|libssl", file)
                            for file in files), files)
        other = self.scratch / "other"
        shutil.copytree(moved, other)
        mixed = self.find(moved, PKG_CONFIG_PATH=f"{other}/lib/pkgconfig")
        self.assertNotEqual(mixed.returncode, 0)
        self.assertIn(f"{other}/lib is not in ATTEND_GRPC_PREFIX",
                      " ".join(mixed.stderr.split()))

    def test_an_empty_prefix_is_an_error(self):
        self.prefix.mkdir()
        missing = self.find(self.prefix)
        self.assertNotEqual(missing.returncode, 0)
        self.assertIn(f"deploy/grpc/build.sh {self.prefix}",
                      " ".join(missing.stderr.split()))


class PinTest(unittest.TestCase):
    def test_texts_name_the_version(self):
        for path in ("deploy/grpc/build.sh", "docs/security.md"):
            self.assertTrue(VERSION in (ROOT / path).read_text(), path)


if __name__ == "__main__":
    unittest.main()
