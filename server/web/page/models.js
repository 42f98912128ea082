// What each model is, and whether it takes requests.

import {element, name} from './dom.js';

const TASKS = {
  TASK_GENERATE: 'generate', TASK_EMBED: 'embed', TASK_CLASSIFY: 'label texts',
  TASK_CLASSIFY_TOKENS: 'label tokens', TASK_FILL_MASK: 'fill masks',
  TASK_RERANK: 'rank',
};

const count = (number) => number.toLocaleString('en');

/** Names and values of what there is to say. */
function facts(model) {
  const tasks = (model.tasks ?? []).map((task) => TASKS[task] ?? task);
  if (model.chats) tasks.push('chat');
  const limits = [];
  if (model.maxSourceTokens) limits.push(`source ${count(model.maxSourceTokens)}`);
  if (model.maxTargetTokens) limits.push(`target ${count(model.maxTargetTokens)}`);
  return [
    ['Family', model.family], ['Numbers', model.dtype],
    ['Tasks', tasks.join(', ')],
    ['Most tokens', limits.join(', ')],
    ['Most beams', model.maxTargetTokens && count(model.maxBeams)],
    ['Vector', model.embeddingWidth && `${count(model.embeddingWidth)} numbers`],
    ['Labels', model.labels?.length && count(model.labels.length)],
  ].filter(([, value]) => value);
}

export function modelCard(model, isDefault) {
  const state =
      model.ready ? 'ready' : model.error ? 'not loaded' : 'not ready';
  return element(
      'article', {class: 'card'},
      element('h3', {}, name(model.name)),
      element('p', {class: `state ${model.ready ? 'good' : 'bad'}`}, state,
              isDefault ? ', the default' : ''),
      model.error ? element('p', {class: 'failure'}, model.error) : '',
      element('dl', {}, ...facts(model).flatMap(([key, value]) => [
        element('dt', {}, key), element('dd', {}, name(value)),
      ])));
}
