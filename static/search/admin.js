// Parts of the admin that scroll by themselves are regions; each gets a name of its own before SimpleBar gives all the same.
"use strict";

const NAMES = { "nav-sidebar-apps": "Menu", "command-results-wrapper": "Found" };

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[data-simplebar]").forEach((element, index) => {
    const table = element.querySelector("#result_list") ? "Entries" : "";
    element.dataset.simplebarAriaLabel = NAMES[element.id] || table || `Part ${index + 1} of the page`;
  });
});
