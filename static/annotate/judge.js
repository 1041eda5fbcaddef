// The judging page: shows one item after the other, and keeps each judgement here before it is sent.
"use strict";

const AHEAD = 8, RETRY = 2000, SLOWLY = 20000;
const page = document.querySelector("main.annotate");
const form = document.getElementById("judging");
const queue = Number(page.dataset.queue), person = Number(page.dataset.person);
const state = { store: null, outbox: null, tab: "", current: null, last: null, progress: null, waiting: 0, shown: 0, sentence: "", fetching: null, missed: false, showing: 0, timer: 0, expected: [] };

const part = (name) => document.getElementById(name);
const made = (tag, text, className) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
};

/* What waits */

function showWaiting(rows, reason) {
  const waiting = rows.filter((row) => row.state === "waiting").length;
  const said = waiting ? `${waiting} not sent yet` : rows.length ? "" : "All sent";
  part("unsent").textContent = said;
  part("unsent").dataset.count = String(rows.length);
  const grades = (verdict) => rows.filter((row) => row.queue === queue && row.body.verdict === verdict).length;
  state.waiting = Math.max(0, grades("graded") + grades("unsure") - grades("withdrawn"));
  showProgress();
  const why = part("unsent-why");
  why.hidden = !waiting || !reason;
  why.textContent = `${reason} What you judge is kept in this browser and sent as soon as the site answers.`;
  part("stuck").replaceChildren(...rows.filter((row) => row.state !== "waiting").map(stuckNotice));
}

function stuckNotice(row) {
  const notice = made("div", undefined, "notice bad");
  const said = row.body.verdict === "graded" ? `grade ${row.body.grade}` : row.body.verdict;
  notice.append(made("p", row.sentence), made("p", `Yours here: ${said}, about “${row.question}” and ${row.candidate}.`, "dim"));
  if (row.stored && row.body.note) notice.append(made("p", `Your note here: “${row.body.note}”`, "dim"));
  if (row.stored && row.stored.note) notice.append(made("p", `The note stored there: “${row.stored.note}”`, "dim"));
  if (row.stored && notesDiffer(row)) {
    notice.append(made("p", bothNotes(row).length > LONGEST_NOTE ? "Together they are too long: copy what you still need of the other one." : "Whichever you choose, both notes are kept, one below the other."));
  }
  const buttons = made("p", undefined, "actions");
  const button = (text, replace) => {
    const one = made("button", text);
    one.type = "button";
    one.addEventListener("click", () => state.outbox.settle(row, replace));
    buttons.append(one);
  };
  if (row.state === "conflict" && row.stored) button("Keep the stored one", false);
  if (row.state === "conflict" && row.stored) button("Put this one in its place", true);
  if (row.state !== "conflict" || !row.stored) button("Let this one go", false);
  notice.append(buttons);
  return notice;
}

// What is judged here counts at once, also while it waits to be sent.
function showProgress(progress) {
  state.progress = progress || state.progress;
  if (!state.progress) return;
  const { items, retired, done, mine, skipped, left, assigned } = state.progress;
  const bar = part("progress"), overlap = Number(page.dataset.overlap);
  bar.max = Math.max(1, items - retired);
  bar.value = done;
  const still = Math.max(0, left - state.waiting);
  part("progress-text").textContent =
    `${done} of ${items - retired} graded${overlap > 1 ? ` by ${overlap} people` : ""} · you graded ${mine + state.waiting}${assigned ? ` of your ${assigned}` : ""}` +
    (still ? ` · ${still} left for you` : "") + (skipped ? ` · skipped ${skipped}` : "");
}

/* Items */

// Items of this tab that nobody has judged here yet, in the order of the queue; an undone one comes first.
async function readyItems() {
  const gone = new Set((await state.store.all("outbox")).filter((row) => row.body.verdict !== "withdrawn").map((row) => row.body.item));
  for (const row of await state.store.all("outbox")) if (row.body.verdict === "withdrawn") gone.delete(row.body.item);
  const done = new Set((await state.store.all("done")).map((row) => row.item));
  return (await state.store.all("items"))
    .filter((item) => item.tab === state.tab && item.queue === queue && !gone.has(item.id) && !done.has(item.id))
    .sort((a, b) => (b.first || 0) - (a.first || 0) || a.order - b.order);
}

