// A row of things of which one is chosen, as radio buttons: arrow keys walk, one Tab stop.

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export function walkable(group, choose) {
  group.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...group.querySelectorAll('[role="radio"]')];
    const at = all.findIndex((each) => each.getAttribute("aria-checked") === "true");
    const next = all[(at + step + all.length) % all.length];
    choose(next.dataset.value);
    group.querySelector('[aria-checked="true"]')?.focus();
  });
}

export function mark(group, value) {
  for (const each of group.querySelectorAll('[role="radio"]')) {
    const chosen = each.dataset.value === String(value);
    each.setAttribute("aria-checked", String(chosen));
    each.tabIndex = chosen ? 0 : -1;
    if (chosen) each.querySelector(".unread").hidden = true;
  }
}
