// Elements made of texts. Whatever a model or a server says becomes text here,
// never markup: nothing on this page sets HTML.

/**
 * An element. Attributes that are functions are listeners; those that are true
 * or false are there or not. Children are elements and texts.
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  setAttributes(made, attributes);
  made.append(...children);
  return made;
}

/** The same for an element of a drawing. */
export function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAttributes(made, attributes);
  made.append(...children);
  return made;
}

/** A name that is not ours, whose letters may run from right to left. */
export const name = (text) => element('bdi', {}, text);

/** A label with its field. */
export function labelled(text, field) {
  return element('label', {}, element('span', {}, text), field);
}

export function show(node, visible = true) {
  node.hidden = !visible;
}

function setAttributes(node, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      node.addEventListener(key, value);
    } else if (typeof value === 'boolean') {
      node.toggleAttribute(key, value);
    } else if (value !== undefined) {
      node.setAttribute(key, value);
    }
  }
}
