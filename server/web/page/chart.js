// A chart of the last minutes: lines in a drawing, and the newest values in
// words.

import {drawn, element} from './dom.js';

const WIDTH = 300, HEIGHT = 96;

/** The next of 1, 2, 5, 10, 20, ... */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power)
      .find((step) => step >= value * (1 - 1e-9));
}

/** A line through the points that there are; gaps stay open. */
function path(values, points, max) {
  let text = '', open = false;
  values.forEach((value, index) => {
    if (value === null) {
      open = false;
      return;
    }
    const x = WIDTH - (values.length - 1 - index) * WIDTH / (points - 1);
    const y = HEIGHT - value / max * HEIGHT;
    text += `${open ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`;
    // A point alone is drawn, too.
    if (!open) text += 'h.01';
    open = true;
  });
  return text;
}

/**
 * `lines`: what the chart shows: {label, format}. `of`: of which time each value
 * is, if it is of more than a moment. `points`: how many values fit. `least`: the
 * top of the axis is at least this.
 */
export class Chart {
  constructor({title, of = '', lines, points, least, duration}) {
    this.lines = lines;
    this.points = points;
    this.least = least;
    this.title = title;
    this.top = element('span', {class: 'top'});
    this.paths = lines.map(
        (_, index) => drawn('path', {class: `line line${index}`}));
    this.values = lines.map(() => element('strong', {}, '–'));
    this.drawing = drawn(
        'svg', {
          viewBox: `0 -4 ${WIDTH} ${HEIGHT + 8}`,
          preserveAspectRatio: 'none',
          role: 'img',
        },
        ...[0, 0.5, 1].map((share) => drawn('path', {
          class: 'grid', d: `M0 ${share * HEIGHT}H${WIDTH}`,
        })),
        ...this.paths);
    this.node = element(
        'figure', {class: 'chart'},
        element(
            'figcaption', {},
            element('h3', {}, `${title} `, element('small', {}, of)),
            element('p', {}, ...lines.flatMap(({label}, index) => [
              element('span', {class: `key key${index}`}, this.values[index],
                      ` ${label}`), ' ',
            ]))),
        element('div', {class: 'plot'}, this.top, this.drawing),
        element('p', {class: 'axis', 'aria-hidden': 'true'},
                element('span', {}, `${duration} ago`),
                element('span', {}, 'now')));
  }

  /** `history`: for each line its values, the newest last; null: none. */
  draw(history) {
    const known = history.flat().filter((value) => value !== null);
    const max = roundUp(Math.max(this.least, ...known));
    this.top.textContent = this.lines[0].format(max);
    const words = this.lines.map(({label, format}, index) => {
      const newest = history[index].at(-1) ?? null;
      const text = newest === null ? '–' : format(newest);
      this.values[index].textContent = text;
      this.paths[index].setAttribute(
          'd', path(history[index], this.points, max));
      return `${label} ${newest === null ? 'none' : text}`;
    });
    this.drawing.setAttribute('aria-label', `${this.title}: ${words.join(', ')}`);
  }
}
