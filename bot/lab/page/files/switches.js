// The fault switches.

import { ask } from "./feed.js";
import { make } from "./dom.js";

export class Switches {
  shown = [];

  constructor(place, person, toast) {
    this.place = place;
    this.person = person;
    this.toast = toast;
    this.made = new Map();
  }

  draw() {
    for (const each of this.shown) {
      const button = this.made.get(each.name) ?? this.build(each);
      const on = each.on.includes(this.person());
      button.setAttribute("aria-checked", String(on));
      button.disabled = !each.available;
    }
  }

  build(each) {
    const id = `about-${each.name}`;
    const button = make("button", {
      type: "button", role: "switch", class: "switch", "aria-describedby": id,
      "aria-label": each.title, "data-switch": each.name,
    }, [
      make("span", { class: "track", "aria-hidden": "true" }, [make("i")]),
      make("span", { class: "words" }, [
        make("b", {}, [each.title, ...(each.personal ? [make("em", {}, ["this phone"])] : [])]),
        make("span", { id }, [each.available ? each.effect : "Only with the practice model."]),
      ]),
    ]);
    button.addEventListener("click", async () => {
      const on = button.getAttribute("aria-checked") !== "true";
      await ask("switch", { name: each.name, on, person: this.person() }, this.toast);
    });
    this.made.set(each.name, button);
    this.place.append(button);
    return button;
  }
}
