// The page: what the server does now, its models, and a playground.

import {call} from './connect.js';
import {show} from './dom.js';
import {watchKeys} from './keys.js';
import {Live} from './live.js';
import {info, total} from './metrics.js';
import {modelCard} from './models.js';
import {playground} from './playground.js';
import {startTheme} from './theme.js';

const notice = document.getElementById('notice');

function say(problem) {
  show(notice, Boolean(problem));
  notice.textContent = problem;
}

function describeServer(reading) {
  const {version} = info(reading, 'attend_build_info');
  const {isa} = info(reading, 'attend_compute_threads');
  const threads = total(reading, 'attend_compute_threads');
  document.getElementById('server').textContent = [
    location.host, version && `version ${version}`,
    threads && `${threads} threads`, isa,
  ].filter(Boolean).join(' · ');
}

let shown = '';  // the models, as the server listed them

async function showModels(live) {
  try {
    const {models = []} = await call('ListModels', {});
    say('');
    // What the user has written stays where nothing has changed.
    if (JSON.stringify(models) === shown) return;
    shown = JSON.stringify(models);
    live.setModels(models.map(({name}) => name));
    document.getElementById('models').replaceChildren(
        ...models.map((model, index) => modelCard(model, index === 0)));
    document.getElementById('tasks').replaceChildren(playground(models));
  } catch (error) {
    say(error.message);
  }
}

function start() {
  let silent = false;
  let ready;  // how many models are
  const refresh = () => showModels(live);
  const live = new Live({
    onReading: (reading) => {
      describeServer(reading);
      const were = ready;
      ready = total(reading, 'attend_model_ready');
      if (were !== undefined && ready !== were) refresh();
    },
    onSilence: (isSilent) => {
      if (isSilent) say('The server does not answer. The page tries again.');
      if (silent && !isSilent) refresh();
      silent = isSilent;
    },
  });
  startTheme();
  watchKeys(() => {
    live.resume();
    refresh();
  });
  document.getElementById('server').textContent = location.host;
  refresh();
  live.resume();
}

start();
