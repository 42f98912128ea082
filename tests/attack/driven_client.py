"""A client of any package, by its driver of tests/client/conformance."""

import json
import shlex
import subprocess


class DrivenClient:
    """One process, which makes one call at a time: each is a case, and all are
    made with the same client."""

    def __init__(self, command, target, hedge_after):
        self._process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, text=True,
            stdout=subprocess.PIPE)
        self._case = {
            "target": ",".join(target), "environment": {}, "keep": True,
            "client": {"timeout": 30, **(
                {"hedgeAfter": hedge_after} if hedge_after else {})}}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        if self._process.wait(60) != 0:
            raise SystemExit(f"a driver ended: {self._process.returncode}")

    def generate(self, text):
        return self._made("generate", text, {})[0][0]

    def stream(self, text, params):
        return "".join(self._made("stream", text, params))

    def _made(self, method, text, params):
        print(json.dumps(self._case | {"call": {
            "method": method,
            "request": {"inputs": [{"text": text}], "params": params}}}),
            file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a driver has ended")
        outcome = json.loads(line)
        if outcome.get("code") or outcome.get("refused"):
            raise RuntimeError(f"{outcome.get('code')} "
                               f"{outcome.get('message')}")
        return outcome["values"][0]


class PythonClient:
    """That of client/python, in this process; threads may share it."""

    def __init__(self, target, hedge_after):
        import attend
        self._client = attend.Client(
            target, timeout=30,
            retry=attend.Retry(hedge_after=hedge_after or None))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._client.close()

    def generate(self, text):
        return self._client.generate(text)[0].text

    def stream(self, text, params):
        names = {"minNewTokens": "min_new_tokens", "numBeams": "num_beams",
                 "maxNewTokens": "max_new_tokens"}
        return "".join(self._client.stream(text, **{
            names[key]: value for key, value in params.items()}))
