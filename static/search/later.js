// What a page does after its first paint. Results below the screen are laid out then. What is closed is asked
// for when somebody opens it: without this script, or without an answer, the link in its place leads to the same on a page
// of its own.
"use strict";

// A block, so that its names are not those of other scripts. `first.js` set the mark; browsers that do not tell of paints
// have laid out everything by the load at the latest.
{
const painted = () => { delete document.documentElement.dataset.first; };

if (PerformanceObserver.supportedEntryTypes.includes("paint")) {
  new PerformanceObserver((_, watch) => { watch.disconnect(); painted(); }).observe({ type: "paint", buffered: true });
} else {
  addEventListener("load", painted);
}
}

// What comes in several versions has a form feed behind each: the next one replaces it.
async function arrive(room, answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = "", ended = false; !ended;) {
    const { value, done } = await reader.read();
    const versions = (text + (value ?? "")).split("\f");
    text = versions.pop();
    ended = done;
    const whole = done && text.trim() ? text : versions.at(-1);
    if (!whole) continue;
    const made = document.createRange().createContextualFragment(whole.trim()), first = made.firstElementChild;
    room.replaceWith(made);
    room = first;
    showCopying(document);
  }
}

async function bring(link) {
  const room = link.parentElement;
  if (room.getAttribute("aria-busy") === "true") return;
  room.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(link.href, { headers: { "X-Page-Part": "opened" } });
    if (answer.ok) await arrive(room, answer);
  } catch {
    // The link stays, and opening once more asks once more.
  } finally {
    room.removeAttribute("aria-busy");
  }
}

const opened = (part) => {
  const link = part.matches("details[open]") && part.querySelector("[data-later]");
  if (link && link.closest("details") === part) bring(link);
};

// This event does not bubble, so it is caught on its way down. What was opened before this script had come gave none.
document.addEventListener("toggle", (event) => opened(event.target), true);
document.querySelectorAll("details[open]").forEach(opened);

// The number of a source leads to what bears a sentence out, and opens it.
document.addEventListener("click", (event) => {
  const link = event.target.closest(".cite, .cited");
  const place = link && document.getElementById(link.hash.slice(1));
  const fold = place && (place.matches("details") ? place : place.querySelector("details.why"));
  if (fold) fold.open = true;
});

// How a question was understood is open on every page for who opened it last.
{
const OPEN = "understood-open";
const opens = () => { try { return localStorage.getItem(OPEN) === "1"; } catch { return false; } };
const remembered = () => { const part = document.getElementById("understood"); if (part && opens()) part.open = true; };

document.addEventListener("toggle", (event) => {
  if (event.target.id !== "understood") return;
  try { localStorage.setItem(OPEN, event.target.open ? "1" : "0"); } catch { /* It is closed on the next page. */ }
}, true);
document.addEventListener("htmx:after:swap", remembered);
remembered();
}
