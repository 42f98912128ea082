// What all tasks of the playground share: the choice of a model, a button that
// starts and one that stops, the status, the error, and the same as a command.

import {element, labelled, show} from './dom.js';

/** A field of many lines. */
export function textArea({value = '', rows = 4, ...more} = {}) {
  const field = element('textarea', {rows, spellcheck: 'false', ...more});
  field.value = value;
  return field;
}

/** A field of a number that may be left empty; `placeholder`: what then holds. */
export function numberField({placeholder = 'default', ...more} = {}) {
  return element('input', {type: 'number', placeholder, ...more});
}

/** undefined: the field is empty. */
export const numberOf = (field) =>
    field.value === '' ? undefined : Number(field.value);

/** undefined: the field is empty. */
export const textOf = (field) => field.value.trim() || undefined;

/** The lines that are not empty. */
export const linesOf = (field) =>
    field.value.split('\n').map((line) => line.trim()).filter(Boolean);

/** Options that few need. `fields`: pairs of a name and a field. */
export function moreOptions(...fields) {
  return element(
      'details', {class: 'options'}, element('summary', {}, 'Options'),
      element('div', {class: 'fields'},
              ...fields.map(([text, field]) => labelled(text, field))));
}

function quoted(text) {
  return `'${text.replaceAll('\'', '\'\\\'\'')}'`;
}

function command(method, request) {
  const lines = [
    `curl ${quoted(new URL(`attend.v1.Attend/${method}`, document.baseURI).href)}`,
    '  -H \'Content-Type: application/json\'',
    `  -d ${quoted(JSON.stringify(request))}`,
  ];
  return lines.join(' \\\n');
}

export class TaskForm {
  /**
   * `models`: those that have the task, of ListModels. `fields`: elements of the
   * form. `method`, `request`: the call: its name, and a function that makes its
   * request of the form. `run` calls it: (request, signal) -> what the status
   * says in the end. `output`: where run() shows results. `verb`: what the
   * button says that starts; `more`: buttons beside it.
   */
  constructor({models, fields, method, request, run, output, verb, more = []}) {
    this.models = models;
    this.method = method;
    this.makeRequest = request;
    this.run = run;
    this.output = output;
    this.makeControls(verb);
    this.form = element(
        'form', {submit: (event) => this.submit(event)}, this.choice, ...fields,
        element('div', {class: 'row'}, this.start, this.stop, ...more),
        this.status);
    this.form.addEventListener('input', () => this.writeCommand());
    this.form.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
        this.form.requestSubmit();
      }
    });
    this.node = element(
        'div', {class: 'task'},
        element('div', {class: 'asked'}, this.form, this.makeCommand()),
        element('div', {class: 'answered'}, this.problem, this.output));
    this.writeCommand();
  }

  makeControls(verb) {
    this.select = element(
        'select', {}, ...this.models.map(
            (model, index) => element('option', {value: index}, model.name)));
    this.choice = labelled('Model', this.select);
    show(this.choice, this.models.length > 1);
    this.start = element('button', {type: 'submit', class: 'main'}, verb);
    this.stop = element(
        'button', {type: 'button', hidden: true,
                   click: () => this.controller.abort()}, 'Stop');
    this.status = element('p', {role: 'status', class: 'note'});
    this.problem =
        element('p', {role: 'alert', class: 'failure', hidden: true});
  }

  makeCommand() {
    this.command = element('code');
    return element(
        'details', {class: 'command'},
        element('summary', {}, 'The same as a command'),
        element('pre', {tabindex: '0', 'aria-label': 'Command'}, this.command));
  }

  writeCommand() {
    this.command.textContent = command(this.method, this.request());
  }

  get model() {
    return this.models[this.select.value];
  }

  request() {
    return {model: this.model.name, ...this.makeRequest(this.model)};
  }

  async submit(event) {
    event.preventDefault();
    this.controller?.abort();
    const controller = this.controller = new AbortController();
    this.setBusy(true);
    this.status.textContent = 'Running …';
    show(this.problem, false);
    try {
      this.status.textContent =
          await this.run(this.request(), controller.signal) ?? '';
    } catch (error) {
      if (this.controller === controller) this.fail(error);
    } finally {
      if (this.controller === controller) this.setBusy(false);
    }
  }

  setBusy(busy) {
    this.output.setAttribute('aria-busy', String(busy));
    if (!busy && document.activeElement === this.stop) this.start.focus();
    show(this.stop, busy);
  }

  fail(error) {
    const stopped = error.name === 'AbortError';
    this.status.textContent = stopped ? 'Stopped.' : '';
    show(this.problem, !stopped);
    this.problem.textContent = error.message;
  }
}
