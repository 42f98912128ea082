"""Certificates and keys, for servers that ask who calls."""

import hashlib
import json
import pathlib
import subprocess


class Certificates:
    """A CA, and what it has signed, as files of a directory."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.ca = self.directory / "ca.crt"
        self._openssl("req", "-x509", *self._new_key("ca"), "-days", "30",
                      "-subj", "/CN=attack-ca", "-out", str(self.ca))

    def sign(self, name, days=30):
        """The files of a certificate for 127.0.0.1, and of its key."""
        request = str(self.directory / f"{name}.csr")
        certificate = str(self.directory / f"{name}.crt")
        self._openssl("req", *self._new_key(name), "-subj", f"/CN={name}",
                      "-addext", "subjectAltName=IP:127.0.0.1",
                      "-out", request)
        self._openssl("x509", "-req", "-in", request, "-CA", str(self.ca),
                      "-CAkey", self._key("ca"), "-copy_extensions", "copy",
                      "-days", str(days), "-out", certificate)
        return certificate, self._key(name)

    def _key(self, name):
        return str(self.directory / f"{name}.key")

    def _new_key(self, name):
        return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-keyout", self._key(name))

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True,
                       stderr=subprocess.DEVNULL)


def write_tenants(path, keys, **fields):
    """Replaces the file of tenants at once. `keys` has a key by name; the
    first tenant is an administrator, all have `fields`."""
    tenants = [{"name": name, "administrator": number == 0, **fields,
                "keys": [hashlib.sha256(key.encode()).hexdigest()]}
               for number, (name, key) in enumerate(keys.items())]
    new = pathlib.Path(f"{path}.new")
    new.write_text(json.dumps({"tenants": tenants}))
    new.rename(path)
