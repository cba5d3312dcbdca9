// The timeline: lanes for who acted, a band for who may reply. Time flows down; a long silence
// takes more room. The band is in one lane at a time: nobody ever shares the right to reply.

import { draw, make } from "./dom.js";

const LANES = ["user", "ai", "human", "system"];
const LANE_NAMES = ["User", "AI", "Person", "Checks, sending"];
const SHORT_NAMES = ["User", "AI", "Person", "Checks"];
const AI_STATES = ["ai_ready", "ai_generating", "moderating", "bot_sending", "delivery_unknown"];
const AT_WORK = ["ai_generating", "moderating", "bot_sending", "delivery_unknown"];
const CHECKS = ["DraftApproved", "DraftBlocked", "ModerationUnavailable", "Delivered",
  "DeliveryFailed", "DeliveryTimedOut", "DeliveryConfirmed", "DeliveryDisproved",
  "DeliveryUnresolved", "ReplyRecalled"];
const ROW = 31;
const TURN = 13; // half the height of the band's way into another lane

const SAID = {
  UserStarted: () => "presses Start",
  UserMessaged: (each) => `message ${each.version}`,
  UserEdited: () => "edits a message",
  UserOptedIn: () => "starts the AI",
  UserRequestedHuman: () => "asks for a person",
  UserCancelled: () => "cancels",
  UserWithdrewConsent: () => "switches the AI off",
  UserClearedContext: () => "begins a new topic",
  UserBlockedBot: () => "blocked the bot",
  Ended: () => "closes the conversation",
  TurnDue: () => "quiet: the turn begins",
  AiDrafted: () => "draft written",
  GenerationFailed: () => "no draft",
  HandoffRecommended: () => "suggests a person",
  DraftApproved: () => "draft passed the check",
  DraftBlocked: () => "draft blocked",
  ModerationUnavailable: () => "check out of reach",
  Delivered: () => "reply arrived",
  DeliveryFailed: () => "reply refused",
  DeliveryTimedOut: () => "did it arrive?",
  DeliveryConfirmed: () => "proven: it arrived",
  DeliveryDisproved: () => "proven: it did not",
  DeliveryUnresolved: () => "cannot be known",
  ReplyRecalled: () => "reply withdrawn",
  PolicyEscalated: () => "a rule asks for a person",
  HealthDegraded: () => "the AI is not well",
  HumanClaimed: (each, name) => `${name} takes over`,
  HumanMessaged: (each, name) => `${name} writes`,
  HumanReleased: (each, name) => `${name} gives it back`,
  HumanTransferred: (each, name) => `${name} passes it on`,
  HumanLeaseExpired: () => "away for too long",
  HandoffReminderDue: () => "still nobody: reminder",
};
const HOLLOW = { stale: "too late: refused", ignored: "no effect" };

export class Timeline {
  names = {};

  constructor(place, laneNames, now, detail) {
    this.place = place;
    this.laneNames = laneNames;
    this.now = now;
    this.detail = detail;
    this.entries = new Map(); // conversation → entries
    this.moments = []; // of the bot's process: started, killed, ended
    this.conversation = "";
    this.drawnWidth = 0;
    this.rows = draw("g"); // replaced once there is room to draw in
    new ResizeObserver(() => this.redraw()).observe(place);
    place.addEventListener("keydown", (event) => this.walk(event));
  }

  clear() {
    this.entries.clear();
    this.redraw(true);
  }

  // What became of the process is drawn across all lanes.
  live(moments) {
    const fresh = moments.filter((each) => each.at > (this.moments.at(-1)?.at ?? 0));
    this.moments = moments;
    if (this.last) this.append(fresh);
  }

  story() {
    const entries = this.entries.get(this.conversation) ?? [];
    const since = entries[0]?.at ?? Infinity;
    return [...entries, ...this.moments.filter((each) => each.at > since)].sort((a, b) => a.at - b.at);
  }

  add(entries) {
    for (const each of entries) {
      if (!this.entries.has(each.conversation_id)) this.entries.set(each.conversation_id, []);
      this.entries.get(each.conversation_id).push(each);
    }
    const mine = entries.filter((each) => each.conversation_id === this.conversation);
    if (mine.length) this.append(mine, !this.last);
  }

  show(conversation, head) {
    this.conversation = conversation;
    this.stand(head);
    this.redraw(true);
  }

