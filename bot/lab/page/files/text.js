// A message's text with its entities as elements. Offsets count UTF-16 units, as strings here do.
// Each paragraph finds its own direction. Nothing of the text is ever taken for markup.

import { make } from "./dom.js";

const INLINE = {
  bold: "b",
  italic: "i",
  underline: "u",
  strikethrough: "s",
  code: "code",
  spoiler: "span",
};
const BLOCKS = { pre: "pre", blockquote: "blockquote", expandable_blockquote: "blockquote" };
const SAFE_LINKS = ["http:", "https:", "tg:", "mailto:", "tel:"];

export function formatted(text, entities, onCommand) {
  const all = entities
    .map((each) => ({ ...each, end: each.offset + each.length }))
    .sort((a, b) => a.offset - b.offset || b.end - a.end);
  const blocks = all.filter((each) => each.type in BLOCKS);
  const shown = document.createDocumentFragment();
  let at = 0;
  for (const block of blocks) {
    if (block.offset < at) continue;
    shown.append(...paragraphs(text, at, block.offset, all, onCommand));
    shown.append(blockOf(text, block, all, onCommand));
    at = block.end;
  }
  shown.append(...paragraphs(text, at, text.length, all, onCommand));
  return shown;
}

function blockOf(text, block, all, onCommand) {
  const element = make(BLOCKS[block.type], { dir: block.type === "pre" ? "ltr" : "auto" });
  if (block.type === "pre") {
    if (block.language) element.dataset.language = block.language;
    element.append(make("code", {}, [text.slice(block.offset, block.end)]));
  } else {
    const inner = all.filter((each) => each !== block && !(each.type in BLOCKS));
    element.append(...paragraphs(text, block.offset, block.end, inner, onCommand));
  }
  return element;
}

function paragraphs(text, from, to, entities, onCommand) {
  let part = text.slice(from, to);
  if (part.startsWith("\n") && from > 0) from += 1; // the break beside a block is the block's
  part = text.slice(from, to);
  if (part.endsWith("\n") && to < text.length) to -= 1;
  if (from >= to) return [];
  const shown = [];
  let start = from;
  for (let at = from; at <= to; at++) {
    if (at < to && text[at] !== "\n") continue;
    const line = make("p", { dir: "auto" });
    if (at > start) line.append(...inline(text, start, at, entities, onCommand));
    else line.append(make("br"));
    shown.push(line);
    start = at + 1;
  }
  return shown;
}

function inline(text, from, to, entities, onCommand) {
  const inside = entities.filter(
    (each) => !(each.type in BLOCKS) && each.offset < to && each.end > from);
  const shown = [];
  let at = from;
  while (inside.length) {
    const outer = inside.shift();
    const start = Math.max(outer.offset, at);
    const end = Math.min(outer.end, to);
    if (end <= start) continue;
    if (start > at) shown.push(text.slice(at, start));
    const nested = [];
    while (inside.length && inside[0].offset < end) nested.push(inside.shift());
    const element = elementOf(outer, text.slice(start, end), onCommand);
    element.append(...inline(text, start, end, nested, onCommand));
    shown.push(element);
    at = end;
  }
  if (at < to) shown.push(text.slice(at, to));
  return shown;
}

function elementOf(entity, words, onCommand) {
  if (entity.type === "text_link" || entity.type === "url") {
    const address = safeAddress(entity.url ?? words);
    if (address === null) return make("span");
    return make("a", { href: address, target: "_blank", rel: "noopener noreferrer" });
  }
  if (entity.type === "bot_command" && onCommand) {
    const button = make("button", { type: "button", class: "command", dir: "ltr" });
    button.addEventListener("click", () => onCommand(words));
    return button;
  }
  const element = make(INLINE[entity.type] ?? "span");
  if (entity.type === "spoiler") element.className = "spoiler";
  return element;
}

function safeAddress(address) {
  try {
    const url = new URL(address.includes(":") ? address : `https://${address}`);
    return SAFE_LINKS.includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
