// Asks a refused question again when its time has come, and says how long that is.
"use strict";

const form = document.getElementById("again");

if (form) {
  const counting = document.getElementById("counting");
  const due = Date.now() + 1000 * Number(form.dataset.seconds);
  const tick = () => {
    const left = Math.ceil((due - Date.now()) / 1000);
    if (left <= 0) {
      counting.textContent = "Asking again…";
      clearInterval(timer);
      form.requestSubmit();
      return;
    }
    // A screen reader hears the first sentence, not every second.
    counting.textContent = `This page asks it again by itself in ${left} s.`;
    counting.setAttribute("role", "presentation");
  };
  const timer = setInterval(tick, 1000);
  tick();
}
