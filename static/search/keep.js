// Saves the search and collects results without leaving the page; without this script both are forms of their own.
"use strict";

// A block, so that its names are not those of other scripts.
{
function say(text, address) {
  let said = document.getElementById("said");
  if (!said) {
    said = document.createElement("p");
    said.id = "said";
    said.className = "said";
    said.setAttribute("role", "status");
    document.body.append(said);
  }
  said.replaceChildren(text);
  if (address) {
    const link = document.createElement("a");
    link.href = address;
    link.textContent = "Open it";
    said.append(" ", link);
  }
  clearTimeout(say.timer);
  // Whoever reads or uses what is said keeps it.
  say.timer = setTimeout(() => { if (!said.matches(":hover, :focus-within")) said.remove(); }, 8000);
}

function named(button) {
  const field = document.createElement("input");
  field.type = "hidden";
  field.name = button.name;
  field.value = button.value;
  return field;
}

async function send(form, submitter) {
  const body = new FormData(form, submitter);
  const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
  if (answer.status === 404) throw new Error(GONE);
  const given = await answer.json();
  // The page that asks first is no part of this one.
  if (given.ask) {
    form.append(named(submitter));
    form.submit();
    return null;
  }
  if (!answer.ok) throw new Error(given.fault);
  return given;
}

const AWAY = "The site does not answer; nothing was kept. Press again in a moment.";
const GONE = "This was deleted meanwhile, perhaps in another window; nothing was kept.";
const reason = (error) => error instanceof TypeError || error instanceof SyntaxError ? AWAY : error.message;

document.addEventListener("submit", async (event) => {
  const star = event.submitter?.closest(".star");
  if (!star || !star.closest(".actions")) return;
  event.preventDefault();
  try {
    const given = await send(event.target, star);
    if (!given) return;
    const { saved } = given;
    star.setAttribute("aria-pressed", String(saved));
    star.value = saved ? "0" : "1";
    star.querySelector("[aria-hidden]").textContent = saved ? "★" : "☆";
    say(saved ? "Saved." : "No longer saved.", saved && "/searches/?saved=1");
  } catch (error) {
    say(reason(error));
  }
});

function collected(link, given) {
  link.querySelector("[aria-hidden]").textContent = "✓";
  link.querySelector("[aria-hidden]").nextSibling.textContent = " Collected";
  link.title = `In “${given.collection}”`;
  say(given.new ? `In “${given.collection}” now.` : `It was in “${given.collection}” already.`, given.address);
}

async function choose(link) {
  const answer = await fetch(link.href, { headers: { "X-Part": "choice" } });
  if (!answer.ok) return location.assign(link.href);
  const dialog = document.createElement("dialog");
  dialog.className = "sheet";
  dialog.setAttribute("aria-label", "Collect");
  dialog.innerHTML = await answer.text();
  const form = dialog.querySelector("form"), name = form.elements.name;
  const away = document.createElement("button");
  away.type = "button";
  away.textContent = "Cancel";
  away.addEventListener("click", () => dialog.close());
  form.querySelector(".collect-do").append(away);
  // A name that is typed means a new collection, whatever was chosen before.
  name.addEventListener("input", () => { if (form.elements.collection) form.elements.collection.value = ""; });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      collected(link, await send(form, event.submitter));
      dialog.close();
    } catch (error) {
      const fault = form.querySelector(".fault") || form.insertBefore(document.createElement("p"), form.firstChild);
      fault.className = "fault";
      fault.setAttribute("role", "alert");
      fault.textContent = reason(error);
    }
  });
  dialog.addEventListener("close", () => { dialog.remove(); link.focus(); });
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a.collect");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  choose(link).catch(() => location.assign(link.href));
});
}
