// Facets that take longer than the results may wait: their room is kept on the page, and they are asked for by themselves.
"use strict";

async function fillFacets() {
  const room = document.querySelector("[data-facets]");
  if (!room || room.dataset.asked) return;
  room.dataset.asked = "1";
  try {
    const answer = await fetch(room.dataset.facets);
    if (!answer.ok) throw new Error(String(answer.status));
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".facets");
    if (!room.isConnected || !fresh) return;
    // The room is not given back, so that nothing below it moves up.
    fresh.classList.add("awaited");
    room.replaceWith(fresh);
  } catch {
    room.querySelector("[role=status]").textContent = "What the answers have in common could not be counted.";
  }
}

fillFacets();
document.addEventListener("htmx:after:swap", fillFacets);
