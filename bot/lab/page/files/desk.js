// The operators' group: who of them looks, which topic they look at, and what is in it.

import { mark, walkable } from "./choice.js";
import { make } from "./dom.js";
import { Phone } from "./phone.js";

const PRIVATE = "private";

export class Desk {
  operators = [];
  topics = []; // { thread, name, closed, conversation }
  rooms = new Map(); // thread → { messages, pinned }
  phones = new Map(); // operator → their own chat with the bot
  operator = 0;
  key = PRIVATE;
  news = () => {}; // something came where nobody looks
  turned = () => {}; // a topic was chosen: its conversation
  suggestions = () => []; // what to offer above the input field, for this room and operator

  constructor({ people, list, place, toast }) {
    this.people = people;
    this.list = list;
    this.phone = new Phone(place, "desk", toast);
    walkable(people, (id) => this.act(Number(id)));
    walkable(list, (key) => this.look(key));
  }

  hello(operators, button) {
    this.operators = operators;
    this.people.replaceChildren(...operators.map(button));
    this.act(operators.some((each) => each.id === this.operator) ? this.operator : operators[0].id);
  }

  get who() {
    return this.operators.find((each) => each.id === this.operator);
  }

  get topic() {
    return this.topics.find((each) => String(each.thread) === this.key);
  }

  act(id) {
    this.operator = id;
    mark(this.people, id);
    this.drawList();
    this.draw();
  }

  // A topic by its thread, or the operator's own chat with the bot.
  look(key, quietly = false) {
    this.key = String(key);
    mark(this.list, this.key);
    this.draw();
    if (!quietly && this.topic?.conversation) this.turned(this.topic.conversation);
  }

  // Turns to the topic of a conversation, if there is one.
  follow(conversation) {
    const topic = this.topicOf(conversation);
    if (topic) this.look(topic.thread, true);
    else if (this.topic?.conversation) this.look(this.topics[0]?.thread ?? PRIVATE, true);
    else this.draw();
  }

  topicOf(conversation) {
    return this.topics.find((each) => each.conversation === conversation);
  }

  // --- what the demo tells ---

  group({ topics }) {
    const fresh = topics.filter((each) => each.conversation
      && !this.topics.some((known) => known.thread === each.thread && known.conversation));
    this.topics = topics;
    if (this.key !== PRIVATE && !this.topic) this.key = String(topics[0].thread);
    this.drawList();
    this.draw();
    return fresh;
  }

  room(room) {
    const before = this.rooms.get(room.thread);
    this.rooms.set(room.thread, room);
    if (String(room.thread) === this.key) this.draw();
    else this.unread(String(room.thread), before, room);
    if (newest(before) !== newest(room)) this.news();
  }

  private(phone) {
    const before = this.phones.get(phone.person);
    this.phones.set(phone.person, phone);
    const looks = phone.person === this.operator;
    if (looks) this.draw(); // also for answers to what was pressed in a topic
    if (!before || newest(before) === newest(phone)) return;
    this.news();
    if (looks && this.key !== PRIVATE) this.unread(PRIVATE, before, phone);
    if (!looks) this.flag(this.people, phone.person);
  }

  unread(key, before, room) {
    if (before && newest(before) !== newest(room)) this.flag(this.list, key);
  }

  flag(group, value) {
    const shown = group.querySelector(`[data-value="${value}"] .unread`);
    if (shown) shown.hidden = false;
  }

  // --- what is drawn ---

  drawList() {
    const flagged = new Set([...this.list.querySelectorAll(".unread:not([hidden])")]
      .map((each) => each.parentElement.dataset.value));
    const rows = [...this.topics.map((each) => this.row(String(each.thread), each.name, each.closed)),
      this.row(PRIVATE, `${this.who?.name ?? "…"} and the bot, in private`)];
    const focused = this.list.contains(document.activeElement);
    this.list.replaceChildren(...rows);
    mark(this.list, this.key);
    for (const key of flagged) if (key !== this.key) this.flag(this.list, key);
    if (focused) this.list.querySelector('[aria-checked="true"]')?.focus();
  }

  row(key, name, closed = false) {
    const button = make("button", { type: "button", role: "radio", class: "room" }, [
      make("bdi", {}, [name]),
      ...(closed ? [make("em", {}, ["closed"])] : []),
      make("span", { class: "unread", hidden: "" }, ["new"]),
    ]);
    button.dataset.value = key;
    button.addEventListener("click", () => this.look(key));
    return button;
  }

  draw() {
    if (!this.who) return;
    const own = this.phones.get(this.operator);
    const room = this.key === PRIVATE
      ? undefined
      : { key: this.key, thread: this.topic?.thread ?? 0, title: this.topic?.name ?? "…" };
    const shown = room ? this.shared(own) : own;
    const suggestions = this.suggestions(this.topic, this.who);
    this.phone.belongTo({ ...this.who, suggestions }, shown, room);
  }

  // A topic as this operator sees it: answers to presses come to the one who pressed.
  shared(own) {
    const room = this.rooms.get(this.topic?.thread ?? 0) ?? { messages: [], pinned: [] };
    return { ...room, typing: false, blocked: false, commands: own?.commands ?? [],
      answers: own?.answers ?? [] };
  }
}

function newest(room) {
  return room?.messages.filter((each) => !each.service).at(-1)?.message_id;
}
