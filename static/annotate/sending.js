// Sends judgements that wait in this browser, in their order, until each has arrived or was refused with a sentence.
"use strict";

const RETRY_MILLISECONDS = [1000, 2000, 4000, 8000, 15000, 30000];
const REQUEST_MILLISECONDS = 20000;
const LONGEST_NOTE = 4000;

class NoAnswer extends Error {}

async function call(address, body) {
  const cookie = document.cookie.split("; ").find((one) => one.startsWith("csrftoken="));
  const field = document.querySelector("input[name=csrfmiddlewaretoken]");
  const token = cookie ? cookie.slice("csrftoken=".length) : field ? field.value : "";
  let answer;
  try {
    answer = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": token, Accept: "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_MILLISECONDS),
    });
    const given = await answer.json();
    return { status: answer.status, given };
  } catch {
    // A page of a proxy in between is no answer of the site either.
    throw new NoAnswer(answer ? `The site answers ${answer.status}.` : "The site does not answer.");
  }
}

function notesDiffer(row) {
  const mine = row.body.note.trim(), other = row.stored.note.trim();
  return Boolean(mine && other) && !mine.includes(other) && !other.includes(mine);
}

// The earlier note first, then the one of this browser.
const bothNotes = (row) => `${row.stored.note.trim()}\n${row.body.note.trim()}`;

// The note that a settled conflict is stored with: both, or the longer where one holds the other.
function keptNote(row, replace) {
  if (row.stored.verdict === "withdrawn" || row.body.verdict === "withdrawn") return replace ? row.body.note : row.stored.note;
  if (!notesDiffer(row)) return row.body.note.length > row.stored.note.length ? row.body.note : row.stored.note;
  const both = bothNotes(row);
  return both.length > LONGEST_NOTE ? (replace ? row.body : row.stored).note : both;
}

class Outbox {
  // `told` is called with what waits and why whenever that changes, `arrived` with each answer of the site.
  constructor(store, address, person, told, arrived) {
    Object.assign(this, { store, address, person, told, arrived, failures: 0, timer: 0, reason: "", busy: null, again: false });
    this.channel = "BroadcastChannel" in self ? new BroadcastChannel(`annotate-${person}`) : null;
    if (this.channel) this.channel.onmessage = () => this.tell();
    addEventListener("online", () => this.soon());
    document.addEventListener("visibilitychange", () => document.hidden || this.soon());
  }

  async tell() {
    this.told(await this.store.all("outbox"), this.reason);
  }

  changed() {
    if (this.channel) this.channel.postMessage("changed");
    return this.tell();
  }

  soon() {
    this.failures = 0;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), 0);
  }

  // Send all that waits; one page of this person sends at a time, so that the order stays. True: nothing waits any more.
  send() {
    clearTimeout(this.timer);
    this.again = Boolean(this.busy);
    this.busy ||= this.repeatedly().finally(() => {
      this.busy = null;
      if (this.again) this.soon();
    });
    return this.busy;
  }

  // A judgement that is added while others are sent is sent too.
  async repeatedly() {
    for (;;) {
      this.again = false;
      const sent = await this.exclusively();
      if (!sent || !this.again) return sent;
    }
  }

  exclusively() {
    if (!navigator.locks) return this.sendAll();
    return navigator.locks.request(`annotate-sending-${this.person}`, () => this.sendAll());
  }

  async sendAll() {
    for (;;) {
      const rows = await this.store.all("outbox");
      const stuck = new Set(rows.filter((row) => row.state !== "waiting").map((row) => row.body.item));
      const row = rows.find((one) => one.state === "waiting" && !stuck.has(one.body.item));
      if (!row) break;
      try {
        await this.sendOne(row);
        this.failures = 0;
        this.reason = "";
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        this.reason = error.message;
        const pause = RETRY_MILLISECONDS[Math.min(this.failures, RETRY_MILLISECONDS.length - 1)];
        this.failures += 1;
        this.timer = setTimeout(() => this.send(), pause);
        await this.changed();
        return false;
      }
      await this.changed();
    }
    await this.tell();
    return true;
  }

  async sendOne(row) {
    const { status, given } = await call(this.address, { ...row.body, annotator: this.person });
    if (status === 200 || status === 201) {
      await this.store.remove("outbox", row.seq);
      await this.followOn(row, given.revision);
      this.arrived(row, given);
    } else if (status === 409) {
      await this.store.put("outbox", { ...row, state: "conflict", sentence: given.detail, stored: given.judgement });
    } else if ([400, 404, 413, 415].includes(status)) {
      await this.store.put("outbox", { ...row, state: "refused", sentence: given.detail });
    } else if (status === 401 || status === 403) {
      throw new NoAnswer(`${given.detail} Sign in again with the same account in another tab; then they are sent.`);
    } else {
      throw new NoAnswer(given.detail || `The site answers ${status}.`);
    }
  }

  // What was said later about the same item builds on the revision that has just been stored.
  async followOn(row, revision) {
    const later = (await this.store.all("outbox")).find((one) => one.body.item === row.body.item);
    if (later) await this.store.put("outbox", { ...later, body: { ...later.body, base: revision } });
    const done = await this.store.get("done", row.body.item);
    if (done) await this.store.put("done", { ...done, revision, sent: !later });
    const item = await this.store.get("items", row.body.item);
    if (item && !later) await this.store.put("items", { ...item, revision });
  }

  // Settle a conflict: keep what is stored, or put this one in its place; no note is lost by it. A refused judgement can
  // only be let go.
  async settle(row, replace) {
    const note = row.stored ? keptNote(row, replace) : row.body.note;
    if (replace || (row.stored && note !== row.stored.note)) {
      const said = replace ? {} : Object.fromEntries(["verdict", "grade", "cause", "stage", "expected"].map((name) => [name, row.stored[name]]));
      const body = { ...row.body, ...said, note, key: uuid(), base: row.stored.revision };
      await this.store.put("outbox", { ...row, state: "waiting", sentence: "", stored: null, body });
    } else {
      await this.store.remove("outbox", row.seq);
    }
    await this.changed();
    this.soon();
  }
}
