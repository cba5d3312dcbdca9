// One screen: a person's chat with the bot, or a topic of the operators' group. What is edited
// changes in place, what is deleted fades away.

import { ask } from "./feed.js";
import { calm, make } from "./dom.js";
import { formatted } from "./text.js";

const HAPPENED = {
  forum_topic_created: "opened the topic",
  forum_topic_edited: "renamed the topic",
  forum_topic_closed: "closed the topic",
  forum_topic_reopened: "opened the topic again",
  pinned_message: "pinned a message",
  new_chat_members: "brought the bot in",
};
const PRIVATE = { key: "private", title: "Dabir", thread: null };
const AUTHORS = { ai: "AI", human: "a person", system: "the bot itself", relay: "passed on" };

export class Phone {
  marked = () => {};
  names = {}; // of people, by id
  room = PRIVATE;

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
    this.pinned = make("div", { class: "pinned", role: "group", "aria-label": "Pinned", hidden: "" });
    this.reply = make("div", { class: "replying", hidden: "" });
    this.title = make("b", { dir: "auto" }, ["Dabir"]);
    this.unblock = make("button", { type: "button", class: "unblock", hidden: "" }, ["Unblock the bot"]);
    this.place.append(
      make("div", { class: "bar" }, [
        this.face, make("div", { class: "bar-words" }, [this.title, this.status]),
      ]),
      this.pinned, this.log, this.commands, this.chips, this.reply, this.form, this.unblock,
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
      } else if (event.key === "Escape" && (this.editing || this.answering)) {
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

  belongTo(person, phone, room = PRIVATE) {
    const changed = this.person?.id !== person.id || this.room.key !== room.key;
    this.person = person;
    this.room = room;
    const shared = room.thread !== null;
    this.label.textContent = shared
      ? `Write in ${room.title} as ${person.name}` : `Write to the bot as ${person.name}`;
    this.log.setAttribute("aria-label",
      shared ? `The topic ${room.title}` : `The chat of ${person.name} with the bot`);
    this.title.textContent = room.title;
    this.face.textContent = shared ? "#" : "د";
    this.place.lang = person.language;
    const rtl = person.language === "fa";
    this.input.placeholder = rtl ? "پیام" : "Message";
    this.place.classList.toggle("rtl", rtl);
    this.chips.dir = rtl ? "rtl" : "ltr";
    const offered = JSON.stringify(person.suggestions);
    if (this.offered !== offered) {
      this.offered = offered;
      this.chips.replaceChildren(...person.suggestions.map((each) => this.chip(each)));
    }
    if (changed) {
      this.stopEditing();
      this.openMenu(false);
      this.answered = new Set(phone?.answers.map((each) => each.id));
      for (const { element } of this.shown.values()) element.remove();
      this.shown.clear();
      this.phone = null;
      this.pinnedWritten = "";
      this.pinned.hidden = true;
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
    const card = phone.pinned?.at(-1); // stands above the talk, not in it
    const shown = phone.messages.filter((each) => each.message_id !== card);
    this.forget(new Set(shown.map((each) => each.message_id)));
    for (const message of shown) this.draw(message, atOnce);
    this.pin(phone);
    this.typing.hidden = !phone.typing;
    this.log.classList.toggle("empty", phone.messages.length === 0);
    const quiet = this.room.thread === null ? "bot" : `seen by ${this.person.name}`;
    this.status.textContent = phone.typing ? "typing…" : quiet;
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

  // The card of a topic stays in sight, however long the talk gets.
  pin(phone) {
    const card = phone.messages.find((each) => each.message_id === phone.pinned?.at(-1));
    const written = card ? JSON.stringify(card) : "";
    if (this.pinnedWritten === written) return;
    this.pinnedWritten = written;
    this.pinned.hidden = !card;
    this.pinned.replaceChildren(...(card ? [
      make("div", { class: "text" }, [formatted(card.text, card.entities, null)]),
      ...(card.keyboard.length ? [this.keyboard(card)] : []),
    ] : []));
  }

  nameOf(author) {
    return author === "bot" ? "Dabir" : this.names[author.split(":")[1]] ?? "somebody";
  }

  line(message) {
    const words = `${this.nameOf(message.author)} ${HAPPENED[message.kind] ?? message.kind}`;
    const element = make("div", { class: "happened" }, [make("span", { dir: "auto" }, [words])]);
    element.dataset.messageId = message.message_id;
    return element;
  }

  bubble(message) {
    if (message.service) return this.line(message);
    const mine = message.author === `user:${this.person.id}`;
    const element = make("div", { class: `message ${mine ? "mine" : "theirs"}` });
    element.dataset.messageId = message.message_id;
    if (message.by) {
      element.dataset.by = message.by;
      element.title = `${AUTHORS[message.by]} · ${message.client_id}`;
      element.addEventListener("pointerenter", () => this.marked(message.client_id));
      element.addEventListener("pointerleave", () => this.marked(""));
    }
    const body = make("div", { class: "bubble" });
    if (!mine && message.author !== "bot") {
      body.append(make("b", { class: "by", dir: "auto" }, [this.nameOf(message.author)]));
    }
    const answered = this.phone.messages.find((each) => each.message_id === message.reply_to);
    if (answered && !answered.service) {
      body.append(make("div", { class: "quote", dir: "auto" }, [short(answered.text)]));
    }
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
    const reactions = message.reactions.map((each) => each.emoji).join(" ");
    const answer = make("button", { type: "button", class: "answer" }, ["Reply"]);
    answer.setAttribute("aria-label", `Reply to “${short(message.text, 30)}”`);
    answer.addEventListener("click", () => this.replyTo(message));
    body.append(text, make("span", { class: "foot" }, [
      ...(reactions ? [make("span", { class: "reactions" }, [reactions])] : []), answer, foot,
    ]));
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

  // Where this screen is, as the demo wants to be told.
  get where() {
    const { thread } = this.room;
    return { person: this.person.id, ...(thread === null ? {} : { thread }) };
  }

  send(text, replyTo = 0) {
    this.toEnd();
    const reply = replyTo ? { reply_to: replyTo } : {};
    return ask("send", { ...this.where, ...reply, text }, this.toast);
  }

  replyTo(message) {
    this.stopEditing();
    this.answering = message.message_id;
    const stop = make("button", { type: "button", "aria-label": "Do not reply" }, ["×"]);
    stop.addEventListener("click", () => this.stopEditing());
    this.reply.replaceChildren(make("span", { dir: "auto" }, [short(message.text)]), stop);
    this.reply.hidden = false;
    this.input.focus();
  }

  async sendTyped() {
    const text = this.input.value.trim();
    if (!text) return;
    const { editing: edited, answering } = this;
    this.stopEditing();
    const done = edited
      ? await ask("edit", { ...this.where, message_id: edited, text }, this.toast)
      : await this.send(text, answering);
    if (!done && !this.input.value) this.input.value = text;
    this.grow();
  }

  press(messageId, data) {
    return ask("press", { ...this.where, message_id: messageId, data }, this.toast);
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
    const mine = `user:${this.person.id}`;
    const own = this.phone?.messages.filter((each) => each.author === mine).at(-1);
    if (!own) return;
    this.editing = own.message_id;
    this.input.value = own.text;
    this.form.classList.add("editing");
    this.grow();
  }

  stopEditing() {
    this.editing = this.answering = 0;
    this.reply.hidden = true;
    this.input.value = "";
    this.form.classList.remove("editing");
    this.grow();
  }

  grow() {
    this.input.style.height = "auto";
    this.input.style.height = `${Math.min(this.input.scrollHeight, 130)}px`;
  }
}

function short(text, most = 70) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