function fetchMore(takeOver) {
  state.fetching ||= fetchItems(takeOver === true).finally(() => {
    state.fetching = null;
    // All that this answer held had been judged here before it came. What the site refuses waits for its person.
    if (state.missed) again(part("stuck").childElementCount ? SLOWLY : 0);
  });
  return state.fetching;
}

function again(milliseconds) {
  clearTimeout(state.timer);
  state.timer = setTimeout(() => fetchMore(), milliseconds);
}

async function fetchItems(takeOver) {
  state.missed = false;
  const began = Date.now();
  let answer;
  try {
    if (!(await state.outbox.send())) throw new NoAnswer(state.outbox.reason);
    answer = await call(page.dataset.next, { tab: state.tab, number: AHEAD, take_over: takeOver, annotator: person });
  } catch (error) {
    state.sentence = `${error.message} No further item is kept here until the network is back.`;
    again(RETRY);
    return show();
  }
  if (answer.status !== 200) {
    state.sentence = answer.given.detail;
    again(SLOWLY);
    return show();
  }
  await keepItems(answer.given.items, began);
  if (!answer.given.items.length) again(SLOWLY);
  showProgress(answer.given.progress);
  state.sentence = answer.given.sentence;
  part("take-over").hidden = !answer.given.elsewhere || answer.given.items.length > 0;
  part("retired").textContent = answer.given.retired.join(" ");
  part("retired").hidden = !answer.given.retired.length;
  return show();
}

// Keep what the site says this tab holds. While its answer was on the way, items may have been judged or undone here.
async function keepItems(items, began) {
  const waiting = new Set((await state.store.all("outbox")).map((row) => row.body.item));
  const given = new Set(items.map((item) => item.id));
  for (const old of await state.store.all("items")) {
    const mine = old.tab === state.tab && old.queue === queue;
    const current = state.current && state.current.id === old.id;
    const undone = old.first > began;
    if (mine && !current && !undone && !given.has(old.id) && !waiting.has(old.id)) await state.store.remove("items", old.id);
  }
  for (const [order, item] of items.entries()) {
    if (waiting.has(item.id)) continue;
    const old = await state.store.get("items", item.id), done = await state.store.get("done", item.id);
    // It was judged here after the site had looked; a judgement that was withdrawn elsewhere has a later revision.
    if (done && item.revision <= done.revision) continue;
    if (done) await state.store.remove("done", item.id);
    await state.store.put("items", { ...item, tab: state.tab, order, first: old ? old.first : 0 });
  }
}

// Show the current item, or the first of those that wait. Only the latest call shows: an earlier one, still reading the
// store, does not know what was judged or undone meanwhile.
async function show() {
  const turn = ++state.showing;
  const items = await readyItems();
  if (turn !== state.showing) return;
  const next = state.current && items.find((item) => item.id === state.current.id) || items[0] || null;
  if (items.length <= AHEAD / 2 && !state.fetching) fetchMore();
  if (!next) {
    state.current = null;
    state.missed = Boolean(state.fetching) && !state.sentence;
    page.dataset.state = state.sentence ? "empty" : "loading";
    page.dataset.item = "";
    part("none-text").textContent = state.sentence || "Fetching items…";
    return;
  }
  if (state.current && state.current.id === next.id && page.dataset.item === String(next.id)) return;
  const draft = keptDraft(next.id) || (await state.store.get("drafts", next.id));
  if (turn !== state.showing) return;
  state.current = next;
  showItem(next);
  showDraft(draft);
  page.dataset.state = "ready";
  page.dataset.item = String(next.id);
  state.shown = performance.now();
}

