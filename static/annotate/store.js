// Keeps items, drafts and judgements in this browser, so that nothing is lost when the network or the browser goes away.
"use strict";

const STORES = { items: "id", drafts: "item", outbox: "seq", done: "item", tabs: "tab" };

// One database for each account: judgements that wait are never sent under somebody else's name.
class Store {
  static async open(person) {
    try {
      const database = await new Promise((resolve, reject) => {
        const asked = indexedDB.open(`grasp-annotate-${person}`, 1);
        asked.onupgradeneeded = () => {
          for (const [name, key] of Object.entries(STORES)) {
            asked.result.createObjectStore(name, { keyPath: key, autoIncrement: key === "seq" });
          }
        };
        asked.onsuccess = () => resolve(asked.result);
        asked.onerror = asked.onblocked = () => reject(asked.error);
      });
      return new Store(database);
    } catch {
      return new MemoryStore();
    }
  }

  constructor(database) {
    this.database = database;
    this.lasting = true;
  }

  // A write is done when its transaction is: only then is it on the disk.
  run(names, mode, act) {
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction(names, mode, { durability: "strict" });
      const asked = act(...names.map((name) => transaction.objectStore(name)));
      transaction.oncomplete = () => resolve(asked && asked.result);
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
    });
  }

  all(name) { return this.run([name], "readonly", (store) => store.getAll()); }
  get(name, key) { return this.run([name], "readonly", (store) => store.get(key)); }
  put(name, value) { return this.run([name], "readwrite", (store) => store.put(value)); }
  remove(name, key) { return this.run([name], "readwrite", (store) => store.delete(key)); }

  // The judgement is waiting and its item is gone in one step: a browser that dies in between has either both or none.
  judged(entry, done) {
    return this.run(["outbox", "items", "drafts", "done"], "readwrite", (outbox, items, drafts, doneOnes) => {
      items.delete(entry.body.item);
      drafts.delete(entry.body.item);
      doneOnes.put(done);
      return outbox.add(entry);
    });
  }

  undone(entry, item, draft) {
    return this.run(["outbox", "items", "drafts", "done"], "readwrite", (outbox, items, drafts, doneOnes) => {
      items.put(item);
      drafts.put(draft);
      doneOnes.delete(item.id);
      return outbox.add(entry);
    });
  }
}

// For browsers that keep nothing; the page says so.
class MemoryStore {
  constructor() {
    this.lasting = false;
    this.rows = Object.fromEntries(Object.keys(STORES).map((name) => [name, new Map()]));
    this.next = 1;
  }
  async all(name) { return [...this.rows[name].values()].map((row) => structuredClone(row)); }
  async get(name, key) { return structuredClone(this.rows[name].get(key)); }
  async put(name, value) {
    if (name === "outbox" && !value.seq) value.seq = this.next++;
    this.rows[name].set(value[STORES[name]], structuredClone(value));
  }
  async remove(name, key) { this.rows[name].delete(key); }
  async judged(entry, done) {
    await this.put("outbox", entry);
    for (const name of ["items", "drafts"]) this.rows[name].delete(entry.body.item);
    await this.put("done", done);
  }
  async undone(entry, item, draft) {
    await this.put("outbox", entry);
    await this.put("items", item);
    await this.put("drafts", draft);
    this.rows.done.delete(item.id);
  }
}

// crypto.randomUUID is only there on encrypted connections.
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

// Hold a lock until this page goes away; false if another page holds it.
function holdLock(name, options) {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    navigator.locks
      .request(name, options, (lock) => {
        resolve(Boolean(lock));
        return lock ? new Promise(() => {}) : undefined;
      })
      .catch(() => resolve(false));
  });
}

// Return the id of this tab. A tab that was closed, with its items and drafts, is taken up by the next one that opens.
async function claimTab(store, queue) {
  const before = sessionStorage.getItem(`annotate-${queue}`);
  const signal = AbortSignal.timeout(1500);
  // After a reload the page before may hold the lock for another moment; a duplicated tab holds it for long.
  if (before && (await holdLock(`annotate-${before}`, { signal }))) return before;
  const known = navigator.locks ? (await store.all("tabs")).filter((row) => row.queue === queue) : [];
  for (const row of known) {
    if (row.tab !== before && (await holdLock(`annotate-${row.tab}`, { ifAvailable: true }))) return remember(row.tab);
  }
  const tab = uuid();
  await holdLock(`annotate-${tab}`, { ifAvailable: true });
  await store.put("tabs", { tab, queue });
  return remember(tab);

  function remember(one) {
    sessionStorage.setItem(`annotate-${queue}`, one);
    return one;
  }
}
