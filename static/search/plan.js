// The plan as a form: every change is looked at by the server, which sends the form again. Without scripts the same
// buttons send the whole page; with them only the form is replaced, and the keyboard stays where it was.
"use strict";

const PART = { "X-Page-Part": "plan" };
const LOOK_AFTER = 200;

const section = () => document.getElementById("plan-part");
const parsed = (html) => new DOMParser().parseFromString(html, "text/html").getElementById("plan-part");

let newest = 0;
// Whether the form is being replaced: the browser tells of the focus that leaves with it, but nobody left a field.
let replacing = false;

function focusAgain(id, caret) {
  const element = id && document.getElementById(id);
  if (!element) return false;
  element.focus({ preventScroll: true });
  if (caret !== null && element.setSelectionRange && element.type !== "hidden") element.setSelectionRange(caret, caret);
  return true;
}

async function send(form, submitter, onPage) {
  const mine = ++newest;
  const body = new URLSearchParams(new FormData(form));
  if (submitter) body.append(submitter.name, submitter.value);
  const answer = await fetch(form.action, { method: "POST", body, headers: PART });
  if (mine !== newest) return;
  if (answer.redirected) {
    location.assign(answer.url);
    return;
  }
  const fresh = parsed(await answer.text());
  // Somebody types on: what came back is older than what stands there, and the next look brings both together.
  const typedOn = !submitter && String(new URLSearchParams(new FormData(form))) !== String(body);
  if (mine === newest && !typedOn) onPage(fresh);
}

function replace(fresh) {
  const at = document.activeElement;
  const caret = at && at.matches("input:not([type=hidden]), textarea") ? at.selectionStart : null;
  replacing = true;
  section().replaceWith(fresh);
  replacing = false;
  enliven();
  if (at && at.id && focusAgain(at.id, caret)) return;
  document.getElementById("plan-title").focus({ preventScroll: true });
}

// What cannot be done here is done by the browser: the whole page is sent.
function natively(form, submitter) {
  form.dataset.native = "";
  form.requestSubmit(submitter || undefined);
}

function changed(form, submitter) {
  send(form, submitter, (fresh) => (fresh ? replace(fresh) : natively(form, submitter))).catch(() => {
    if (submitter) natively(form, submitter);
  });
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-plan-editor]");
  if (!form || "native" in form.dataset) return;
  event.preventDefault();
  changed(form, event.submitter);
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-plan-editor] select")) changed(event.target.form, null);
});

// Leaving a field that was changed. A button that is being pressed sends the form itself.
let pressing = false;
document.addEventListener("pointerdown", (event) => {
  pressing = Boolean(event.target.closest("[data-plan-editor] button"));
});

// Going to the names that are offered is not leaving the field: the form would be sent, and the names with it be gone.
document.addEventListener("focusout", (event) => {
  const left = event.target.closest("[data-plan-editor] :is(input, textarea, .offer)");
  if (!left || pressing || replacing) return;
  const chip = left.closest(".chip.anchor");
  const field = left.matches(".offer") ? chip.querySelector("[data-look]") : left;
  const stays = chip && event.relatedTarget && chip.contains(event.relatedTarget) && event.relatedTarget.matches("[data-look], .offer");
  if (!stays && field.value !== field.defaultValue) changed(field.form, null);
});

// Entities are offered while one types; the field itself stays untouched.
let timer = 0;

async function look(input) {
  const form = input.form;
  const body = new URLSearchParams(new FormData(form));
  const typed = input.value;
  body.append("do", `look ${input.dataset.look}`);
  const answer = await fetch(form.action, { method: "POST", body, headers: PART });
  const fresh = parsed(await answer.text());
  const found = fresh && fresh.querySelector(`#found-${input.dataset.look}`);
  const shown = found && document.getElementById(found.id);
  // Whoever is choosing among the names already keeps them.
  if (shown && input.value === typed && !shown.contains(document.activeElement)) shown.replaceWith(found);
}

document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-plan-editor] [data-look]")) return;
  clearTimeout(timer);
  timer = setTimeout(() => look(event.target).catch(() => {}), LOOK_AFTER);
});

document.addEventListener("keydown", (event) => {
  pressing = false;
  const chip = event.target.closest("[data-plan-editor] .chip.anchor");
  if (!chip) return;
  const offers = [...chip.querySelectorAll(".offer")];
  const input = chip.querySelector("[data-look]");
  const at = offers.indexOf(document.activeElement);
  if (event.key === "Enter" && event.target === input && offers.length) {
    event.preventDefault();
    offers[0].click();
  } else if (event.key === "Escape" && offers.length) {
    input.focus();
    chip.querySelector(".found-names").replaceChildren();
  } else if (event.key === "ArrowDown" && offers.length && (event.target === input || at >= 0)) {
    event.preventDefault();
    offers[Math.min(at + 1, offers.length - 1)].focus();
  } else if (event.key === "ArrowUp" && at >= 0) {
    event.preventDefault();
    (at ? offers[at - 1] : input).focus();
  }
});

// The field keeps the focus while an offer is pressed, so that leaving it does not take the offer away.
document.addEventListener("mousedown", (event) => {
  if (event.target.closest("[data-plan-editor] .offer")) event.preventDefault();
});

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-edit-plan]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  try {
    const answer = await fetch(link.href, { headers: PART });
    const fresh = answer.ok && parsed(await answer.text());
    if (!fresh) throw new Error("no form");
    replace(fresh);
    document.getElementById("plan-title").focus({ preventScroll: true });
    section().scrollIntoView({ block: "nearest" });
  } catch {
    location.assign(link.href);
  }
});

function enliven() {
  const form = document.querySelector("[data-plan-editor]");
  if (form) form.dataset.alive = "";
}

enliven();