  redraw(anyway = false) {
    const width = this.place.clientWidth;
    if (!width || (!anyway && width === this.drawnWidth)) return;
    this.drawnWidth = width;
    this.start(width);
    this.append(this.story(), true);
  }

  // --- drawing ---

  start(width) {
    const narrow = width < 430;
    const gutter = narrow ? 44 : 52;
    const lane = narrow ? 38 : Math.max(46, Math.min(78, (width * 0.44) / 4));
    this.place.classList.toggle("narrow", narrow);
    this.laneAt = LANES.map((_, index) => gutter + lane * (index + 0.5));
    this.labelAt = gutter + lane * 4 + 16;
    this.width = width;
    this.end = 14;
    this.bandEnd = 0;
    this.last = null;
    this.growing = null;
    this.back = draw("g", { class: "lanes" });
    this.band = draw("g", { class: "band" });
    this.arrows = draw("g", { class: "arrows" });
    this.rows = draw("g", { class: "rows" });
    this.svg = draw("svg", { width, role: "presentation" }, [
      arrowHead(), this.back, this.band, this.arrows, this.rows,
    ]);
    this.place.replaceChildren(this.svg);
    this.laneNames.replaceChildren(...LANES.map((name, index) => {
      const shown = make("span", { class: `lane-name ${name}` },
        [(lane < 74 ? SHORT_NAMES : LANE_NAMES)[index]]);
      shown.style.left = `${this.laneAt[index]}px`;
      shown.style.width = `${lane}px`;
      return shown;
    }));
    this.describe(null);
  }

  append(entries, atOnce = false) {
    if (!this.svg) return;
    const near = this.place.scrollHeight - this.place.scrollTop - this.place.clientHeight < 80;
    this.tail?.remove();
    for (const each of entries) each.what ? this.moment(each) : this.row(each, atOnce);
    this.finish();
    if (near || atOnce) this.place.scrollTop = this.place.scrollHeight;
    const newest = [...this.rows.querySelectorAll(".entry")].at(-1);
    const focused = this.rows.contains(document.activeElement);
    if (newest && !focused) {
      for (const each of this.rows.querySelectorAll('[tabindex="0"]')) each.setAttribute("tabindex", "-1");
      newest.setAttribute("tabindex", "0");
      if (!this.rows.querySelector(":hover")) this.describe(newest.entry);
    }
  }

  row(entry, atOnce) {
    const silence = this.last ? entry.at - this.last.at : 0;
    const extra = silence > 1.5 ? Math.min(40, 9 * Math.log2(1 + silence)) : 0;
    const y = this.end + (this.last ? ROW + extra : 14);
    if (extra > 15) this.silence(silence, (this.end + y) / 2);
    this.bandTo(entry, y);
    this.turn(entry, y);
    this.link(entry, y);
    this.rows.append(this.rowOf(entry, y, atOnce));
    this.end = y;
    this.last = entry;
  }

  moment({ at, what }) {
    const y = this.end + ROW - 3;
    this.stretch(this.last.state_after, this.bandEnd, y);
    this.bandEnd = this.end = y;
    const words = { started: "the bot is started", killed: "the bot is killed", ended: "the bot ended" };
    this.rows.append(draw("g", { class: `moment ${what}`, role: "listitem", "aria-label": `${clock(at)}, ${words[what]}` }, [
      draw("line", { x1: 8, x2: this.labelAt - 14, y1: y, y2: y }),
      draw("text", { x: this.labelAt, y: y + 4, class: "label" }, [words[what]]),
    ]));
  }

  silence(seconds, y) {
    const words = seconds < 90 ? `${seconds.toFixed(seconds < 10 ? 1 : 0)} s` : `${Math.round(seconds / 60)} min`;
    this.back.append(draw("text", { x: this.laneAt[0] - 27, y: y + 4, class: "silence" }, [words]));
  }

  // The band from the last event to this one, and its way into another lane. A stretch of one
  // state is one line that grows.
  bandTo(entry, y) {
    const turns = laneOf(entry.state_before) !== laneOf(entry.state_after);
    const reach = turns ? y - TURN : y;
    if (!this.last) {
      if (turns) this.stretch(entry.state_before, y - TURN - 6, reach);
    } else {
      this.stretch(this.last.state_after, this.bandEnd, reach);
    }
    this.bandEnd = y;
    if (!turns) return;
    const [x0, x1] = [entry.state_before, entry.state_after].map((each) => this.laneAt[laneOf(each)]);
    this.bandEnd = y + TURN;
    this.band.append(draw("path", {
      d: `M${x0} ${y - TURN}C${x0} ${y + 5} ${x1} ${y - 5} ${x1} ${y + TURN}`,
      class: `turning ${entry.state_after}`,
    }));
    this.back.append(
      draw("line", { x1: 8, x2: this.width - 8, y1: y + 18, y2: y + 18, class: "epoch-line" }),
      draw("text", { x: 8, y: y + 14.5, class: "epoch" }, [`epoch ${entry.epoch}`]));
  }

