// The keys of calls and of metrics. They stay in this tab, and go to this server
// only.

const FIELDS = {calls: 'call-key', metrics: 'metrics-key'};
const memory = {};  // where the browser gives no sessionStorage

function read(which) {
  try {
    return sessionStorage.getItem(`attend-${which}`) ?? '';
  } catch {
    return memory[which] ?? '';
  }
}

function write(which, key) {
  try {
    sessionStorage.setItem(`attend-${which}`, key);
  } catch {
    memory[which] = key;
  }
}

/** Headers with the key of 'calls' or 'metrics', if there is one. */
export function authorization(which) {
  const key = read(which) || read('calls');
  return key ? {Authorization: `Bearer ${key}`} : {};
}

const panel = document.getElementById('keys');

/** Opens the form; for a call that the server has refused for its key. */
export function askForKey(which) {
  panel.open = true;
  document.getElementById(FIELDS[which]).focus();
}

/** Calls `changed` when the user has given keys. */
export function watchKeys(changed) {
  for (const [which, id] of Object.entries(FIELDS)) {
    document.getElementById(id).value = read(which);
  }
  panel.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault();
    for (const [which, id] of Object.entries(FIELDS)) {
      write(which, document.getElementById(id).value.trim());
    }
    panel.open = false;
    panel.querySelector('summary').focus();
    changed();
  });
  panel.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    panel.open = false;
    panel.querySelector('summary').focus();
  });
}
