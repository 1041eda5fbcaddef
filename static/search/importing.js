// Sends files in pieces by tus, so that a broken connection or a reload loses nothing. Without it, the form sends them whole.
"use strict";

const VERSION = { "Tus-Resumable": "1.0.0" };
const LONGEST_WAIT = 20000;
const WINDOW = 5000;
const form = document.getElementById("send");
const part = (id) => document.getElementById(id);
const token = () => form.querySelector("[name=csrfmiddlewaretoken]").value;

class Refused extends Error {}

function size(bytes) {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let at = 0;
  while (bytes >= 1000 && at < units.length - 1) { bytes /= 1024; at += 1; }
  return `${at ? bytes.toFixed(1) : bytes} ${units[at]}`;
}

function duration(seconds) {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

const encoded = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

// The sentence of a refusal; the API answers with problem documents.
function sentence(text, status) {
  try {
    const problem = JSON.parse(text);
    const told = (problem.errors || []).map((error) => error.message).join(" ");
    return told || problem.detail || problem.title;
  } catch {
    return `The server answered with ${status}.`;
  }
}

async function api(method, address, headers = {}, body = undefined) {
  const answer = await fetch(address, { method, body, headers: { ...headers, "X-CSRFToken": token() } });
  if (answer.ok) return answer;
  const text = method === "HEAD" ? "" : await answer.text();
  // 409 and 423 go away by asking for the offset again; 5xx and 429 by waiting.
  if (answer.status < 500 && ![409, 423, 429].includes(answer.status)) throw new Refused(sentence(text, answer.status));
  throw new Error(sentence(text, answer.status));
}

class Sending {
  constructor(files) {
    this.files = files.map((file) => ({ file, sent: 0, address: "", whole: false }));
    this.upload = form.dataset.upload || "";
    this.paused = false;
    this.cancelled = false;
    this.request = null;
    this.seen = [];
    this.wake = () => {};
  }

  get total() { return this.files.reduce((sum, one) => sum + one.file.size, 0); }
  get sent() { return this.files.reduce((sum, one) => sum + one.sent, 0); }

  async run() {
    let wait = 500;
    for (;;) {
      try {
        await this.all();
        return;
      } catch (error) {
        if (this.cancelled) return;
        if (error instanceof Refused) throw error;
        this.seen = [];
        if (this.paused) {
          this.say("Paused. What has arrived is kept.");
          await new Promise((resolve) => { this.wake = resolve; });
          wait = 500;
        } else {
          this.say(`The connection broke; it goes on in ${duration(wait / 1000)} from where it was.`);
          await new Promise((resolve) => { this.wake = resolve; setTimeout(resolve, wait); });
          wait = Math.min(2 * wait, LONGEST_WAIT);
        }
      }
    }
  }

  async all() {
    if (!this.upload) {
      const answer = await api("POST", form.dataset.api, { "Content-Type": "application/json" }, "{}");
      this.upload = (await answer.json()).id;
      history.replaceState(null, "", `${form.dataset.step}${this.upload}/`);
    }
    for (const one of this.files) if (!one.whole) await this.one(one);
  }

  async one(one) {
    if (!one.address) {
      const metadata = { ...VERSION, "Upload-Length": String(one.file.size), "Upload-Metadata": `filename ${encoded(one.file.name)}` };
      const answer = await api("POST", `${form.dataset.api}${this.upload}/files/`, metadata);
      one.address = answer.headers.get("Location");
      one.sent = Number(answer.headers.get("Upload-Offset"));
      await this.sameAsBefore(one, metadata);
    } else {
      const answer = await api("HEAD", one.address, VERSION);
      one.sent = Number(answer.headers.get("Upload-Offset"));
    }
    const chunk = Number(form.dataset.chunk);
    while (one.sent < one.file.size) {
      this.show();
      const piece = one.file.slice(one.sent, one.sent + chunk);
      one.sent = await this.piece(one, piece);
    }
    one.whole = true;
    this.show();
  }

  // A file that was changed since its first half was sent begins anew: both halves together would be no file.
  async sameAsBefore(one, metadata) {
    const key = `grasp-sent-${one.address}`;
    const before = localStorage.getItem(key);
    if (one.sent && before && before !== String(one.file.lastModified)) {
      await api("DELETE", one.address, VERSION);
      const answer = await api("POST", `${form.dataset.api}${this.upload}/files/`, metadata);
      one.address = answer.headers.get("Location");
      one.sent = 0;
    }
    localStorage.setItem(`grasp-sent-${one.address}`, String(one.file.lastModified));
  }

  // XMLHttpRequest, because fetch does not tell how much of a body has gone.
  piece(one, piece) {
    const begin = one.sent;
    return new Promise((resolve, reject) => {
      const request = this.request = new XMLHttpRequest();
      request.open("PATCH", one.address);
      const headers = { ...VERSION, "Upload-Offset": String(begin), "Content-Type": "application/offset+octet-stream", "X-CSRFToken": token() };
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      request.upload.addEventListener("progress", (event) => { one.sent = begin + event.loaded; this.show(); });
      request.addEventListener("load", () => {
        if (request.status === 204) return resolve(Number(request.getResponseHeader("Upload-Offset")));
        one.sent = begin;
        const told = sentence(request.responseText, request.status);
        const passes = request.status >= 500 && request.status !== 507 || [409, 423, 429].includes(request.status);
        return reject(passes ? new Error(told) : new Refused(told));
      });
      for (const broken of ["error", "abort", "timeout"]) {
        request.addEventListener(broken, () => { one.sent = begin; reject(new Error("broken")); });
      }
      request.send(piece);
    });
  }

  pause() {
    this.paused = !this.paused;
    part("pause").textContent = this.paused ? "Resume" : "Pause";
    if (this.paused && this.request) this.request.abort();
    if (!this.paused) { this.say("It goes on."); this.wake(); }
  }

  async cancel() {
    this.cancelled = true;
    if (this.request) this.request.abort();
    this.wake();
    if (this.upload) await api("DELETE", `${form.dataset.api}${this.upload}/`).catch(() => {});
    for (const one of this.files) localStorage.removeItem(`grasp-sent-${one.address}`);
    location.assign(form.dataset.step);
  }

  say(text) { if (part("sending-state").textContent !== text) part("sending-state").textContent = text; }

  show() {
    const now = performance.now(), sent = this.sent, total = this.total;
    this.seen.push([now, sent]);
    while (this.seen.length > 2 && now - this.seen[0][0] > WINDOW) this.seen.shift();
    const [first, before] = this.seen[0];
    const rate = now - first > 300 ? Math.max(0, sent - before) / (now - first) * 1000 : 0;
    part("sending-bar").value = total ? sent / total : 1;
    const left = rate > 0 ? ` · about ${duration((total - sent) / rate)} left` : "";
    part("sending-rate").textContent = `${size(sent)} of ${size(total)}${rate > 0 ? ` · ${size(rate)} a second` : ""}${left}`;
    const sending = this.files.find((one) => !one.whole);
    this.say(sending ? `Sending ${sending.file.name}.` : "Everything has arrived. It is checked and unpacked now.");
    part("sending-files").replaceChildren(...this.files.map((one) => {
      const item = document.createElement("li");
      const percent = one.file.size ? Math.floor(100 * one.sent / one.file.size) : 100;
      item.textContent = `${one.file.name}: ${one.whole ? "sent" : `${percent} %`}`;
      return item;
    }));
  }

  unpack() {
    for (const one of this.files) localStorage.removeItem(`grasp-sent-${one.address}`);
    const end = document.createElement("form");
    end.method = "post";
    end.action = `${form.dataset.step}${this.upload}/unpack/`;
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name: "csrfmiddlewaretoken", value: token() });
    end.append(field);
    document.body.append(end);
    end.submit();
  }
}

