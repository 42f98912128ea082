// Prometheus' text format, and the figures between two readings of it.

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

function labelsOf(text = '') {
  const labels = {};
  for (const [, key, value] of text.matchAll(LABEL)) {
    labels[key] =
        value.replace(/\\(.)/g, (_, c) => c === 'n' ? '\n' : c);
  }
  return labels;
}

/** A reading: the samples of each metric, and when it was made (seconds). */
export function parseMetrics(text, time) {
  const samples = new Map();
  for (const line of text.split('\n')) {
    const found = LINE.exec(line);
    if (!found || !line.startsWith('attend_')) continue;
    const [, metric, labels, value] = found;
    if (!samples.has(metric)) samples.set(metric, []);
    samples.get(metric).push(
        {labels: labelsOf(labels), value: Number(value.replace('Inf', 'Infinity'))});
  }
  return {time, samples};
}

const belongs = (sample, model) => !model || sample.labels.model === model;

/** The sum of a metric; of all models, or of one. */
export function total(reading, metric, model) {
  return (reading.samples.get(metric) ?? [])
      .filter((sample) => belongs(sample, model))
      .reduce((sum, sample) => sum + sample.value, 0);
}

/** How much a counter grew in a second. */
export function rate(before, now, metric, model) {
  const grown = total(now, metric, model) - total(before, metric, model);
  return Math.max(grown, 0) / (now.time - before.time);
}

/** The labels of a metric whose value is always 1. */
export function info(reading, metric) {
  return reading.samples.get(metric)?.[0].labels ?? {};
}

function buckets(reading, histogram, model) {
  const counts = new Map();  // upper bound -> how many are at most that
  for (const sample of reading.samples.get(`${histogram}_bucket`) ?? []) {
    if (!belongs(sample, model)) continue;
    const bound = Number(sample.labels.le.replace('Inf', 'Infinity'));
    counts.set(bound, (counts.get(bound) ?? 0) + sample.value);
  }
  return counts;
}

/**
 * A quantile of what a histogram counted between two readings; null: nothing.
 * Values are taken to lie evenly within a bucket, as Prometheus takes them.
 */
export function quantile(before, now, histogram, share, model) {
  const earlier = buckets(before, histogram, model);
  const counts = [...buckets(now, histogram, model)]
      .map(([bound, count]) => [bound, count - (earlier.get(bound) ?? 0)])
      .sort(([a], [b]) => a - b);
  const all = counts.at(-1)?.[1] ?? 0;
  if (all <= 0) return null;
  let [low, under] = [0, 0];
  for (const [bound, count] of counts) {
    if (count >= share * all) {
      if (bound === Infinity) return low;
      return low + (bound - low) * (share * all - under) / (count - under);
    }
    [low, under] = [bound, count];
  }
  return low;
}
