// The first paint of a page that is opened at its top does without the results below the screen (`pages.css`); `later.js`
// ends that. Whoever comes back to a place, or to a part that the address names, needs all heights at once.
"use strict";

if (!location.hash && performance.getEntriesByType("navigation")[0]?.type === "navigate") {
  document.documentElement.dataset.first = "";
}
