#!/usr/bin/env python3
"""Documents against sentences alone, by a running server.

Joins lines of source files to documents, translates these by Translate, and
the lines by Generate:

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install grpcio==1.85.1 grpcio-tools==1.85.1 sacrebleu==2.6.0
    build/release/server/attend-server --model models/en-de --port 50051 &
    /tmp/bench/bin/python tests/bench/quality_documents.py \\
        --source flickr2016.en --reference flickr2016.de --beams 4

Checks that what stands between sentences stays, and counts the documents that
give as many sentences back as their lines give alone, and the BLEU of both.

With --markup tags are put at random into the documents, as HTML that is
well-formed XML, too, and the translations are parsed: they must be well-formed, with the same tags, and
with the text that the document has without tags.

With --terms each document gets placeholders, URLs, e-mail addresses and numbers
with units at random places, and a glossary has words of it. Counts those that
the translation has as often as the document.
"""

import argparse
import collections
import pathlib
import random
import re
import sys
import xml.parsers.expat

import grpc
import sacrebleu

from harness import attend_client

ENDS = re.compile(r"[.!?][\"']?$")
BATCH = 50


def lines(paths):
    return [line for path in paths for line in pathlib.Path(path).read_text(
        encoding="utf-8").rstrip("\n").split("\n")]


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", default="localhost:50051")
    parser.add_argument("--source", required=True, nargs="+")
    parser.add_argument("--reference", required=True, nargs="+")
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--beams", type=int, default=1, help="1: greedy")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markup", action="store_true")
    parser.add_argument("--terms", action="store_true")
    return parser.parse_args()


class Translator:
    """Translate and Generate of a server."""

    def __init__(self, address, beams):
        self.pb = attend_client.pb
        self.stub = attend_client.rpc.AttendStub(grpc.insecure_channel(
            address, options=[("grpc.max_receive_message_length", -1)]))
        self.params = self.pb.GenerationParams(num_beams=beams,
                                               max_new_tokens=128)

    def alone(self, texts):
        """The translation of each text as one input."""
        result = []
        for i in range(0, len(texts), BATCH):
            inputs = [self.pb.Input(text=text) for text in texts[i:i + BATCH]]
            response = self.stub.Generate(self.pb.GenerateRequest(
                inputs=inputs, params=self.params), timeout=600)
            result += [r.choices[0].text for r in response.results]
        return result

    def documents(self, texts, markup=False, glossary=()):
        result = []
        terms = [self.pb.GlossaryTerm(source=s, target=t)
                 for s, t in dict(glossary).items()]
        for i in range(0, len(texts), BATCH):
            response = self.stub.Translate(self.pb.TranslateRequest(
                documents=texts[i:i + BATCH], params=self.params, glossary=terms,
                format="DOCUMENT_FORMAT_HTML" if markup
                else "DOCUMENT_FORMAT_TEXT"), timeout=600)
            result += response.results
        for translation in result:
            if translation.status.code:
                sys.exit(f"a document failed: {translation.status.message}")
        return result


def join(rng, source, indices):
    text = ""
    for number, index in enumerate(indices):
        between = ["\n", "\n\n"]
        if number and ENDS.search(source[indices[number - 1]]):
            between += [" ", "  "]
        text += (rng.choice(between) if number else "") + source[index]
    return text


def check_between(text, translation):
    """Exits if what is between the sentences is not the same."""
    before, after = text.encode(), translation.text.encode()
    at = target_at = 0
    for s in translation.sentences:
        if before[at:s.source_begin] != after[target_at:s.target_begin]:
            sys.exit(f"not the same between sentences: {text!r}")
        at, target_at = s.source_end, s.target_end
    if before[at:] != after[target_at:]:
        sys.exit(f"not the same at the end: {text!r}")


def by_line(texts, document, translation):
    """The translation of each line of a document: from the first sentence that
    begins in the line to the last one."""
    after = translation.text.encode()
    found, end = [], 0
    for text in texts:
        begin = document.index(text, end)
        end = begin + len(text)
        within = [s for s in translation.sentences
                  if len(document[:begin].encode()) <= s.source_begin
                  < len(document[:end].encode())]
        found.append(after[within[0].target_begin:within[-1].target_end].decode()
                     if within else "")
    return found


def compare(args, translator, source, reference):
    rng = random.Random(args.seed)
    chosen = [rng.sample(range(len(source)), rng.randint(2, 14))
              for _ in range(args.documents)]
    texts = [join(rng, source, indices) for indices in chosen]
    alone = translator.alone(source)
    counts = [len(t.sentences) for t in translator.documents(source)]
    same = sentences = 0
    hypotheses, singles, references = [], [], []
    for text, indices, translation in zip(texts, chosen,
                                          translator.documents(texts)):
        check_between(text, translation)
        expected = sum(counts[i] for i in indices)
        same += len(translation.sentences) == expected
        sentences += expected
        if len(translation.sentences) != expected:
            print(f"{len(translation.sentences)} sentences, not {expected}: "
                  f"{text!r}")
        hypotheses += by_line([source[i] for i in indices], text, translation)
        singles += [alone[i] for i in indices]
        references += [reference[i] for i in indices]
    print(f"{same} of {args.documents} documents have as many sentences as "
          f"their lines ({len(references)} lines, {sentences} sentences)")
    for name, output in (("documents", hypotheses), ("alone", singles)):
        bleu = sacrebleu.corpus_bleu(output, [references]).score
        print(f"{name}: BLEU {bleu:.2f} of {len(output)} lines")


