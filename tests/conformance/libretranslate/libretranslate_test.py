"""LibreTranslate's API, by its own client. See run.sh."""

import json
import unittest
import urllib.error

from conformance import ROOT, Table
from libretranslatepy import LibreTranslateAPI
from served import TIMEOUT, Server

TABLE = Table("documents.md", "LibreTranslate")
CLIENT = "`libretranslatepy`"
SENTENCES = {"Two dogs are playing in the snow.":
             "Zwei Hunde spielen im Schnee.",
             "A man is riding a bicycle.": "Ein Mann fährt Fahrrad."}


class ClientTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = Server({"en-de": ROOT / "models/en-de"})
        cls.client = LibreTranslateAPI(
            f"http://127.0.0.1:{cls.server.http_port}", api_key="none")

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def translate(self, text, source="en", target="de"):
        return self.client.translate(text, source, target, timeout=TIMEOUT)

    def error(self, code, call, *args):
        """What the server says to a call that must fail."""
        with self.assertRaises(urllib.error.HTTPError) as raised:
            call(*args)
        with raised.exception as error:
            self.assertEqual(error.code, code)
            return json.load(error)["error"]

    @TABLE.row("POST /translate", CLIENT, "a text of one sentence")
    def test_sentences(self):
        for source, target in SENTENCES.items():
            self.assertEqual(self.translate(source), target)

    @TABLE.row("POST /translate", CLIENT,
               "paragraphs: each sentence as alone, all between them as it was")
    def test_paragraphs(self):
        page = "  {}\n\n- {}\n* {} {}\n".format(*SENTENCES, *SENTENCES)
        self.assertEqual(self.translate(page),
                         "  {}\n\n- {}\n* {} {}\n".format(
                             *SENTENCES.values(), *SENTENCES.values()))

    @TABLE.row("POST /translate", CLIENT,
               "`auto`, where one language can be meant; a text in the target "
               "language")
    def test_auto(self):
        for source, target in SENTENCES.items():
            self.assertEqual(self.translate(source, "auto"), target)
            self.assertEqual(self.translate(target, "de"), target)

    @TABLE.row("POST /translate", CLIENT,
               "errors that name the field: unknown languages")
    def test_errors(self):
        self.assertIn("source is 'fr'", self.error(
            400, self.translate, "A dog.", "fr"))
        self.assertIn("target is 'fr'", self.error(
            400, self.translate, "A dog.", "en", "fr"))

    @TABLE.row("GET /languages", CLIENT, "codes, names and targets")
    def test_languages(self):
        self.assertEqual(self.client.languages(TIMEOUT), [
            {"code": "de", "name": "German", "targets": []},
            {"code": "en", "name": "English", "targets": ["de"]}])

    @TABLE.row("POST /detect", CLIENT,
               "absent, with the status 404: no model detects languages")
    def test_detect(self):
        self.assertIn("not found", self.error(
            404, self.client.detect, "A dog."))


if __name__ == "__main__":
    TABLE.main()
