// How alike texts are: the cosines of their vectors.

import {call} from './connect.js';
import {element, labelled} from './dom.js';
import {linesOf, TaskForm, textArea} from './form.js';
import {checked} from './results.js';

const EXAMPLE = [
  'A dog runs through the snow.', 'The dog is running in winter.',
  'A woman reads a book.', 'Somebody is reading.',
].join('\n');

function dot(a, b) {
  return a.reduce((sum, value, index) => sum + value * b[index], 0);
}

function cell(value) {
  const made = element('td', {}, value.toFixed(2));
  made.style.setProperty('--share', `${Math.round(Math.max(value, 0) * 100)}%`);
  return made;
}

function matrix(texts, vectors) {
  const heading = (index) => element('th', {scope: 'col'}, String(index + 1));
  return element(
      'table', {class: 'matrix'},
      element('caption', {}, 'Cosines: 1 is alike'),
      element('thead', {}, element('tr', {}, element('td'),
                                   ...texts.map((_, index) => heading(index)))),
      element('tbody', {}, ...texts.map((text, row) => element(
          'tr', {},
          element('th', {scope: 'row', title: text}, `${row + 1} `,
                  element('bdi', {}, text)),
          ...vectors.map((vector) => cell(dot(vectors[row], vector)))))));
}

export function similarityTask(all) {
  // Vectors are what encoders are made for; translators give some, too.
  const generates = ({tasks}) => tasks.includes('TASK_GENERATE');
  const models = [...all].sort((a, b) => generates(a) - generates(b));
  const texts = textArea({rows: 5, value: EXAMPLE, dir: 'auto'});
  const output = element('div', {
    class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Similarity',
  });
  return new TaskForm({
    models, output, verb: 'Compare', method: 'Embed',
    fields: [labelled('Texts, one a line', texts)],
    request: () => ({
      inputs: linesOf(texts).map((text) => ({text})), normalize: true,
    }),
    run: async (request, signal) => {
      const {results = []} = await call('Embed', request, signal);
      const vectors = results.map((result) => checked(result).values);
      output.replaceChildren(
          matrix(request.inputs.map(({text}) => text), vectors));
      return `${vectors.length} vectors of ${vectors[0].length} numbers`;
    },
  }).node;
}
