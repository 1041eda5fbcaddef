// Keys of a single letter. An element with data-key="x" is pressed (or, if it is a field, focused) by the key x; the
// sheet of the key ? is made of the same elements, so it is true on every page. Keys are off in fields and in dialogs,
// with Ctrl, Alt or Meta, and altogether where somebody has switched them off (WCAG 2.1.4).
"use strict";

// A block, so that its names are not those of other scripts.
{
const KEYS_OFF = "keys-off";
const ITEMS = ".result, [data-item]";
const ownKeys = () => document.querySelector("main")?.dataset.keys === "own";
const keysOff = () => { try { return localStorage.getItem(KEYS_OFF) === "1"; } catch { return false; } };
const visible = (element) => element.checkVisibility ? element.checkVisibility({ visibilityProperty: true }) : element.offsetParent !== null;

function typing(element) {
  return element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName);
}

// A box to tick takes no letters; a list of choices, a combobox or a drawing may have keys of its own.
const OWN_KEYS = "[role=listbox], [role=combobox], [role=menu], [role=tree], [role=grid], [role=application]";
function takesKeys(element) {
  if (document.querySelector("dialog[open]") || element.closest(OWN_KEYS)) return true;
  return typing(element) && !/^(checkbox|button|submit|reset)$/.test(element.type);
}

const items = () => [...document.querySelectorAll(ITEMS)].filter(visible);
const itemAt = (list) => list.findIndex((item) => item.contains(document.activeElement));

function move(step) {
  const list = items(), at = itemAt(list);
  if (!list.length) return;
  const next = list[Math.min(Math.max(at + step, 0), list.length - 1)];
  (next.querySelector("summary:not(.edit *)") || next.querySelector("a")).focus();
  next.scrollIntoView({ block: "nearest" });
}

// The element of a key: in the item where the focus is, or the first one, else anywhere on the page.
function target(key) {
  const found = [...document.querySelectorAll("[data-key]")].filter((each) => each.dataset.key === key && visible(each));
  const list = items(), item = list[Math.max(itemAt(list), 0)];
  return found.find((each) => item && item.contains(each)) || found.find((each) => !each.closest(ITEMS));
}

function press(element) {
  if (typing(element)) {
    element.focus();
    element.select?.();
  } else {
    element.focus();
    element.click();
  }
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (ownKeys() || keysOff()) return;
  const box = document.getElementById("q");
  // Who presses it to get to the box, and is there already, does not mean to type it; no question begins with it.
  if (event.key === "/" && event.target === box && !box.value) return event.preventDefault();
  if (takesKeys(event.target)) return;
  if (event.key === "j" || event.key === "k") return move(event.key === "j" ? 1 : -1);
  const element = event.key === "/" ? box : event.key.length === 1 && target(event.key);
  if (!element && event.key !== "?") return;
  event.preventDefault();
  if (event.key === "?") showKeys();
  else press(element);
});

function told() {
  const rows = new Map();
  if (document.getElementById("q")) rows.set("/", "Go to the question");
  if (items().length) rows.set("j", "Next result").set("k", "Result before");
  for (const each of document.querySelectorAll("[data-key]")) {
    if (visible(each) && !rows.has(each.dataset.key)) rows.set(each.dataset.key, each.dataset.keySays || each.textContent.trim());
  }
  return rows.set("?", "This sheet");
}

function make(tag, text, attributes) {
  const element = Object.assign(document.createElement(tag), attributes || {});
  if (text) element.textContent = text;
  return element;
}

function showKeys() {
  const sheet = make("dialog", "", { className: "sheet", id: "keys" });
  sheet.setAttribute("aria-labelledby", "keys-title");
  const list = make("dl");
  for (const [key, says] of told()) {
    const row = make("div"), term = make("dt");
    term.append(make("kbd", key));
    row.append(term, make("dd", says));
    list.append(row);
  }
  const choice = make("label", "", { className: "tick-box" });
  const tick = make("input", "", { type: "checkbox", checked: !keysOff() });
  tick.addEventListener("change", () => { try { localStorage.setItem(KEYS_OFF, tick.checked ? "0" : "1"); } catch { tick.checked = true; } });
  choice.append(tick, " Keys of a single letter are on");
  const close = make("button", "Close", { type: "button", autofocus: true });
  close.addEventListener("click", () => sheet.close());
  sheet.append(make("h2", "Keys of this page", { id: "keys-title" }), list, choice, close);
  sheet.addEventListener("close", () => sheet.remove());
  sheet.addEventListener("click", (event) => { if (event.target === sheet) sheet.close(); });
  document.body.append(sheet);
  sheet.showModal();
}

const opener = document.querySelector("[data-keys-sheet]");
if (opener && !ownKeys()) {
  opener.hidden = false;
  opener.addEventListener("click", showKeys);
}
}
