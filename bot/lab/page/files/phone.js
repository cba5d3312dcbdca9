// One phone: a chat with the bot. What is edited changes in place, what is deleted fades away.

import { ask } from "./feed.js";
import { calm, make } from "./dom.js";
import { formatted } from "./text.js";

const AUTHORS = { ai: "AI", human: "a person", system: "the bot itself", relay: "passed on" };

export class Phone {
  marked = () => {};

  constructor(place, name, toast) {
    this.toast = toast;
    this.shown = new Map(); // message id → { element, written }
    this.answered = new Set();
    this.place = place;
    this.build(name);
  }

  build(name) {
    this.face = make("span", { class: "face", "aria-hidden": "true" }, ["د"]);
    this.status = make("span", { class: "status" }, ["bot"]);
    this.log = make("div", { class: "log", role: "log", tabindex: "0" });
    this.typing = make("div", { class: "typing", hidden: "" }, [
      make("span", { class: "hidden-words" }, ["Dabir is typing"]),
      make("i"), make("i"), make("i"),
    ]);
    this.chips = make("div", { class: "chips", role: "group", "aria-label": "Suggestions" });
    this.input = make("textarea", {
      id: `${name}-input`, rows: "1", dir: "auto", autocomplete: "off", maxlength: "20000",
      placeholder: "Message",
    });
    this.submit = make("button", { type: "submit", class: "send", "aria-label": "Send" }, ["➤"]);
    this.menu = make("button", {
      type: "button", class: "menu", "aria-label": "Commands", "aria-expanded": "false",
    }, ["/"]);
    this.commands = make("div", { class: "commands", role: "group", "aria-label": "Commands",
      hidden: "" });
    this.label = make("label", { for: `${name}-input`, class: "hidden-words" });
    this.form = make("form", { class: "write" }, [this.menu, this.label, this.input, this.submit]);
    this.unblock = make("button", { type: "button", class: "unblock", hidden: "" }, ["Unblock the bot"]);
    this.place.append(
      make("div", { class: "bar" }, [
        this.face, make("div", {}, [make("b", {}, ["Dabir"]), this.status]),
      ]),
      this.log, this.commands, this.chips, this.form, this.unblock,
    );
    this.log.append(this.typing);
    this.listen();
  }