def mark_up(rng, text):
    """`text` as HTML with elements at random places, in each other."""
    count = 0

    def inline(words, depth):
        nonlocal count
        out, i = [], 0
        while i < len(words):
            draw = rng.random()
            if draw < 0.25 and depth < 8:
                end = rng.randint(i, len(words))
                count += 1
                name = rng.choice(["b", "i", "a", "span"])
                out.append(f'<{name} n="{count}">'
                           + inline(words[i:end], depth + 1) + f"</{name}>")
                i = end
                continue
            if draw < 0.3:
                count += 1
                out.append(f'<img n="{count}"/>')
            out.append(words[i])
            i += 1
        return "".join(out)

    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return "<p>" + inline(re.findall(r"\s+|\S+", escaped), 0) + "</p>"


def parse(text):
    """The tags and the text of well-formed XML."""
    tags, texts = collections.Counter(), []
    parser = xml.parsers.expat.ParserCreate()
    parser.StartElementHandler = lambda name, attributes: tags.update(
        [(name, attributes.get("n"))])
    parser.CharacterDataHandler = texts.append
    parser.Parse(text, True)
    return tags, "".join(texts)


def check_markup(args, translator, source):
    rng = random.Random(args.seed)
    plain = [" ".join(rng.sample(source, rng.randint(1, 4)))
             for _ in range(args.documents)]
    marked_up = [mark_up(rng, text) for text in plain]
    well_formed = complete = tags = 0
    for before, text, translation in zip(
            marked_up, translator.documents(plain),
            translator.documents(marked_up, markup=True)):
        try:
            found, words = parse(translation.text)
        except xml.parsers.expat.ExpatError as error:
            print(f"{error}\n{before}\n{translation.text}")
            continue
        expected, _ = parse(before)
        well_formed += found == expected
        complete += "".join(words.split()) == "".join(text.text.split())
        tags += sum(found.values())
    print(f"{well_formed} of {args.documents} documents are well-formed, with "
          f"all of their tags ({tags}); {complete} have the text that they have "
          "without tags")


TERMS = {
    "placeholder": lambda rng: rng.choice(
        ["{%d}", "{{ user%d }}", "${name%d}", "%%(key%d)s", "%%%d$s"])
    % rng.randint(1, 999),
    "URL": lambda rng: f"https://example.org/{rng.randint(1, 999)}?a=b#c",
    "e-mail address": lambda rng: f"user{rng.randint(1, 999)}@example.org",
    "number": lambda rng: f"{rng.randint(2, 999)} {rng.choice(['km', 'kg', '%'])}",
}


def put_in(rng, text, counts):
    """`text` with terms between its words, and the terms."""
    words, terms = text.split(" "), []
    for kind, make in TERMS.items():
        if rng.random() < 0.5:
            terms.append((kind, make(rng)))
            words.insert(rng.randint(1, len(words)), terms[-1][1])
            counts[kind] += 1
    return " ".join(words), terms


def check_terms(args, translator, source):
    rng = random.Random(args.seed)
    counts, kept = collections.Counter(), collections.Counter()
    nouns = collections.Counter(
        word for line in source for word in re.findall(r"[a-z]{4,}", line))
    glossary = {word: f"Begriff{i}"
                for i, (word, _) in enumerate(nouns.most_common(300)[50:])}
    plain = [" ".join(rng.sample(source, rng.randint(1, 4)))
             for _ in range(args.documents)]
    filled = [put_in(rng, text, counts) for text in plain]
    for (text, terms), translation in zip(filled, translator.documents(
            [text for text, _ in filled], glossary=glossary)):
        for kind, term in terms:
            same = translation.text.count(term) == text.count(term)
            kept[kind] += same
            if not same:
                print(f"{term!r}:\n{text}\n{translation.text}")
        words = re.findall(r"[\w']+", text.lower())
        for source_term, target in glossary.items():
            wanted = words.count(source_term)
            if wanted == 0:
                continue
            counts["term of the glossary"] += wanted
            found = len(re.findall(rf"\b{target}\b", translation.text))
            kept["term of the glossary"] += min(found, wanted)
            if found != wanted:
                print(f"{source_term} {wanted}, {target} {found}:\n{text}\n"
                      f"{translation.text}")
    for kind, count in counts.items():
        print(f"{kind}: {kept[kind]} of {count} kept")


def main():
    args = options()
    source, reference = lines(args.source), lines(args.reference)
    if len(source) != len(reference):
        sys.exit(f"{len(source)} source lines, {len(reference)} reference lines")
    translator = Translator(args.address, args.beams)
    if args.markup:
        check_markup(args, translator, source)
    elif args.terms:
        check_terms(args, translator, source)
    else:
        compare(args, translator, source, reference)


if __name__ == "__main__":
    main()
