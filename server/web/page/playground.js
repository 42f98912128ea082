// The tasks that the models can do, each in a tab.

import {chatTask} from './chat.js';
import {element} from './dom.js';
import {generateTask} from './generate.js';
import {classifyTask, fillMaskTask, rerankTask} from './labels.js';
import {similarityTask} from './similarity.js';
import {translateTask} from './translate.js';

const can = (...tasks) => (model) =>
    tasks.some((task) => model.tasks?.includes(`TASK_${task}`));

/** Which models have a task, and what makes its form. */
const TASKS = [
  ['Translate', (model) => can('GENERATE')(model) && !model.continuesSource,
   translateTask],
  ['Chat', (model) => model.chats, chatTask],
  ['Generate', (model) => can('GENERATE')(model) && model.continuesSource,
   generateTask],
  ['Similarity', can('EMBED'), similarityTask],
  ['Label', can('CLASSIFY', 'CLASSIFY_TOKENS'), classifyTask],
  ['Rank', can('RERANK'), rerankTask],
  ['Fill a mask', can('FILL_MASK'), fillMaskTask],
];

export function playground(models) {
  const ready = models.filter((model) => model.ready);
  const tabs = TASKS.flatMap(([title, has, make], index) => {
    const able = ready.filter(has);
    return able.length ? [tab(title, index, make(able))] : [];
  });
  if (!tabs.length) {
    return element('p', {class: 'note'}, 'No model takes requests.');
  }
  const list = element(
      'div', {role: 'tablist', 'aria-label': 'Tasks',
              keydown: (event) => walk(event, tabs)},
      ...tabs.map(({button}) => button));
  for (const one of tabs) {
    one.button.addEventListener('click', () => choose(one, tabs));
  }
  choose(tabs[0], tabs);
  return element('div', {class: 'tabs'}, list, ...tabs.map(({panel}) => panel));
}

function tab(title, index, node) {
  const button = element('button', {
    type: 'button', role: 'tab', id: `tab-${index}`,
    'aria-controls': `panel-${index}`,
  }, title);
  const panel = element('div', {
    role: 'tabpanel', id: `panel-${index}`, 'aria-labelledby': `tab-${index}`,
  }, node);
  return {button, panel};
}

function choose(chosen, tabs) {
  for (const one of tabs) {
    const is = one === chosen;
    one.button.setAttribute('aria-selected', String(is));
    one.button.tabIndex = is ? 0 : -1;
    one.panel.hidden = !is;
  }
}

function walk(event, tabs) {
  const last = tabs.length - 1;
  const at = tabs.findIndex(({button}) => button === document.activeElement);
  const to = {
    ArrowLeft: at === 0 ? last : at - 1, ArrowRight: at === last ? 0 : at + 1,
    Home: 0, End: last,
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  choose(tabs[to], tabs);
  tabs[to].button.focus();
}
