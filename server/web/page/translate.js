// Translation: text in, text out, word by word.

import {alignedTexts} from './alignment.js';
import {call} from './connect.js';
import {element, labelled} from './dom.js';
import {moreOptions, numberField, numberOf, TaskForm, textArea, textOf} from
  './form.js';
import {checked, taken} from './results.js';

export function translateTask(models) {
  const text = textArea({
    value: 'Two dogs are playing in the snow. A woman watches them.', dir: 'auto',
  });
  const beams = numberField({min: 1});
  const results = numberField({min: 1, placeholder: '1'});
  const from = element('input', {placeholder: 'default'});
  const to = element('input', {placeholder: 'default'});
  const output = element('div', {class: 'results'});
  return new TaskForm({
    models, output, verb: 'Translate', method: 'Generate',
    fields: [
      labelled('Text', text),
      moreOptions(['Beams', beams], ['Results', results],
                  ['Source language', from], ['Target language', to]),
    ],
    request: () => ({
      inputs: [{text: text.value}],
      params: {
        numBeams: numberOf(beams), numReturnSequences: numberOf(results),
        logProbs: true,
      },
      sourceLanguage: textOf(from), targetLanguage: textOf(to),
      alignments: 'ALIGNMENTS_HARD',
    }),
    run: async (request, signal) => {
      const answer = await call('Generate', request, signal);
      const result = checked(answer.results[0]);
      output.replaceChildren(...result.choices.map((choice) => choice.text ?
          alignedTexts(request.inputs[0].text, result, choice) :
          element('p', {class: 'note'}, 'The result is empty.')));
      return taken(result);
    },
  }).node;
}
