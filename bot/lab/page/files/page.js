// Puts the page together: the live feed, who is looked at, tabs, the bot's process, the scenes.

import { ask, feed } from "./feed.js";
import { make, later } from "./dom.js";
import { Phone } from "./phone.js";
import { Timeline } from "./timeline.js";
import { showMemory } from "./memory.js";
import { Switches } from "./switches.js";

const find = (selector) => document.querySelector(selector);
const state = { users: [], owner: null, person: 0, heads: {}, phones: {}, memory: {}, bot: null };

const userPhone = new Phone(find('[data-phone="user"]'), "user", toast);
const ownerPhone = new Phone(find('[data-phone="owner"]'), "owner", toast);
const timeline = new Timeline(find("#diagram"), find("#lane-names"), find("#now"), find("#detail"));
const switches = new Switches(find("#switches"), () => state.person, toast);
userPhone.marked = (clientId) => timeline.mark(clientId);

// --- people ----------------------------------------------------------------------------------

function hello({ users, owner, model, practice }) {
  state.users = users;
  state.owner = owner;
  timeline.names = Object.fromEntries([...users, owner].map((each) => [each.id, each.name]));
  const answers = practice ? "a practice model" : `the model ${model}`;
  const reach = practice ? "nothing leaves this machine" : "Telegram is played on this machine";
  find("#tagline").textContent = `The real bot, ${answers}; ${reach}.`;
  find(".people").replaceChildren(...users.map(personButton));
  choose(users.some((each) => each.id === state.person) ? state.person : users[0].id);
}

function personButton(person) {
  const button = make("button", { type: "button", role: "radio", class: "person" }, [
    make("span", { class: `face face-${person.id % 4}`, "aria-hidden": "true" }, [person.name[0]]),
    make("bdi", {}, [person.name]),
    make("span", { class: "unread", hidden: "" }, ["new"]),
  ]);
  button.dataset.person = person.id;
  button.title = `${person.name} ${person.about}`;
  button.addEventListener("click", () => choose(person.id));
  return button;
}

find(".people").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const ids = state.users.map((each) => each.id);
  choose(ids[(ids.indexOf(state.person) + step + ids.length) % ids.length]);
  find('.person[aria-checked="true"]').focus();
});

function choose(id) {
  state.person = id;
  const person = state.users.find((each) => each.id === id);
  for (const button of document.querySelectorAll(".person")) {
    const chosen = Number(button.dataset.person) === id;
    button.setAttribute("aria-checked", String(chosen));
    button.tabIndex = chosen ? 0 : -1;
    if (chosen) button.querySelector(".unread").hidden = true;
  }
  userPhone.belongTo(person, state.phones[id]);
  ownerPhone.belongTo({ ...state.owner, suggestions: ownerSuggestions(person) },
    state.phones[state.owner.id]);
  find("#timeline-of").textContent = find("#memory-of").textContent = `of ${person.name}`;
  timeline.show(person.conversation, state.heads[person.conversation]);
  showMemory(find("#lines"), state.memory[id]);
  switches.draw();
}

function ownerSuggestions(person) {
  if (!person.admitted) return state.owner.suggestions;
  const claim = { label: `Take ${person.name}’s conversation`, text: `/claim ${person.conversation}` };
  return [claim, ...state.owner.suggestions];
}

// --- the live feed ---------------------------------------------------------------------------

feed({
  open() {
    timeline.clear();
    state.heads = {};
  },
  closed() {
    engine("no connection", "off", "; does the demo still run?");
  },
  hello,
  demo({ bot, switches: shown }) {
    state.bot = bot;
    drawEngine(bot);
    timeline.live(bot.moments);
    switches.shown = shown;
    switches.draw();
  },
  phone(phone) {
    const before = state.phones[phone.person];
    state.phones[phone.person] = phone;
    if (phone.person === state.person) userPhone.show(phone);
    else if (phone.person === state.owner?.id) ownerPhone.show(phone);
    else noteUnread(before, phone);
    if (phone.person === state.owner?.id) noteUnread(before, phone, find('[data-tab="owner"]'));
  },
  journal({ entries }) {
    timeline.add(entries);
  },
  heads(heads) {
    state.heads = heads;
    const person = state.users.find((each) => each.id === state.person);
    timeline.stand(heads[person?.conversation]);
  },
  memory({ person, lines }) {
    state.memory[person] = lines;
    if (person === state.person) showMemory(find("#lines"), lines);
  },
});