async function send(files) {
  const sending = new Sending(files);
  const leaving = (event) => event.preventDefault();
  part("send-fault").textContent = "";
  part("sending").hidden = false;
  part("drop").hidden = part("send-button").hidden = true;
  part("pause").onclick = () => sending.pause();
  part("cancel").onclick = () => { window.removeEventListener("beforeunload", leaving); sending.cancel(); };
  window.addEventListener("beforeunload", leaving);
  const online = () => sending.wake();
  window.addEventListener("online", online);
  sending.show();
  try {
    await sending.run();
  } catch (error) {
    part("send-fault").textContent = error.message;
    part("sending").hidden = true;
    part("drop").hidden = part("send-button").hidden = false;
    if (sending.upload) form.dataset.upload = sending.upload;
    return;
  } finally {
    window.removeEventListener("beforeunload", leaving);
    window.removeEventListener("online", online);
  }
  if (!sending.cancelled) sending.unpack();
}

if (form) {
  const input = part("files"), drop = part("drop");
  // The admin's script shows the name of a chosen file in a field of its own widget, which is not here; this mark stops it.
  input.hasChangeListener = true;
  form.addEventListener("submit", (event) => {
    if (!input.files.length) return;
    event.preventDefault();
    send([...input.files]);
  });
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) { input.files = event.dataTransfer.files; form.requestSubmit(); }
  });
}

// Looking at large files takes some seconds, in which the page says so.
document.addEventListener("submit", (event) => {
  if (event.target.matches("form[data-busy]") && !event.defaultPrevented) part("import-busy").hidden = false;
});
window.addEventListener("pageshow", () => { if (part("import-busy")) part("import-busy").hidden = true; });
