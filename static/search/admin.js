// Parts of the admin that scroll by themselves are regions; each gets a name of its own before SimpleBar gives all the same.
"use strict";

// An icon is a word until its font is there (admin.css); without the font all stay hidden, and the labels say the same.
document.fonts.load('18px "Material Symbols Outlined"').then(
  (faces) => { if (faces.length) document.documentElement.dataset.icons = ""; }, () => {},
);

const NAMES = { "nav-sidebar-apps": "Menu", "command-results-wrapper": "Found" };

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[data-simplebar]").forEach((element, index) => {
    const table = element.querySelector("#result_list") ? "Entries" : "";
    element.dataset.simplebarAriaLabel = NAMES[element.id] || table || `Part ${index + 1} of the page`;
  });
});

// A job's page follows the job's events: each one has the changing part fetched again. While there is no open stream
// (no EventSource, a broken connection, a proxy that keeps it back) htmx fetches the part every second.
document.addEventListener("DOMContentLoaded", () => {
  const part = () => document.getElementById("job-live");
  const address = part()?.dataset.events;
  if (!address || !window.EventSource || !window.htmx) return;
  const source = new EventSource(address);
  let fetching = false;
  let told = false;
  let asked = false;

  function refresh() {
    if (!part()?.dataset.events) { source.close(); return; }
    if (fetching) { told = true; return; }
    asked = true;
    window.htmx.trigger(part(), "told");
    asked = false;
  }

  const ofThePart = (event) => event.detail.requestConfig?.elt?.id === "job-live";
  document.body.addEventListener("htmx:beforeRequest", (event) => {
    if (!ofThePart(event)) return;
    if (source.readyState === EventSource.OPEN && !asked) event.preventDefault();
    else fetching = true;
  });
  document.body.addEventListener("htmx:afterRequest", (event) => {
    if (!ofThePart(event)) return;
    fetching = false;
    // What was told meanwhile is fetched once the new part is in its place, which htmx settles after 20 ms.
    if (told) { told = false; setTimeout(refresh, 100); }
  });
  for (const name of ["progress", "log", "metrics", "done"]) source.addEventListener(name, refresh);
});
