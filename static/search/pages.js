// Comfort on top of pages that work without it: copying, colours without a reload, a box that grows.
"use strict";

const box = () => document.getElementById("q");

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === box() && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    event.target.form.requestSubmit();
  }
});

async function copy(button, text) {
  const label = button.textContent;
  await navigator.clipboard.writeText(text);
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1500);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-copy-address]");
  if (!button) return;
  const source = button.dataset.copy && document.getElementById(button.dataset.copy);
  copy(button, source ? source.textContent : location.href);
});

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form.theme");
  if (!form || !event.submitter) return;
  event.preventDefault();
  const theme = event.submitter.value;
  document.documentElement.dataset.theme = theme;
  document.cookie = `theme=${theme}; path=/; max-age=31536000; samesite=lax`;
  for (const button of form.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button === event.submitter));
  }
});

// Copying needs a secure context; where there is none the buttons stay hidden.
function showCopying(root) {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll("[data-copy], [data-copy-address]")) button.hidden = false;
}

// Names of entities below the box while one types: arrows choose, Enter or Tab takes, Escape closes. In a field that
// holds a name alone (`data-end`), any word of a name may be typed, such as a surname.
function completing(input, picker) {
  const whole = "end" in input.dataset ? "&whole=1" : "";
  const list = document.createElement("ul");
  list.id = input.id === "q" ? "suggestions" : `${input.id}-suggestions`;
  list.className = "suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Names");
  list.hidden = true;
  input.form.append(list);
  const attributes = { "aria-autocomplete": "list", "aria-haspopup": "listbox", "aria-controls": list.id };
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);

  let start = 0, chosen = -1, asked = 0, timer = 0;

  const close = () => {
    asked += 1;
    clearTimeout(timer);
    chosen = -1;
    list.hidden = true;
    input.removeAttribute("aria-activedescendant");
  };

  const choose = (at) => {
    chosen = (at + list.children.length) % list.children.length;
    [...list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === chosen)));
    input.setAttribute("aria-activedescendant", list.children[chosen].id);
  };

  const take = (item) => {
    input.setRangeText(item.firstChild.textContent, start, input.selectionStart, "end");
    close();
    input.focus();
  };

  const show = (items) => {
    list.replaceChildren(...items.map((item, index) => {
      const row = document.createElement("li");
      row.id = `${list.id}-${index}`;
      row.setAttribute("role", "option");
      row.setAttribute("aria-selected", "false");
      const type = document.createElement("span");
      type.textContent = item.type;
      row.append(document.createTextNode(item.name), type);
      row.addEventListener("pointerdown", (event) => { event.preventDefault(); take(row); });
      return row;
    }));
    chosen = -1;
    list.hidden = items.length === 0;
    input.removeAttribute("aria-activedescendant");
  };

  const ask = async () => {
    const mine = ++asked;
    const text = input.value.slice(0, input.selectionStart);
    const answer = await fetch(`${picker.value ? `/kb/${encodeURIComponent(picker.value)}` : ""}/suggest/?q=${encodeURIComponent(text.slice(-200))}${whole}`);
    if (!answer.ok) return;
    const found = await answer.json();
    if (mine !== asked) return;
    start = text.length - found.length;
    show(found.items);
  };

  input.addEventListener("input", () => {
    clearTimeout(timer);
    if (picker.value) timer = setTimeout(ask, 150);
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (list.hidden || event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      choose(event.key === "ArrowDown" ? chosen + 1 : Math.max(chosen, 0) - 1);
    } else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) {
      event.preventDefault();
      take(list.children[chosen]);
    } else if (event.key === "Escape") {
      event.preventDefault();
      close();
    }
  });
}

// How much still fits, said once a field is nearly full, and what a paste has lost, which browsers cut off silently.
const NEARLY_FULL = 0.8;
const inNumbers = (count) => count.toLocaleString();

function counterOf(field) {
  const id = `${field.id}-count`;
  const there = document.getElementById(id);
  if (there) return there;
  const counter = document.createElement("p");
  counter.id = id;
  counter.className = "counter";
  counter.setAttribute("role", "status");
  (field.closest(".ask-line") || field).after(counter);
  return counter;
}

function count(field, lost) {
  const most = field.maxLength, used = field.value.length;
  if (used < most * NEARLY_FULL) {
    const counter = document.getElementById(`${field.id}-count`);
    if (counter) counter.remove();
    return;
  }
  const counter = counterOf(field);
  counter.classList.toggle("full", used >= most);
  counter.textContent = `${inNumbers(used)} of ${inNumbers(most)} characters.`;
  if (lost > 0) counter.textContent += ` ${inNumbers(lost)} more did not fit and were left out.`;
}

const limited = (element) => element.id && element.matches("input[maxlength], textarea[maxlength]");

document.addEventListener("input", (event) => {
  if (limited(event.target) && event.inputType !== "insertFromPaste") count(event.target, 0);
});

document.addEventListener("paste", (event) => {
  const field = event.target;
  if (!limited(field) || !event.clipboardData) return;
  const brought = event.clipboardData.getData("text").replace(/\r\n/g, "\n").length;
  const kept = field.value.length - (field.selectionEnd - field.selectionStart);
  setTimeout(() => count(field, kept + brought - field.maxLength));
});

const picker = document.getElementById("kb");
if (box() && picker) completing(box(), picker);

showCopying(document);
document.addEventListener("htmx:after:swap", () => showCopying(document));

// A part that follows the site by itself: an answer that is an error says one sentence in place, and is tried again more
// slowly. The page of the error, with its own header and footer, is never put into the part.
const ERROR_PAUSE = 3000;
const refusedAt = new WeakMap();

document.addEventListener("htmx:before:request", (event) => {
  const at = refusedAt.get(event.detail.ctx.sourceElement);
  if (at && Date.now() - at < ERROR_PAUSE) event.preventDefault();
});

document.addEventListener("htmx:after:request", (event) => {
  const { sourceElement: part, response } = event.detail.ctx;
  if (response.status < 400) {
    refusedAt.delete(part);
    return part.querySelector(":scope > .not-answered")?.remove();
  }
  event.preventDefault();
  refusedAt.set(part, Date.now());
  if (part.querySelector(":scope > .not-answered")) return;
  const notice = document.createElement("div"), said = document.createElement("p"), button = document.createElement("button");
  notice.className = "notice bad not-answered";
  notice.setAttribute("role", "alert");
  said.textContent = `The site answers with an error (${response.status}), so this part may be out of date; it is asked again every few seconds. `;
  button.type = "button";
  button.textContent = "Reload the page";
  button.addEventListener("click", () => location.reload());
  said.append(button);
  notice.append(said);
  part.prepend(notice);
});