function showItem(item) {
  const given = item.candidate;
  part("question").textContent = item.question;
  part("notice").textContent = item.notice;
  part("notice").hidden = !item.notice;
  part("candidate-type").textContent = given.type;
  part("candidate-name").textContent = given.name;
  part("aliases").textContent = given.aliases.length ? `also known as ${given.aliases.join(", ")}` : "";
  const link = part("candidate-link");
  link.hidden = !given.link;
  if (given.link) link.href = given.link;
  const own = part("candidate-page");
  own.hidden = !page.dataset.entities;
  own.href = page.dataset.entities + encodeURIComponent(given.id) + "/";
  part("fields").replaceChildren(...given.fields.map((field) => {
    const row = made("div");
    const value = made("dd");
    for (const text of field.values) value.append(field.values.length > 1 ? made("span", text, "item") : text);
    row.append(made("dt", field.name), value);
    return row;
  }));
  part("no-fields").hidden = given.fields.length > 0;
  part("relations").replaceChildren(...given.relations.map((group) => {
    const row = made("div");
    const more = group.count - group.names.length;
    const count = `${group.count}${group.more ? "+" : ""}`;
    row.append(made("dt", `${group.direction === "in" ? "← " : ""}${group.wording} (${count})`),
      made("dd", group.names.join(" · ") + (more > 0 ? ` and ${more}${group.more ? "+" : ""} more` : "")));
    return row;
  }));
  part("relations-box").hidden = !given.relations.length;
  scrollTo({ top: 0 });
}

const SIGNS = { met: ["✓", "met"], not_met: ["✗", "not met"], unknown: ["?", "not checked"] };

function showEvidence(given) {
  part("conditions").replaceChildren(...given.conditions.map((condition) => {
    const [sign, word] = SIGNS[condition.status];
    const row = made("li", undefined, condition.status);
    const tick = made("span", sign, "tick");
    tick.setAttribute("aria-hidden", "true");
    row.append(tick, made("span", condition.words, "what"), made("span", word, "word"));
    return row;
  }));
  part("paths").replaceChildren(...given.paths.map((path) => {
    const row = made("li");
    for (const one of path) {
      if (one.relation === undefined) {
        const node = made("span", one.name, "ann-node");
        node.title = one.type;
        row.append(node);
      } else {
        row.append(made("span", one.direction === "out" ? `${one.relation} →` : `← ${one.relation}`, "ann-edge"));
      }
    }
    return row;
  }));
  part("path-note").textContent = given.note;
  part("path-note").hidden = !given.note;
}

/* Drafts and judgements */

function showDraft(draft) {
  form.reset();
  state.expected = draft ? draft.expected : [];
  if (draft) for (const name of ["cause", "stage", "note"]) form.elements[name].value = draft[name];
  part("more").open = Boolean(draft && (draft.cause || draft.stage || draft.note || draft.expected.length)) || part("more").open;
  for (const button of form.querySelectorAll("[data-grade]")) button.removeAttribute("aria-pressed");
  const before = draft && draft.grade !== null && form.querySelector(`[data-grade="${draft.grade}"]`);
  if (before) before.setAttribute("aria-pressed", "true");
  showExpected();
}

function draftNow() {
  const values = Object.fromEntries(["cause", "stage", "note"].map((name) => [name, form.elements[name].value]));
  return { item: state.current.id, ...values, expected: state.expected, grade: null };
}

const draftKey = (item) => `annotate-draft-${person}-${item}`;

// What is typed is kept before the next key: a tab that is closed at once has no time for the database.
function keepDraft() {
  if (!state.current) return;
  try {
    localStorage.setItem(draftKey(state.current.id), JSON.stringify(draftNow()));
  } catch {
    return state.store.put("drafts", draftNow());
  }
}

function keptDraft(item) {
  try {
    return JSON.parse(localStorage.getItem(draftKey(item)));
  } catch {
    return null;
  }
}

function dropDraft(item) {
  try {
    localStorage.removeItem(draftKey(item));
  } catch {
    // Without storage there is no draft to drop.
  }
}

