// Labels of texts, documents by rank, and tokens for masks: names with scores.

import {call} from './connect.js';
import {element, labelled, name} from './dom.js';
import {linesOf, TaskForm, textArea} from './form.js';
import {checked, taken} from './results.js';

/** A list of names, each with a score and a bar as long as its `share`. */
function scores(entries) {
  return element('ol', {class: 'scores'}, ...entries.map(({text, score, share}) => {
    const bar = element('span', {class: 'bar', 'aria-hidden': 'true'});
    bar.style.setProperty('--share', `${Math.round(share * 100)}%`);
    return element('li', {}, name(text),
                   element('strong', {}, score.toFixed(3)), bar);
  }));
}

/** Scores as they are; those outside of [0, 1] are compared with the largest. */
function ranked(entries) {
  const values = entries.map(({score}) => score);
  const [low, high] = [Math.min(0, ...values), Math.max(1, ...values)];
  return scores(entries.map(
      ({text, score}) => ({text, score, share: (score - low) / (high - low)})));
}

const labelsOf = (labels = []) =>
    labels.map(({label, score = 0}) => ({text: label, score}));

function tokenLabels({tokens = []}) {
  return element('p', {class: 'text'}, ...tokens.flatMap(
      ({token, labels}) => [element('ruby', {}, token.piece,
                                    element('rt', {}, labels[0].label)), ' ']));
}

export function classifyTask(models) {
  const texts = textArea({value: 'I like this film.\nThis film is too long.'});
  const output = element('div', {class: 'results'});
  return new TaskForm({
    models, output, verb: 'Label', method: 'Classify',
    fields: [labelled('Texts, one a line', texts)],
    request: () => ({inputs: linesOf(texts).map((text) => ({text}))}),
    run: async (request, signal) => {
      const {results = []} = await call('Classify', request, signal);
      output.replaceChildren(...results.flatMap((result, index) => [
        element('h4', {}, name(request.inputs[index].text)),
        checked(result).tokens ? tokenLabels(result) :
          ranked(labelsOf(result.labels)),
      ]));
      return taken(results[0]);
    },
  }).node;
}

export function rerankTask(models) {
  const query = element('input', {value: 'Who plays in the snow?'});
  const documents = textArea({
    rows: 5, value: 'Two dogs play in the snow.\nA man repairs a bicycle.\n' +
        'Children build a snowman.',
  });
  const output = element('div', {class: 'results'});
  return new TaskForm({
    models, output, verb: 'Order', method: 'Rerank',
    fields: [labelled('Query', query), labelled('Documents, one a line', documents)],
    request: () => ({
      query: query.value, documents: linesOf(documents), returnDocuments: true,
    }),
    run: async (request, signal) => {
      const {results = []} = await call('Rerank', request, signal);
      output.replaceChildren(ranked(results.map((result) => ({
        text: checked(result).document, score: result.score ?? 0,
      }))));
      return taken(results[0]);
    },
  }).node;
}

export function fillMaskTask(models) {
  const text = textArea({value: `A dog runs through the ${models[0].maskToken}.`});
  const output = element('div', {class: 'results'});
  return new TaskForm({
    models, output, verb: 'Fill', method: 'FillMask',
    fields: [labelled(`Text with ${models[0].maskToken}`, text)],
    request: () => ({inputs: [{text: text.value}]}),
    run: async (request, signal) => {
      const answer = await call('FillMask', request, signal);
      const result = checked(answer.results[0]);
      output.replaceChildren(
          element('p', {class: 'text'}, result.text),
          ...result.masks.map(({candidates = []}) => ranked(candidates.map(
              ({token}) => ({
                text: token.piece, score: Math.exp(token.logProb ?? 0),
              })))));
      return taken(result);
    },
  }).node;
}
