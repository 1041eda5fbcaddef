// Ctrl+Enter in the box of a follow-up asks its words anew.
"use strict";

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey || event.isComposing) return;
  const box = document.getElementById("ask-on-words");
  if (box && event.target === box && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    box.form.requestSubmit(box.form.querySelector("[data-anew]"));
  }
});
