// The lines of memory and how far each has got.

import { make } from "./dom.js";

const STEPS = ["pending", "running", "uploaded", "visible"];
const MEANING = {
  pending: "accepted, waits to be handed over",
  running: "is being handed over",
  uploaded: "handed over; no read has shown it yet",
  visible: "a read has shown it",
};
const drawn = new WeakMap(); // list → line id → element

export function showMemory(list, lines = []) {
  const known = drawn.get(list) ?? new Map();
  const now = new Map();
  lines.forEach((line) => {
    const element = known.get(line.id) ?? made(line);
    mark(element, line.state);
    now.set(line.id, element);
  });
  for (const [id, element] of known) if (!now.has(id)) element.remove();
  const order = [...now.values()].reverse();
  order.forEach((element, index) => {
    if (list.children[index] !== element) list.insertBefore(element, list.children[index] ?? null);
  });
  list.classList.toggle("empty", lines.length === 0);
  drawn.set(list, now);
}

function made(line) {
  const when = line.when ? [make("time", { class: "due" }, [line.when])] : [];
  return make("li", { class: "line" }, [
    make("div", { class: "line-head" }, [
      make("span", { class: `kind kind-${line.kind}` }, [line.kind]),
      make("span", { class: "author" }, [`by ${line.author === "ai" ? "the AI" : `the ${line.author}`}`]),
      make("span", { class: "progress", role: "img" }, STEPS.map(() => make("i"))),
      make("span", { class: "state" }),
    ]),
    make("p", { dir: "auto" }, [line.text]),
    ...when,
  ]);
}

function mark(element, state) {
  if (element.dataset.state === state) return;
  element.dataset.state = state;
  const progress = element.querySelector(".progress");
  const reached = STEPS.indexOf(state);
  [...progress.children].forEach((dot, step) => dot.classList.toggle("reached", step <= reached));
  progress.setAttribute("aria-label", MEANING[state]);
  element.querySelector(".state").textContent = state;
  element.title = MEANING[state];
}
