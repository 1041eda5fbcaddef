// Marks results as right or wrong without loading the page again; without this script the buttons send a form.
"use strict";

function told(text) {
  let said = document.getElementById("feedback-said");
  if (!said) {
    said = document.createElement("p");
    said.id = "feedback-said";
    said.setAttribute("role", "status");
    document.querySelector(".found").append(said);
  }
  said.textContent = text;
}

function showMark(marks, kind) {
  for (const button of marks.querySelectorAll("button")) {
    const pressed = button.dataset.kind === kind;
    button.setAttribute("aria-pressed", String(pressed));
    button.name = pressed ? "withdraw" : button.dataset.kind;
  }
}

document.addEventListener("submit", async (event) => {
  const button = event.submitter, marks = button && button.closest(".marks");
  if (!marks) return;
  event.preventDefault();
  if (marks.getAttribute("aria-busy") === "true") return;
  marks.setAttribute("aria-busy", "true");
  const body = new FormData(event.target);
  body.set(button.name, button.value);
  try {
    const answer = await fetch(event.target.action, { method: "POST", body, headers: { Accept: "application/json" } });
    if (answer.status === 404) return told("This search was deleted meanwhile, perhaps in another window; the mark was not saved.");
    const given = await answer.json();
    if (answer.ok) showMark(marks, given.kind);
    told(answer.ok ? (given.kind ? `Marked as ${given.kind}.` : "The mark is withdrawn.") : given.fault);
  } catch {
    told("The mark was not saved: the site does not answer. Press again in a moment.");
  } finally {
    marks.removeAttribute("aria-busy");
  }
});

// The field of what is missing completes names, like the box of the question.
function completeMissing() {
  const field = document.getElementById("missing-node");
  if (!field || field.hasAttribute("aria-controls")) return;
  completing(field, { value: field.dataset.completes });
}

completeMissing();
document.addEventListener("htmx:after:swap", completeMissing);
