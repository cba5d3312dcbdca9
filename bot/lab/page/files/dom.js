// Small ways to make elements. Text always goes in as text, never as markup.

export function make(name, attributes = {}, children = []) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export function draw(name, attributes = {}, children = []) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export const later = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