  listen() {
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.sendTyped();
    });
    this.input.addEventListener("input", () => this.grow());
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.sendTyped();
      } else if (event.key === "ArrowUp" && !this.input.value) {
        event.preventDefault();
        this.editLast();
      } else if (event.key === "Escape" && this.editing) {
        this.stopEditing();
      }
    });
    this.menu.addEventListener("click", () => this.openMenu(this.commands.hidden));
    this.commands.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        this.openMenu(false);
        this.menu.focus();
      }
    });
    this.unblock.addEventListener("click", () =>
      ask("switch", { name: "blocked", on: false, person: this.person.id }, this.toast));
  }

  belongTo(person, phone) {
    const changed = this.person?.id !== person.id;
    this.person = person;
    this.label.textContent = `Write to the bot as ${person.name}`;
    this.log.setAttribute("aria-label", `The chat of ${person.name} with the bot`);
    this.place.lang = person.language;
    const rtl = person.language === "fa";
    this.input.placeholder = rtl ? "پیام" : "Message";
    this.place.classList.toggle("rtl", rtl);
    this.chips.dir = rtl ? "rtl" : "ltr";
    this.chips.replaceChildren(...person.suggestions.map((each) => this.chip(each)));
    if (changed) {
      this.stopEditing();
      this.openMenu(false);
      this.answered = new Set(phone?.answers.map((each) => each.id));
      for (const { element } of this.shown.values()) element.remove();
      this.shown.clear();
      this.phone = null;
    }
    if (phone) this.show(phone, changed);
  }

  chip(suggestion) {
    const { label, text } = typeof suggestion === "string"
      ? { label: suggestion, text: suggestion } : suggestion;
    const button = make("button", { type: "button", class: "chip", dir: "auto" }, [label]);
    button.addEventListener("click", () => this.send(text));
    return button;
  }

  // --- what is on the screen ---

  show(phone, atOnce = !this.phone) {
    const near = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 90;
    this.phone = phone;
    this.forget(new Set(phone.messages.map((each) => each.message_id)));
    for (const message of phone.messages) this.draw(message, atOnce);
    this.typing.hidden = !phone.typing;
    this.log.classList.toggle("empty", phone.messages.length === 0);
    this.status.textContent = phone.typing ? "typing…" : "bot";
    this.status.classList.toggle("busy", phone.typing);
    this.form.hidden = this.chips.hidden = phone.blocked;
    this.unblock.hidden = !phone.blocked;
    this.drawCommands(phone.commands);
    for (const answer of phone.answers) {
      if (!this.answered.has(answer.id)) this.toast(answer.text);
      this.answered.add(answer.id);
    }
    if (near || atOnce) this.toEnd();
  }

  toEnd() {
    this.log.scrollTop = this.log.scrollHeight;
  }

  forget(present) {
    for (const [id, { element }] of this.shown) {
      if (present.has(id)) continue;
      this.shown.delete(id);
      if (calm()) {
        element.remove();
      } else {
        element.classList.add("leaving");
        element.inert = true;
        setTimeout(() => element.remove(), 320);
      }
    }
  }

  draw(message, atOnce) {
    const written = JSON.stringify(message);
    const before = this.shown.get(message.message_id);
    if (before?.written === written) return;
    const element = this.bubble(message);
    if (before) {
      before.element.replaceWith(element);
      if (message.edited && !before.written.includes(JSON.stringify(message.text))) {
        element.classList.add("changed");
      }
    } else {
      if (!atOnce) element.classList.add("arriving");
      this.log.insertBefore(element, this.typing);
    }
    this.shown.set(message.message_id, { element, written });
  }

  bubble(message) {
    const mine = message.author !== "bot";
    const element = make("div", { class: `message ${mine ? "mine" : "theirs"}` });
    element.dataset.messageId = message.message_id;
    if (message.by) {
      element.dataset.by = message.by;
      element.title = `${AUTHORS[message.by]} · ${message.client_id}`;
      element.addEventListener("pointerenter", () => this.marked(message.client_id));
      element.addEventListener("pointerleave", () => this.marked(""));
    }
    const body = make("div", { class: "bubble" });
    const text = make("div", { class: "text" });
    if (message.kind === "text" || message.text) {
      text.append(formatted(message.text, message.entities, mine ? null : (c) => this.send(c)));
    } else {
      text.append(make("p", {}, [`[${message.kind}]`]));
    }
    const clock = new Date(message.date * 1000).toLocaleTimeString([], {
      hour: "2-digit", minute: "2-digit", hour12: false,
    });
    const foot = `${message.edited ? "edited " : ""}${clock}`;
    body.append(text, make("span", { class: "foot" }, [foot]));
    element.append(body);
    if (message.keyboard.length) element.append(this.keyboard(message));
    return element;
  }

  keyboard(message) {
    return make("div", { class: "keyboard" }, message.keyboard.map((row) =>
      make("div", { class: "row" }, row.map((key) => {
        const button = make("button", { type: "button", dir: "auto" }, [key.text]);
        button.addEventListener("click", () => this.press(message.message_id, key.callback_data));
        return button;
      }))));
  }

  drawCommands(commands) {
    this.menu.hidden = commands.length === 0;
    const written = JSON.stringify(commands);
    if (this.listed === written) return;
    this.listed = written;
    this.commands.replaceChildren(...commands.map((each) => {
      const button = make("button", { type: "button" }, [
        make("code", { dir: "ltr" }, [`/${each.command}`]),
        make("span", { dir: "auto" }, [each.description]),
      ]);
      button.addEventListener("click", () => {
        this.openMenu(false);
        this.send(`/${each.command}`);
        this.input.focus();
      });
      return button;
    }));
  }

  openMenu(open) {
    this.commands.hidden = !open;
    this.menu.setAttribute("aria-expanded", String(open));
    if (open) this.commands.querySelector("button")?.focus();
  }

  // --- what the person does ---

  send(text) {
    this.toEnd();
    return ask("send", { person: this.person.id, text }, this.toast);
  }

  async sendTyped() {
    const text = this.input.value.trim();
    if (!text) return;
    const edited = this.editing;
    this.stopEditing();
    const done = edited
      ? await ask("edit", { person: this.person.id, message_id: edited, text }, this.toast)
      : await this.send(text);
    if (!done && !this.input.value) this.input.value = text;
    this.grow();
  }

  press(messageId, data) {
    return ask("press", { person: this.person.id, message_id: messageId, data }, this.toast);
  }

  // Presses the newest button with this data; false if there is none.
  pressNewest(data) {
    for (const message of [...(this.phone?.messages ?? [])].reverse()) {
      if (message.keyboard.flat().some((key) => key.callback_data === data)) {
        this.press(message.message_id, data);
        return true;
      }
    }
    return false;
  }

  editLast() {
    const own = this.phone?.messages.filter((each) => each.author !== "bot").at(-1);
    if (!own) return;
    this.editing = own.message_id;
    this.input.value = own.text;
    this.form.classList.add("editing");
    this.grow();
  }

  stopEditing() {
    this.editing = 0;
    this.input.value = "";
    this.form.classList.remove("editing");
    this.grow();
  }

  grow() {
    this.input.style.height = "auto";
    this.input.style.height = `${Math.min(this.input.scrollHeight, 130)}px`;
  }
}
