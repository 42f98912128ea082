// A conversation.

import {element, labelled} from './dom.js';
import {TaskForm, textArea} from './form.js';
import {samplingFields, streamInto} from './generate.js';

const ROLES = {user: 'You', assistant: 'Model'};

class Conversation {
  constructor(log) {
    this.log = log;
    this.messages = [];
  }

  add(role, content) {
    const text = element('p', {class: 'text', dir: 'auto'}, content);
    this.messages.push({role, text});
    this.log.append(element('div', {class: `message ${role}`},
                            element('h4', {}, ROLES[role]), text));
    return text;
  }

  /** As attend.v1 has messages; `next` is one that is still to be sent. */
  chat(next) {
    const messages = this.messages.map(
        ({role, text}) => ({role, content: text.textContent}));
    if (next) messages.push({role: 'user', content: next});
    return {messages};
  }

  clear() {
    this.messages = [];
    this.log.replaceChildren();
  }
}

export function chatTask(models) {
  const log = element('div', {
    class: 'log', role: 'log', 'aria-label': 'Conversation', tabindex: '0',
  });
  const conversation = new Conversation(log);
  const message = textArea({rows: 3, value: 'Name three colours.', dir: 'auto'});
  const {options, params} = samplingFields(128);
  const clear = element('button', {
    type: 'button', click: () => { conversation.clear(); message.focus(); },
  }, 'New conversation');
  const task = new TaskForm({
    models, output: log, verb: 'Send', more: [clear], method: 'Generate',
    fields: [labelled('Message', message), options],
    request: () => ({
      inputs: [{chat: conversation.chat(message.value)}], params: params(),
    }),
    run: async (request, signal) => {
      conversation.add('user', message.value);
      const answer = conversation.add('assistant', '');
      message.value = '';
      try {
        return await streamInto(answer, request, signal);
      } finally {
        log.scrollTop = log.scrollHeight;
      }
    },
  });
  message.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (message.value.trim()) task.form.requestSubmit();
  });
  return task.node;
}
