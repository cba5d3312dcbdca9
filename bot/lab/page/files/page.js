// Puts the page together: the live feed, who is looked at, tabs, the bot's process, the scenes.

import { ask, feed } from "./feed.js";
import { make, later } from "./dom.js";
import { Desk } from "./desk.js";
import { mark, walkable } from "./choice.js";
import { Phone } from "./phone.js";
import { Timeline } from "./timeline.js";
import { showMemory } from "./memory.js";
import { Switches } from "./switches.js";

const IN_TOPIC = ["/draft", "/summary", "/translate", "/release"];
const find = (selector) => document.querySelector(selector);
const state = { users: [], person: 0, heads: {}, phones: {}, memory: {}, bot: null };

const userPhone = new Phone(find('[data-phone="user"]'), "user", toast);
const desk = new Desk({
  people: find("#operators"), list: find("#rooms"), place: find('[data-phone="desk"]'), toast,
});
const timeline = new Timeline(find("#diagram"), find("#lane-names"), find("#now"), find("#detail"));
const switches = new Switches(find("#switches"), () => state.person, toast);
userPhone.marked = desk.phone.marked = (clientId) => timeline.mark(clientId);

// --- people ----------------------------------------------------------------------------------

function hello({ users, operators, model, practice }) {
  state.users = users;
  const names = Object.fromEntries([...users, ...operators].map((each) => [each.id, each.name]));
  timeline.names = userPhone.names = desk.phone.names = names;
  const answers = practice ? "a practice model" : `the model ${model}`;
  const reach = practice ? "nothing leaves this machine" : "Telegram is played on this machine";
  find("#tagline").textContent = `The real bot, ${answers}; ${reach}.`;
  find("#users").replaceChildren(...users.map((each) => personButton(each, choose)));
  desk.hello(operators, (each) => personButton(each, (id) => desk.act(id)));
  choose(users.some((each) => each.id === state.person) ? state.person : users[0].id);
}

function personButton(person, chosen) {
  const button = make("button", { type: "button", role: "radio", class: "person" }, [
    make("span", { class: `face face-${person.id % 4}`, "aria-hidden": "true" }, [person.name[0]]),
    make("bdi", {}, [person.name]),
    make("span", { class: "unread", hidden: "" }, ["new"]),
  ]);
  button.dataset.value = person.id;
  button.title = `${person.name} ${person.about}`;
  button.addEventListener("click", () => chosen(person.id));
  return button;
}

walkable(find("#users"), (id) => choose(Number(id)));

const chosenUser = () => state.users.find((each) => each.id === state.person);

function choose(id, fromDesk = false) {
  state.person = id;
  const person = chosenUser();
  mark(find("#users"), id);
  userPhone.belongTo(person, state.phones[id]);
  if (!fromDesk) desk.follow(person.conversation);
  else desk.draw();
  find("#timeline-of").textContent = find("#memory-of").textContent = `of ${person.name}`;
  timeline.show(person.conversation, state.heads[person.conversation]);
  showMemory(find("#lines"), state.memory[id]);
  switches.draw();
}

desk.turned = (conversation) => {
  const user = state.users.find((each) => each.conversation === conversation);
  if (user && user.id !== state.person) choose(user.id, true);
};

desk.news = () => {
  const tab = find('[data-tab="desk"]');
  if (tab.getAttribute("aria-selected") === "false") tab.classList.add("news");
};

// In a topic what helps with its conversation; elsewhere what leads to one.
desk.suggestions = (topic, operator) => {
  if (topic?.conversation) return IN_TOPIC;
  const person = chosenUser();
  if (!person?.admitted) return operator.suggestions;
  const claim = { label: `Take ${person.name}’s conversation`, text: `/claim ${person.conversation}` };
  return [claim, ...operator.suggestions];
};

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
    else if (desk.operators.some((each) => each.id === phone.person)) desk.private(phone);
    else noteUnread(before, phone);
  },
  group(group) {
    const fresh = desk.group(group);
    const mine = fresh.find((each) => each.conversation === chosenUser()?.conversation);
    if (mine) desk.look(mine.thread, true);
  },
  room(room) {
    desk.room(room);
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

function noteUnread(before, phone) {
  const newest = (messages) => messages?.filter((each) => each.author === "bot").at(-1)?.message_id;
  if (!before || newest(phone.messages) === newest(before.messages)) return;
  const flag = find(`#users [data-value="${phone.person}"] .unread`);
  if (flag) flag.hidden = false;
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
    await takeOver(userPhone.person.conversation, "Hello, this is a person. How can I help?");
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

// Typing in a topic takes the conversation; where there is no topic yet, a command does.
async function takeOver(conversation, words) {
  if (!desk.topicOf(conversation)) {
    await operatorSays(conversation, `/claim ${conversation}`);
    await later(1200);
  }
  await operatorSays(conversation, words);
}

function operatorSays(conversation, text, person = desk.operators[0].id) {
  const topic = desk.topicOf(conversation);
  return ask("send", { person, text, ...(topic ? { thread: topic.thread } : {}) }, toast);
}

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
    const holder = desk.operators.find((each) => each.name === state.heads[conversation].holder_name);
    await operatorSays(conversation, "/release", holder?.id);
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
  desk.phone.toEnd();
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
