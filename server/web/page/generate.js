// Continuations of a text, as they come.

import {stream} from './connect.js';
import {element, labelled} from './dom.js';
import {moreOptions, numberField, numberOf, TaskForm, textArea} from './form.js';
import {checked, taken} from './results.js';

/** The fields of sampling, and what they ask for. */
export function samplingFields(tokens) {
  const length = numberField({min: 1, value: tokens});
  const temperature = numberField({min: 0.01, step: 'any', placeholder: 'greedy'});
  const topP = numberField({min: 0.01, max: 1, step: 'any'});
  const seed = numberField({min: 0, placeholder: 'any'});
  return {
    options: moreOptions(['Most new tokens', length],
                         ['Temperature', temperature], ['Top p', topP],
                         ['Seed', seed]),
    params: () => ({
      maxNewTokens: numberOf(length),
      doSample: temperature.value !== '',
      temperature: numberOf(temperature),
      topP: numberOf(topP),
      seed: seed.value || undefined,  // may have more digits than a Number
    }),
  };
}

/** Appends text to `node` as it comes; returns what the input took. */
export async function streamInto(node, request, signal) {
  let last = {};
  for await (const chunk of stream('GenerateStream', request, signal)) {
    if (chunk.text) node.append(chunk.text);
    if (chunk.status) last = checked(chunk);
  }
  return taken(last);
}

export function generateTask(models) {
  const prompt = textArea({value: 'The three primary colours are', dir: 'auto'});
  const {options, params} = samplingFields(64);
  const output = element('p', {class: 'text', 'aria-live': 'polite', dir: 'auto'});
  return new TaskForm({
    models, output, verb: 'Generate', method: 'Generate',
    fields: [labelled('Prompt', prompt), options],
    request: () => ({inputs: [{text: prompt.value}], params: params()}),
    run: (request, signal) => {
      const given = element('span', {class: 'given'}, request.inputs[0].text);
      output.replaceChildren(given);
      return streamInto(output, request, signal);
    },
  }).node;
}
