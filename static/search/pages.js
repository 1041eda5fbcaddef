// Comfort on top of pages that work without it: keys, copying, colours without a reload, a box that grows.
"use strict";

const box = () => document.getElementById("q");

function typing(element) {
  return element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName);
}

function move(step) {
  const results = [...document.querySelectorAll(".result")];
  if (!results.length) return;
  const at = results.findIndex((result) => result.contains(document.activeElement));
  const next = results[Math.min(Math.max(at + step, 0), results.length - 1)];
  next.querySelector("summary").focus();
  next.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === box() && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    event.target.form.requestSubmit();
  }
  if (typing(event.target)) return;
  if (event.key === "/" && box()) {
    event.preventDefault();
    box().focus();
    box().select();
  }
  if (event.key === "j") move(1);
  if (event.key === "k") move(-1);
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

showCopying(document);
document.addEventListener("htmx:after:swap", () => showCopying(document));
