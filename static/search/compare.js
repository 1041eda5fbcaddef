// The same result in other columns is lit while one looks at a card; arrows lead from card to card.
"use strict";

const cards = () => [...document.querySelectorAll(".cmp-card")];

function light(event) {
  const card = event.target.closest?.(".cmp-card");
  for (const each of cards()) each.classList.toggle("lit", Boolean(card) && each.dataset.node === card.dataset.node);
}

document.addEventListener("pointerover", light);
document.addEventListener("focusin", light);

document.addEventListener("keydown", (event) => {
  const card = event.target.closest(".cmp-card");
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!card || event.ctrlKey || event.metaKey || event.altKey) return;
  let next = { ArrowUp: card.previousElementSibling, ArrowDown: card.nextElementSibling }[event.key];
  if (step) {
    const same = cards().filter((each) => each.dataset.node === card.dataset.node);
    next = same[same.indexOf(card) + step];
  }
  if (!next) return;
  event.preventDefault();
  next.querySelector("a").focus();
});
