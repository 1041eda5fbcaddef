// Pages of the graph work without this: names complete themselves, pages of a group turn in place, parts arrive late.
"use strict";

async function fetched(address, selector) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(String(answer.status));
  return new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(selector);
}

for (const input of document.querySelectorAll("[data-names] [data-end]")) {
  // `completing` is of pages.js; its list hangs at the form, here it belongs below its own field.
  completing(input, { value: input.form.dataset.names });
  const list = document.getElementById(`${input.id}-suggestions`);
  if (list && input.parentElement.matches(".end-field")) input.parentElement.append(list);
  input.addEventListener("input", () => {
    const chosen = input.form.elements[`${input.name}_id`];
    if (chosen) chosen.remove();
  });
}

for (const part of document.querySelectorAll("[data-fetch]")) {
  fetched(part.dataset.fetch, part.dataset.part).then((fresh) => {
    if (fresh) part.replaceChildren(...fresh.children);
  }).catch(() => {});
}

document.addEventListener("click", async (event) => {
  const link = event.target.closest(".relation .pages a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const group = link.closest(".relation");
  const turn = link.textContent;
  group.classList.add("loading");
  try {
    const fresh = await fetched(link.href, `[id="${CSS.escape(group.id)}"]`);
    if (!fresh) throw new Error("no such group");
    group.replaceWith(fresh);
    history.replaceState(null, "", link.href);
    const links = [...fresh.querySelectorAll(".pages a")];
    const next = links.find((one) => one.textContent === turn) || links[0];
    if (next) next.focus({ preventScroll: true });
    fresh.scrollIntoView({ block: "nearest" });
  } catch {
    location.assign(link.href);
  }
});