function noteUnread(before, phone, tab) {
  const newest = (messages) => messages?.filter((each) => each.author === "bot").at(-1)?.message_id;
  if (!before || newest(phone.messages) === newest(before.messages)) return;
  const mark = find(`.person[data-person="${phone.person}"] .unread`);
  if (mark) mark.hidden = false;
  if (tab && tab.getAttribute("aria-selected") === "false") tab.classList.add("news");
}

// --- the bot's process -----------------------------------------------------------------------

const kill = find("#kill");

function engine(words, mood, more = "") {
  const shown = find("#engine-state");
  if (shown.textContent !== words + more) {
    shown.replaceChildren(make("span", {}, [words, make("span", { class: "pid" }, [more])]));
  }
  shown.dataset.mood = mood;
}

function drawEngine(bot) {
  const running = bot.pid !== null;
  kill.disabled = false;
  kill.textContent = running ? "Kill the bot" : "Start the bot";
  kill.classList.toggle("danger", running);
  if (bot.listening) engine("running", "on", `, process ${bot.pid}`);
  else if (running) engine("not listening", "wait", `, process ${bot.pid}`);
  else engine(bot.moments.at(-1)?.what ?? "ended", "off");
}

kill.addEventListener("click", async () => {
  kill.disabled = true;
  await ask("bot", { action: state.bot?.pid ? "kill" : "start" }, toast);
  kill.disabled = false;
});

// --- scenes: what anybody could do by hand, only faster ---------------------------------------

const SCENES = {
  async typist() {
    const texts = userPhone.person.language === "fa"
      ? ["سلام", "یک سؤال دارم", "تو کی هستی؟"]
      : ["Hi", "one more thing", "who are you?"];
    for (const text of texts) {
      await userPhone.send(text);
      await later(500);
    }
  },
  async takeover() {
    await flip("slow_model", true);
    await userPhone.send(userPhone.person.language === "fa" ? "تو کی هستی؟" : "Who are you?");
    await later(4500);
    await ask("send", { person: state.owner.id, text: `/claim ${userPhone.person.conversation}` }, toast);
    await later(900);
    await ask("send", { person: state.owner.id, text: "Hello, this is a person. How can I help?" }, toast);
    await later(6000);
    await flip("slow_model", false);
  },
  async crash() {
    await flip("slow_model", true);
    await userPhone.send(userPhone.person.language === "fa" ? "تو کی هستی؟" : "Who are you?");
    await later(3500);
    await ask("bot", { action: "kill" }, toast);
    await flip("slow_model", false);
    await later(2500);
    await ask("bot", { action: "start" }, toast);
  },
};

const flip = (name, on) => ask("switch", { name, on, person: state.person }, toast);

for (const button of document.querySelectorAll("[data-scene]")) {
  button.addEventListener("click", async () => {
    if (!(await assistantIsOn())) return;
    button.disabled = true;
    button.classList.add("playing");
    try {
      await SCENES[button.dataset.scene]();
    } finally {
      button.disabled = false;
      button.classList.remove("playing");
    }
  });
}

async function assistantIsOn() {
  const conversation = userPhone.person.conversation;
  if (!userPhone.person.admitted) {
    toast(`${userPhone.person.name} is a stranger here: choose another phone.`);
    return false;
  }
  const stands = () => state.heads[conversation]?.state ?? "";
  if (stands() === "ai_ready") return true;
  if (stands() === "human_active") {
    await ask("send", { person: state.owner.id, text: "/release" }, toast);
    await later(1200);
  }
  if (!userPhone.pressNewest("v1:start")) {
    toast("Start the AI assistant on the phone first.");
    return false;
  }
  for (let tries = 0; tries < 40 && stands() !== "ai_ready"; tries++) await later(100);
  return stands() === "ai_ready";
}

// --- tabs on narrow screens ------------------------------------------------------------------

const tabs = [...document.querySelectorAll("[data-tab]")];

function turnTo(tab) {
  for (const each of tabs) {
    const chosen = each === tab;
    each.setAttribute("aria-selected", String(chosen));
    each.tabIndex = chosen ? 0 : -1;
    find(`#${each.dataset.tab}`).classList.toggle("shown", chosen);
  }
  tab.classList.remove("news");
  timeline.redraw();
  userPhone.toEnd();
  ownerPhone.toEnd();
}

for (const tab of tabs) {
  tab.addEventListener("click", () => turnTo(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    turnTo(next);
    next.focus();
  });
}

// --- short notices ---------------------------------------------------------------------------

function toast(words) {
  const shown = make("div", { class: "toast", dir: "auto" }, [words]);
  find("#toasts").append(shown);
  setTimeout(() => shown.remove(), 5000);
}
