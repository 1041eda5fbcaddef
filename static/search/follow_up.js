// Keys of follow-ups: f goes to the box, n asks the words of a follow-up anew, Ctrl+Enter in the box asks them anew.
"use strict";

function writing(element) {
  return element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName);
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey || event.isComposing) return;
  const box = document.getElementById("ask-on-words");
  if (box && event.target === box && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    box.form.requestSubmit(box.form.querySelector("[data-anew]"));
  }
  if (event.ctrlKey || event.metaKey || writing(event.target)) return;
  if (event.key === "f" && box) {
    event.preventDefault();
    box.focus();
    box.select();
  }
  const anew = document.querySelector("[data-ask-anew]");
  if (event.key === "n" && anew) {
    event.preventDefault();
    anew.form.requestSubmit(anew);
  }
});
