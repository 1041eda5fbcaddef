// A choice in the gallery shows at once; without script there is a button.
"use strict";

const choices = document.querySelector(".gallery-choose");
choices.addEventListener("change", () => choices.requestSubmit());