async function judged(verdict, grade = null) {
  const item = state.current;
  if (!item || page.dataset.state !== "ready") return;
  page.dataset.state = "saving";
  const { cause, stage, note, expected } = draftNow();
  const seconds = Math.round((performance.now() - state.shown) / 100) / 10;
  const values = { verdict, grade, cause, stage, note, expected };
  const body = { key: uuid(), item: item.id, base: item.revision, made: new Date().toISOString(), seconds, ...values };
  const entry = { state: "waiting", queue, body, question: item.question, candidate: item.candidate.name };
  const done = { item: item.id, queue, tab: state.tab, at: Date.now(), values, revision: item.revision + 1, sent: false, whole: item };
  try {
    await state.store.judged(entry, done);
  } catch {
    page.dataset.state = "ready";
    announce("This browser could not keep the judgement (is its disk full?). Nothing was sent; try again.");
    return;
  }
  dropDraft(item.id);
  announce(verdict === "graded" ? `Graded ${grade}.` : verdict === "unsure" ? "Unsure." : "Skipped.");
  state.current = null;
  await state.outbox.changed();
  state.outbox.soon();
  await showLast();
  await show();
}

async function undo() {
  const last = await lastDone();
  if (!last) return announce("There is nothing to undo here.");
  const { verdict, ...rest } = last.values;
  const nothing = { verdict: "withdrawn", grade: null, cause: "", stage: "", note: "", expected: [] };
  const body = { key: uuid(), item: last.item, base: last.revision, made: new Date().toISOString(), ...nothing };
  const entry = { state: "waiting", queue, body, question: last.whole.question, candidate: last.whole.candidate.name };
  await keepDraft();
  const item = { ...last.whole, tab: state.tab, revision: last.revision + 1, first: Date.now() };
  await state.store.undone(entry, item, { item: last.item, ...rest });
  announce("Undone: judge it again.");
  await state.outbox.changed();
  state.outbox.soon();
  await showLast();
  state.current = null;
  await show();
}

async function lastDone() {
  const rows = (await state.store.all("done")).filter((row) => row.queue === queue && row.tab === state.tab);
  rows.sort((a, b) => b.at - a.at);
  for (const old of rows.slice(100)) if (old.sent) await state.store.remove("done", old.item);
  return rows[0];
}

async function showLast() {
  const last = await lastDone();
  part("last").hidden = !last;
  if (!last) return;
  const said = last.values.verdict === "graded" ? `grade ${last.values.grade}` : last.values.verdict;
  part("last-text").textContent = `${last.whole.candidate.name}: ${said}`;
  part("last-question").textContent = `for “${last.whole.question}”`;
  const skipped = last.values.verdict === "skipped";
  part("reveal").hidden = skipped;
  if (!state.last || state.last.item !== last.item) {
    state.last = { item: last.item, asked: false };
    part("evidence").hidden = true;
  }
  if (last.sent && !skipped && !state.last.asked) await showFound(state.last);
}

// What the search found of the item that was judged last: shown only now, so that no grade leans on it.
async function showFound(last) {
  last.asked = true;
  try {
    const { status, given } = await call(page.dataset.evidence.replace("/0/", `/${last.item}/`), {});
    if (status !== 200 || state.last !== last) return;
    showEvidence(given);
    part("evidence").hidden = false;
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    last.asked = false;
    setTimeout(showLast, SLOWLY);
  }
}

async function reveal() {
  const last = await lastDone();
  if (!last || last.values.verdict === "skipped") return;
  const told = part("revealed");
  told.replaceChildren();
  try {
    const { status, given } = await call(page.dataset.reveal.replace("/0/", `/${last.item}/`), {});
    if (status !== 200) throw new NoAnswer(given.detail);
    const known = { true: "The question set calls it an answer.", false: "The question set does not call it an answer." };
    const lines = given.pipelines.map((one) => `${one.pipeline}: ${one.rank ? `rank ${one.rank}` : "not among its first hundred"}`);
    lines.push(...given.judgements.map((one) => `${one.by}${one.model ? " (language model)" : ""}: ${one.grade === null ? one.verdict : `grade ${one.grade}`}${one.note ? ` – ${one.note}` : ""}`));
    if (!given.judgements.length) lines.push("Nobody else has judged it yet.");
    if (String(given.known_answer) in known) lines.unshift(known[String(given.known_answer)]);
    told.append(...lines.map((line) => made("li", line)));
  } catch (error) {
    told.append(made("li", error.message));
  }
  part("revealed-box").showModal();
}

