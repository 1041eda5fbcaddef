// A queue's form shows what the chosen rule takes. What is hidden is not sent: a rule refuses what it does not take.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const rule = document.querySelector("select[name=rule]");
  const show = () => {
    for (const part of document.querySelectorAll("[data-rules]")) {
      part.hidden = !part.dataset.rules.split(" ").includes(rule.value);
      for (const field of part.querySelectorAll("input, select, textarea")) field.disabled = part.hidden;
    }
  };
  rule.addEventListener("change", show);
  show();
});