  stretch(state, from, to) {
    if (this.growing?.state === state && this.growing.to === from) {
      this.growing.line.setAttribute("y2", to);
    } else {
      this.growing = { state, line: this.piece(state, from, to) };
      this.band.append(this.growing.line);
    }
    this.growing.to = to;
  }

  piece(state, from, to) {
    const x = this.laneAt[laneOf(state)];
    return draw("line", { x1: x, x2: x, y1: from, y2: to, class: `piece ${state}` });
  }

  // A bracket beside the labels for everything that belongs to one turn.
  turn(entry, y) {
    if (!entry.turn_id) return;
    const goesOn = this.last?.turn_id === entry.turn_id;
    const x = this.labelAt - 8;
    this.back.append(draw("line", {
      x1: x, x2: x, y1: goesOn ? this.end : y - 7, y2: y + 7, class: "turn",
    }));
  }

  link(entry, y) {
    const from = actorLane(entry);
    const to = target(entry);
    if (to < 0 || to === from || entry.outcome !== "applied") return;
    const [x0, x1] = [this.laneAt[from], this.laneAt[to]];
    const gap = x1 > x0 ? 10 : -10;
    this.arrows.append(draw("line", {
      x1: x0 + gap, x2: x1 - gap, y1: y, y2: y, class: `arrow ${LANES[colourOf(entry)]}`,
      "marker-end": "url(#head)",
    }));
  }

  rowOf(entry, y, atOnce) {
    const lane = actorLane(entry);
    const applied = entry.outcome === "applied";
    const changes = entry.state_before !== entry.state_after;
    const words = this.words(entry);
    const shown = draw("g", {
      class: `entry ${LANES[lane]} ${applied ? "" : "hollow"} ${atOnce ? "" : "arriving"}`,
      tabindex: "-1", role: "listitem", "aria-label": this.spoken(entry),
    }, [
      draw("rect", { x: 1, y: y - 14, width: this.width - 2, height: 28, rx: 7, class: "hit" }),
      draw("text", { x: 8, y: y + 4, class: "time" }, [clock(entry.at)]),
      draw("circle", { cx: this.laneAt[lane], cy: y, r: 6.5, class: "dot" }),
      draw("text", { x: this.labelAt, y: changes ? y - 1.5 : y + 4, class: "label" }, [words]),
      ...(changes ? [draw("text", { x: this.labelAt, y: y + 10.5, class: `becomes ${entry.state_after}` },
        [entry.state_after])] : []),
    ]);
    shown.entry = entry;
    for (const event of ["pointerenter", "focus"]) {
      shown.addEventListener(event, () => this.describe(entry, shown));
    }
    return shown;
  }

  words(entry) {
    const name = this.names[Number(entry.actor.split(":")[1])] ?? "a person";
    const said = (SAID[entry.event] ?? (() => entry.event))(entry, name);
    const hollow = HOLLOW[entry.outcome];
    return hollow ? `${said} (${hollow})` : said;
  }

  spoken(entry) {
    return `${clock(entry.at)}, ${entry.actor}: ${this.words(entry)}. State ${entry.state_after}, `
      + `epoch ${entry.epoch}, version ${entry.version}.`;
  }

  finish() {
    const state = this.last?.state_after;
    const bottom = this.end + 34;
    this.tail = draw("g");
    if (state) {
      const piece = this.piece(state, this.bandEnd, bottom);
      if (AT_WORK.includes(state)) piece.classList.add("at-work");
      this.tail.append(piece);
    }
    this.band.append(this.tail);
    this.svg.setAttribute("height", bottom + 6);
    for (const line of this.back.querySelectorAll(".lane")) line.remove();
    this.laneAt.forEach((x, index) => this.back.prepend(draw("line", {
      x1: x, x2: x, y1: 0, y2: bottom + 6, class: `lane ${LANES[index]}`,
    })));
    this.place.classList.toggle("empty", !this.last);
  }