function announce(text) {
  part("said").textContent = text;
}

/* Expected answers */

function showExpected() {
  part("expected").replaceChildren(...state.expected.map((one, at) => {
    const row = made("li", one.name || one.id);
    const button = made("button", "✗");
    button.type = "button";
    button.setAttribute("aria-label", `Remove ${one.name || one.id}`);
    button.addEventListener("click", () => {
      state.expected = state.expected.filter((_, other) => other !== at);
      showExpected();
      keepDraft();
    });
    row.append(" ", button);
    return row;
  }));
}

function completeExpected() {
  const field = part("expected-name"), list = part("expected-found");
  let timer = 0, asked = 0, chosen = -1, found = [];
  const close = () => {
    asked += 1;
    clearTimeout(timer);
    chosen = -1;
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const take = (node) => {
    if (!state.expected.some((one) => one.id === node.id)) state.expected = [...state.expected, { id: node.id, name: node.name, type: node.type }];
    field.value = "";
    close();
    showExpected();
    keepDraft();
  };
  const choose = (at) => {
    chosen = (at + found.length) % found.length;
    [...list.children].forEach((row, index) => row.setAttribute("aria-selected", String(index === chosen)));
    field.setAttribute("aria-activedescendant", list.children[chosen].id);
  };
  const ask = async () => {
    const mine = ++asked;
    try {
      const answer = await fetch(`${page.dataset.nodes}?prefix=${encodeURIComponent(field.value.trim())}&page_size=8`);
      if (!answer.ok || mine !== asked) return;
      found = (await answer.json()).results;
    } catch {
      found = [];
    }
    if (mine !== asked) return;
    list.replaceChildren(...found.map((node, index) => {
      const row = made("li", node.name);
      row.id = `expected-found-${index}`;
      row.setAttribute("role", "option");
      row.setAttribute("aria-selected", "false");
      row.append(made("span", node.type));
      row.addEventListener("pointerdown", (event) => { event.preventDefault(); take(node); });
      return row;
    }));
    chosen = -1;
    list.hidden = !found.length;
    field.setAttribute("aria-expanded", String(found.length > 0));
  };
  field.addEventListener("input", () => {
    clearTimeout(timer);
    if (field.value.trim().length > 1) timer = setTimeout(ask, 150);
    else close();
  });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      if (!list.hidden) take(found[Math.max(chosen, 0)]);
    } else if (!list.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      choose(event.key === "ArrowDown" ? chosen + 1 : Math.max(chosen, 0) - 1);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  });
}

/* Keys and buttons */

const KEYS = {
  // A grade's key is the grade itself, as its button shows it.
  0: () => judged("graded", 0), 1: () => judged("graded", 1), 2: () => judged("graded", 2), 3: () => judged("graded", 3),
  u: () => judged("unsure"), s: () => judged("skipped"), z: undo, r: reveal, "?": () => part("help").showModal(),
  n: () => openField("note"), c: () => openField("cause"), e: () => openField("expected-name"),
};

function openField(name) {
  part("more").open = true;
  part(name).focus();
}

document.addEventListener("keydown", (event) => {
  const typed = event.target.closest("input, textarea, select");
  if (event.key === "Escape" && typed) typed.blur();
  if (typed || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  if (document.querySelector("dialog[open]")) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", (event) => event.target.id === "expected-name" || keepDraft());
for (const button of document.querySelectorAll("[data-act]")) button.addEventListener("click", () => KEYS[button.dataset.act]());
part("take-over-button").addEventListener("click", () => fetchMore(true));

async function start() {
  state.store = await Store.open(person);
  part("forgetful").hidden = state.store.lasting;
  state.tab = await claimTab(state.store, queue);
  page.dataset.tab = state.tab;
  state.outbox = new Outbox(state.store, page.dataset.judgements, person, showWaiting, (_, given) => {
    showProgress(given.progress);
    showLast();
  });
  completeExpected();
  await state.outbox.tell();
  await showLast();
  await show();
  fetchMore();
}

start();
