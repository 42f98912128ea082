// The charts: /metrics, read once a second while the page is seen.

import {Chart} from './chart.js';
import {element, show} from './dom.js';
import {askForKey, authorization} from './keys.js';
import {parseMetrics, quantile, rate, total} from './metrics.js';

const SECONDS = 120;   // shown
const WINDOW = 30;     // seconds that quantiles are of
const SMOOTH = 10;     // seconds that rates are of: tokens count when inputs end
const INTERVAL = 1000; // milliseconds
const PATIENCE = 5000; // milliseconds: for an answer, and after none

const number = (value) => value >= 100 ? value.toFixed(0) :
    value >= 10 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(1);
const time = (seconds) => seconds >= 1 ? `${number(seconds)} s` :
    `${number(seconds * 1000)} ms`;
const share = (value) => `${(value * 100).toFixed(value < 0.1 ? 1 : 0)} %`;

const TTFT = 'attend_time_to_first_token_seconds';

/** What is drawn: each line's value, of a reading and those some time ago. */
const CHARTS = [
  {
    title: 'Tokens a second',
    of: `last ${SMOOTH} s`,
    least: 10,
    lines: [
      {label: 'generated', format: number, value: ({recent, now, model}) =>
        rate(recent, now, 'attend_generated_tokens_total', model)},
      {label: 'read', format: number, value: ({recent, now, model}) =>
        rate(recent, now, 'attend_source_tokens_total', model)},
    ],
  },
  {
    title: 'First token',
    of: `last ${WINDOW} s`,
    least: 0.01,
    lines: [
      {label: 'p50', format: time, value: ({earlier, now, model}) =>
        quantile(earlier, now, TTFT, 0.5, model)},
      {label: 'p99', format: time, value: ({earlier, now, model}) =>
        quantile(earlier, now, TTFT, 0.99, model)},
    ],
  },
  {
    title: 'Inputs',
    least: 5,
    lines: [
      {label: 'running', format: number, value: ({now, model}) =>
        total(now, 'attend_running_sequences', model)},
      {label: 'queued', format: number, value: ({now, model}) =>
        total(now, 'attend_queued_requests', model)},
    ],
  },
  {
    title: 'KV blocks',
    least: 0.05,
    lines: [
      {label: 'used', format: share, value: ({now, model}) => {
        const all = total(now, 'attend_kv_blocks_capacity', model);
        return all && total(now, 'attend_kv_blocks_used', model) / all;
      }},
    ],
  },
];

export class Live {
  /** `onReading` hears each reading; `onSilence` whether the server answers. */
  constructor({onReading, onSilence}) {
    this.onReading = onReading;
    this.onSilence = onSilence;
    this.readings = [];
    this.charts = CHARTS.map((chart) => new Chart({
      ...chart, points: SECONDS + 1, duration: `${SECONDS / 60} min`,
    }));
    document.getElementById('charts').append(
        ...this.charts.map(({node}) => node));
    this.choice = document.querySelector('#live-model select');
    this.choice.addEventListener('change', () => this.draw());
    this.problem = document.getElementById('live-problem');
    document.addEventListener('visibilitychange', () => this.resume());
    this.draw();
  }

  setModels(names) {
    const chosen = this.choice.value;
    this.choice.replaceChildren(
        element('option', {value: ''}, 'all'),
        ...names.map((name) => element('option', {value: name}, name)));
    this.choice.value = names.includes(chosen) ? chosen : '';
    show(this.choice.parentElement, names.length > 1);
  }

  /** Reads now, and goes on; for the beginning, and after a new key. */
  resume() {
    clearTimeout(this.timer);
    if (!document.hidden) this.poll();
  }

  async poll() {
    const turn = this.turn = Symbol('turn');
    const pause = await this.read();
    if (turn !== this.turn || pause === null || document.hidden) return;
    this.timer = setTimeout(() => this.poll(), pause);
  }

  /** Returns the pause until the next reading; null: not before resume(). */
  async read() {
    let response;
    try {
      response = await fetch('metrics', {
        headers: authorization('metrics'),
        signal: AbortSignal.timeout(PATIENCE),
        cache: 'no-store',
      });
      if (response.ok) {
        this.add(parseMetrics(await response.text(), performance.now() / 1000));
      }
    } catch {
      this.onSilence(true);
      return PATIENCE;
    }
    this.onSilence(false);
    this.tell(response);
    if (response.status !== 401) return response.ok ? INTERVAL : PATIENCE;
    return null;
  }

  tell({ok, status}) {
    show(this.problem, !ok);
    if (ok) return;
    this.problem.textContent = status === 401 ?
        'The metrics of this server need a key.' :
        `The server gives no metrics: HTTP ${status}.`;
    if (status === 401 && !document.querySelector('#keys').open) {
      askForKey('metrics');
    }
  }

  add(reading) {
    const last = this.readings.at(-1);
    // The server is another one, or the tab has slept.
    if (last && reading.time - last.time > WINDOW) this.readings = [];
    this.readings.push(reading);
    while (reading.time - this.readings[0].time > SECONDS + WINDOW) {
      this.readings.shift();
    }
    this.onReading(reading);
    this.draw();
  }

  draw() {
    const model = this.choice.value;
    const points = this.points(model);
    this.charts.forEach((chart, index) => {
      chart.draw(CHARTS[index].lines.map(
          ({value}) => points.map((point) => point && value(point))));
    });
  }

  /** For each second shown, the oldest first: readings to compare, or null. */
  points(model) {
    const all = this.readings;
    return all.slice(-SECONDS - 1).map((now) => {
      const before = all[all.indexOf(now) - 1];
      if (!before) return null;
      const ago = (seconds) => all.find(
          (reading) => now.time - reading.time <= seconds + INTERVAL / 2000);
      const since = (seconds) => ago(seconds) === now ? before : ago(seconds);
      return {now, model, recent: since(SMOOTH), earlier: since(WINDOW)};
    });
  }
}