  // --- beside the drawing ---

  stand(head) {
    const state = head?.state ?? "nothing yet";
    const who = { ai: "the AI", human: head?.holder_name || "a person" }[holder(state)] ?? "nobody";
    const turn = head?.turn_id ?? "";
    const parts = [
      make("span", { class: `who ${holder(state)}` }, [
        make("small", {}, ["may reply"]), make("b", {}, [who])]),
      fact("state", state, `state ${state}`),
      fact("epoch", head?.epoch ?? "–"),
      fact("version", head?.version ?? "–"),
      fact("turn", turn.replace("turn:", "") || "–"),
      fact("client message id", turn ? `ai:${head.id}:${turn}` : "–", "long"),
    ];
    this.now.replaceChildren(...parts);
  }

  describe(entry, row) {
    for (const each of this.rows.querySelectorAll(".chosen")) each.classList.remove("chosen");
    row?.classList.add("chosen");
    if (!entry) {
      this.detail.replaceChildren(make("p", {}, ["Point at an event, or walk through them with the arrow keys."]));
      return;
    }
    const state = entry.state_before === entry.state_after
      ? entry.state_after : `${entry.state_before} → ${entry.state_after}`;
    const facts = [["event", entry.event], ["by", entry.actor], ["at", clock(entry.at, true)],
      ["state", state], ["epoch", entry.epoch], ["version", entry.version],
      ["turn", entry.turn_id], ["client message id", entry.client_message_id],
      ["outcome", entry.outcome === "applied" ? "" : entry.outcome], ["note", entry.note]];
    this.detail.replaceChildren(make("dl", {}, facts.filter(([, value]) => value !== "").map(
      ([name, value]) => make("div", {}, [make("dt", {}, [name]), make("dd", {}, [String(value)])]))));
  }

  // Marks the events of one message while the phone's bubble is pointed at.
  mark(clientId) {
    const wanted = clientId.split("#")[0];
    for (const row of this.rows.querySelectorAll(".entry")) {
      row.classList.toggle("marked", Boolean(wanted) && row.entry.client_message_id === wanted);
    }
  }

  walk(event) {
    const rows = [...this.rows.querySelectorAll(".entry")];
    const at = rows.indexOf(document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (at < 0 || next === undefined || !rows[next]) return;
    event.preventDefault();
    rows[at].setAttribute("tabindex", "-1");
    rows[next].setAttribute("tabindex", "0");
    rows[next].focus();
  }
}

function holder(state) {
  if (AI_STATES.includes(state)) return "ai";
  return state === "human_active" ? "human" : "nobody";
}

function laneOf(state) {
  return { ai: 1, human: 2, nobody: 3 }[holder(state)];
}

function actorLane(entry) {
  if (CHECKS.includes(entry.event)) return 3;
  const who = entry.actor.split(":")[0];
  return who === "system" ? (entry.event === "TurnDue" ? 1 : 3) : LANES.indexOf(who);
}

// The lane an event reaches out to; -1: none.
function target(entry) {
  switch (entry.event) {
    case "UserMessaged":
    case "UserEdited": return laneOf(entry.state_before);
    case "UserRequestedHuman": return 2;
    case "UserOptedIn": return 1;
    case "AiDrafted": return 3;
    case "Delivered":
    case "DeliveryConfirmed":
    case "HumanMessaged": return 0;
    default: return -1;
  }
}

function colourOf(entry) {
  return ["Delivered", "DeliveryConfirmed"].includes(entry.event) ? 1 : actorLane(entry);
}

function clock(at, precise = false) {
  const moment = new Date(at * 1000);
  const two = (number) => String(number).padStart(2, "0");
  const seconds = `${two(moment.getMinutes())}:${two(moment.getSeconds())}`;
  if (!precise) return seconds;
  return `${two(moment.getHours())}:${seconds}.${String(moment.getMilliseconds()).padStart(3, "0")}`;
}

function fact(name, value, kind = "") {
  return make("span", { class: `fact ${kind}` }, [
    make("small", {}, [name]), make("b", {}, [String(value)])]);
}

function arrowHead() {
  return draw("defs", {}, [draw("marker", {
    id: "head", viewBox: "0 0 8 8", refX: "6", refY: "4", markerWidth: "6", markerHeight: "6",
    orient: "auto-start-reverse",
  }, [draw("path", { d: "M0 0L8 4L0 8z", fill: "context-stroke" })])]);
}
