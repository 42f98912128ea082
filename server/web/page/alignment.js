// A result and its source, word by word, with lines from the words of the result
// to those that they were made from.

import {drawn, element} from './dom.js';

/** The words of a text, with their places: [begin, end) in characters. */
function wordsOf(text) {
  const parts = globalThis.Intl?.Segmenter ?
      [...new Intl.Segmenter(undefined, {granularity: 'word'}).segment(text)]
          .map(({segment, index}) => ({text: segment, begin: index})) :
      [...text.matchAll(/\S+|\s+/g)]
          .map((found) => ({text: found[0], begin: found.index}));
  return parts.map((part) => ({
    ...part, end: part.begin + part.text.length, space: !part.text.trim(),
    others: new Set(),
  }));
}

/** Places of source tokens in characters; the server counts bytes. */
function sourcePlaces(text, tokens) {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  const characters = (at) => decoder.decode(bytes.subarray(0, at)).length;
  return tokens.map(({begin = 0, end = 0}) => ({
    begin: characters(begin), end: characters(end),
  }));
}

/** Places of a result's tokens, found by their pieces; null: not in the text. */
function targetPlaces(text, pieces) {
  let at = 0;
  return pieces.map((piece) => {
    const letters = piece.replace(/[▁Ġ]/g, ' ').trim();
    const begin = letters ? text.indexOf(letters, at) : -1;
    if (begin < 0 || text.slice(at, begin).trim()) return null;
    at = begin + letters.length;
    return {begin, end: at};
  });
}

const within = (words, place) => words.filter(
    (word) => !word.space && word.begin < place.end && place.begin < word.end);

/** Notes in each word the words of the other text that belong to it. */
function align(source, target, sources, targets, links) {
  targets.forEach((place, index) => {
    const from = sources[links[index] ?? -1];
    if (!place || !from) return;
    for (const word of within(target, place)) {
      for (const other of within(source, from)) {
        word.others.add(other);
        other.others.add(word);
      }
    }
  });
}

/** A sentence of Translate, with alignments and log_probs. */
export function alignedTexts({text = '', choice, sourceTokens = []}) {
  const {text: result = '', logProbs = [], alignment} = choice;
  const source = wordsOf(text), target = wordsOf(result);
  align(source, target, sourcePlaces(text, sourceTokens),
        targetPlaces(result, logProbs.map(({token}) => token.piece ?? '')),
        alignment?.source ?? []);
  return new AlignedTexts(source, target).node;
}

let made = 0;  // to have ids of their own

class AlignedTexts {
  constructor(source, target) {
    this.lines = drawn('svg', {class: 'links', 'aria-hidden': 'true'});
    this.target = target.filter((word) => !word.space);
    const id = ++made;
    target.forEach((word, index) => { word.id = `word-${id}-${index}`; });
    const targetNode = element(
        'p', {
          class: 'words', role: 'listbox', tabindex: '0', dir: 'auto',
          'aria-label': 'Words of the result: the arrow keys go from word to word',
          keydown: (event) => this.move(event),
          focus: () => this.choose(this.chosen ?? this.target[0]),
          blur: () => this.choose(null),
        },
        ...target.map((word) => this.place(word, 'option')));
    this.targetNode = targetNode;
    this.node = element(
        'div', {class: 'aligned'}, this.lines,
        element('p', {class: 'words source', dir: 'auto'},
                ...source.map((word) => this.place(word))),
        targetNode);
  }

  place(word, role) {
    if (word.space) return word.text;
    const from = [...word.others].map(({text}) => text).join(' ');
    word.node = element(
        'span', {
          class: 'word', role, id: word.id,
          'aria-label': role && (from ? `${word.text}, from ${from}` : undefined),
          'aria-selected': role && 'false',
          mouseenter: () => this.mark(word),
          mouseleave: () => this.mark(this.chosen),
        }, word.text);
    return word.node;
  }

  move(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity};
    if (!(event.key in step)) return;
    event.preventDefault();
    const at = this.target.indexOf(this.chosen) + step[event.key];
    const last = this.target.length - 1;
    this.choose(this.target[Math.min(Math.max(at, 0), last)]);
  }

  /** The word that the keyboard is at; null: none. */
  choose(word) {
    this.chosen?.node.setAttribute('aria-selected', 'false');
    this.chosen = word;
    word?.node.setAttribute('aria-selected', 'true');
    if (word) {
      this.targetNode.setAttribute('aria-activedescendant', word.id);
    } else {
      this.targetNode.removeAttribute('aria-activedescendant');
    }
    this.mark(word);
  }

  /** Marks a word and those that belong to it, and draws lines between them. */
  mark(word) {
    for (const marked of this.node.querySelectorAll('.marked')) {
      marked.classList.remove('marked');
    }
    this.lines.replaceChildren();
    if (!word) return;
    word.node.classList.add('marked');
    for (const other of word.others) {
      other.node.classList.add('marked');
      this.lines.append(this.line(word.node, other.node));
    }
  }

  line(one, other) {
    const frame = this.node.getBoundingClientRect();
    const [upper, lower] = [one, other].map((node) => node.getClientRects()[0])
        .sort((a, b) => a.top - b.top);
    const middle = ({left, width}) => left + width / 2 - frame.left;
    const [y1, y2] = [upper.bottom - frame.top, lower.top - frame.top];
    return drawn('path', {
      d: `M${middle(upper)} ${y1}C${middle(upper)} ${(y1 + y2) / 2} ` +
          `${middle(lower)} ${(y1 + y2) / 2} ${middle(lower)} ${y2}`,
    });
  }
}
