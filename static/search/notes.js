// Notes of a collection are kept when their field is left, and before anything else on the page is sent: nobody loses what
// they typed by moving a result, or by closing the page. Without this script a button keeps each of them.
"use strict";

// A block, so that its names are not those of other scripts.
{
const AWAY = "The site does not answer; the note is not kept yet.";
const GONE = "This result is not in the collection any more, so its note was not kept.";
const underway = new Map();

const forms = () => [...document.querySelectorAll("form.note-form")];
const changed = (form) => form.elements.note.value.trim() !== form.elements.note.defaultValue.trim();

async function send(form, text) {
  const body = new FormData(form);
  body.set("do", "note");
  const options = { method: "POST", body, headers: { Accept: "application/json" }, keepalive: true };
  let fault = "";
  try {
    const answer = await fetch(form.action, options);
    const given = answer.status === 404 ? { fault: GONE } : await answer.json();
    if (given.seen) form.elements.seen.value = given.seen;
    fault = answer.ok ? "" : given.fault;
  } catch {
    fault = AWAY;
  }
  if (!fault) form.elements.note.defaultValue = text;
  form.classList.toggle("refused", Boolean(fault));
  const state = form.querySelector(".note-state");
  state.textContent = fault ? `${fault} Yours is in the field; Keep note puts it there.` : "Kept.";
  state.classList.toggle("fault", Boolean(fault));
  return !fault;
}

// One request at a time for each note, so that the last text is the one that stays. What was refused is sent again only by
// its button, for it may replace what somebody wrote in another window.
function keep(form, pressed = false) {
  const before = underway.get(form) || Promise.resolve(true);
  const now = before.then((kept) => {
    const again = pressed || (changed(form) && !form.classList.contains("refused"));
    return again ? send(form, form.elements.note.value) : kept;
  });
  underway.set(form, now);
  return now;
}

document.addEventListener("change", (event) => {
  const form = event.target.closest("form.note-form");
  if (form) keep(form);
});

let waited = false;
document.addEventListener("submit", async (event) => {
  const { target, submitter } = event;
  const isNote = target.matches("form.note-form");
  const open = isNote ? [target] : forms().filter((form) => changed(form) || underway.has(form));
  if (!isNote && (waited || !open.length)) return;
  event.preventDefault();
  const kept = await Promise.all(open.map((form) => keep(form, isNote)));
  if (isNote) return;
  const refused = open[kept.indexOf(false)];
  if (refused) return refused.elements.note.focus();
  // A form takes no second submission before the events of the first are over.
  await new Promise((over) => { setTimeout(over); });
  waited = true;
  target.requestSubmit(submitter);
  waited = false;
});

addEventListener("pagehide", () => { for (const form of forms()) if (changed(form)) keep(form); });
}
