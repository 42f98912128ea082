// Translation of a document: all of it, and its sentences word by word.

import {alignedTexts} from './alignment.js';
import {call} from './connect.js';
import {element, labelled} from './dom.js';
import {moreOptions, numberField, numberOf, TaskForm, textArea, textOf} from
  './form.js';
import {checked, taken} from './results.js';

const FORMATS = {
  Text: undefined, HTML: 'DOCUMENT_FORMAT_HTML', XML: 'DOCUMENT_FORMAT_XML',
  Markdown: 'DOCUMENT_FORMAT_MARKDOWN',
};

function chosenOf(options) {
  return element('select', {}, ...Object.keys(options).map(
      (option) => element('option', {}, option)));
}

function shown({text = '', sentences = [], alternatives = []}) {
  return [
    element('p', {class: 'text translation', dir: 'auto'}, text),
    ...alternatives.flatMap((other) => [
      element('h4', {}, 'Or'),
      element('p', {class: 'text', dir: 'auto'}, other),
    ]),
    element('p', {class: 'note'}, 'Point at a word, or go from word to word with ' +
        'the arrow keys, to see what it was made from.'),
    ...sentences.map(alignedTexts),
  ];
}

export function translateTask(models) {
  const text = textArea({
    value: 'Two dogs are playing in the snow. A woman watches them.', dir: 'auto',
  });
  const format = chosenOf(FORMATS);
  const beams = numberField({min: 1});
  const alternatives = numberField({min: 0, placeholder: '0'});
  const from = element('input', {placeholder: 'default'});
  const to = element('input', {placeholder: 'default'});
  const output = element('div', {class: 'results'});
  return new TaskForm({
    models, output, verb: 'Translate', method: 'Translate',
    fields: [
      labelled('Text', text),
      moreOptions(['Format', format], ['Beams', beams],
                  ['Alternatives', alternatives], ['From', from], ['To', to]),
    ],
    request: () => ({
      documents: [text.value], format: FORMATS[format.value],
      params: {numBeams: numberOf(beams), logProbs: true},
      alternatives: numberOf(alternatives),
      sourceLanguage: textOf(from), targetLanguage: textOf(to),
      alignments: 'ALIGNMENTS_HARD',
    }),
    run: async (request, signal) => {
      const answer = await call('Translate', request, signal);
      const result = checked(answer.results[0]);
      output.replaceChildren(...shown(result));
      return taken(result);
    },
  }).node;
}
