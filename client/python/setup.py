"""Makes the stubs of attend.v1 while the package is built."""

import pathlib
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
PROTOS = ("attend/v1/attend.proto", "attend/v1/status_details.proto")
# An sdist has the definitions beside this file; the repository two folders up.
FOLDER = next(folder for folder in (HERE / "proto", HERE.parents[1] / "proto")
              if folder.is_dir())


class BuildPy(build_py):
    def run(self):
        super().run()
        from grpc_tools import protoc  # not there for what only asks for names
        target = (HERE / "src" if getattr(self, "editable_mode", False)
                  else pathlib.Path(self.build_lib))
        included = pathlib.Path(protoc.__file__).parent / "_proto"
        if protoc.main(["protoc", f"-I{FOLDER}", f"-I{included}",
                        f"--python_out={target}", f"--pyi_out={target}",
                        f"--grpc_python_out={target}", *PROTOS]):
            raise RuntimeError(f"{FOLDER}: protoc made no stubs")
        # It has no methods.
        (target / "attend/v1/status_details_pb2_grpc.py").unlink()


class Sdist(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for proto in PROTOS:
            copy = pathlib.Path(base_dir) / "proto" / proto
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(FOLDER / proto, copy)


setup(cmdclass={"build_py": BuildPy, "sdist": Sdist})
