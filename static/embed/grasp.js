/* <grasp-search>: the search box of a GRASP search site, on any page. One script, no dependencies.
   <script src="https://SITE/embed/grasp.js" defer></script>
   <grasp-search knowledge-base="papers" pipeline="grasp" k="5" placeholder="Ask…" lang="en"></grasp-search> */
"use strict";
(() => {
  if (customElements.get("grasp-search")) return;
  const HOME = new URL(document.currentScript?.src || document.querySelector('script[src*="/embed/grasp.js"]').src).origin;
  const WAIT = 20, PATIENCE = 90, MOST = 100;
  const WORDS = {
    en: { ask: "Ask", question: "Question", hint: "Ask in your own words", busy: "Searching…", none: "Nothing found.", why: "Why?", whyOf: "Why {name} is here", all: "All results and how they were found", some: "{n} results", limit: "Too many questions; ask again in {n} s.", away: "The search does not answer. Try again in a moment.", failed: "The search failed.", refused: "This page may not ask here: its address is not among the allowed origins of {site}." },
    de: { ask: "Fragen", question: "Frage", hint: "In eigenen Worten fragen", busy: "Sucht…", none: "Nichts gefunden.", why: "Warum?", whyOf: "Warum {name} hier steht", all: "Alle Ergebnisse und wie sie gefunden wurden", some: "{n} Ergebnisse", limit: "Zu viele Fragen; in {n} s wieder fragen.", away: "Die Suche antwortet nicht. Gleich noch einmal versuchen.", failed: "Die Suche ist fehlgeschlagen.", refused: "Diese Seite darf hier nicht fragen: Ihre Adresse gehört nicht zu den erlaubten von {site}." },
    fr: { ask: "Chercher", question: "Question", hint: "Posez votre question", busy: "Recherche…", none: "Rien trouvé.", why: "Pourquoi ?", whyOf: "Pourquoi {name} est ici", all: "Tous les résultats et comment ils ont été trouvés", some: "{n} résultats", limit: "Trop de questions ; réessayez dans {n} s.", away: "La recherche ne répond pas. Réessayez dans un instant.", failed: "La recherche a échoué.", refused: "Cette page ne peut pas chercher ici : son adresse n’est pas autorisée par {site}." },
    es: { ask: "Buscar", question: "Pregunta", hint: "Pregunte con sus palabras", busy: "Buscando…", none: "Nada encontrado.", why: "¿Por qué?", whyOf: "Por qué {name} está aquí", all: "Todos los resultados y cómo se encontraron", some: "{n} resultados", limit: "Demasiadas preguntas; pregunte de nuevo en {n} s.", away: "La búsqueda no responde. Inténtelo en un momento.", failed: "La búsqueda ha fallado.", refused: "Esta página no puede preguntar aquí: su dirección no está permitida en {site}." },
  };
  // Colours follow the color-scheme of the page around; each can be set by a variable of CSS.
  const STYLE = `
:host { display: block; font: 400 1rem/1.5 var(--grasp-font, system-ui, sans-serif); color: var(--_ink); overflow-wrap: anywhere;
  --_ink: var(--grasp-ink, light-dark(#1c1f1c, #e9ece7)); --_soft: var(--grasp-soft, light-dark(#585e57, #a7b0a7));
  --_paper: var(--grasp-paper, light-dark(#fff, #1b1f1c)); --_line: var(--grasp-line, light-dark(#8b9089, #737c74));
  --_accent: var(--grasp-accent, light-dark(#0b6b5d, #74d5bf)); --_on: var(--grasp-on-accent, light-dark(#fff, #08211b));
  --_round: var(--grasp-radius, 10px); }
:host([hidden]) { display: none; }
:host([theme="light"]) { color-scheme: light; } :host([theme="dark"]) { color-scheme: dark; }
* { box-sizing: border-box; }
form { display: flex; gap: .5rem; }
input, button { font: inherit; min-height: 2.75em; border-radius: var(--_round); }
input { flex: 1; min-width: 0; padding: 0 .9em; border: 1px solid var(--_line); background: var(--_paper); color: inherit; }
input::placeholder { color: var(--_soft); opacity: 1; }
button { padding: 0 1.2em; border: 1px solid var(--_accent); background: var(--_accent); color: var(--_on); font-weight: 600; cursor: pointer; }
:focus-visible { outline: 2px solid var(--_accent); outline-offset: 2px; }
.state { margin: .5rem 0 0; min-height: 1.5em; color: var(--_soft); font-size: .875em; }
ol { margin: 0; padding: 0; list-style: none; }
li { padding: .6rem 0; border-top: 1px solid color-mix(in srgb, var(--_line) 45%, transparent); }
a { color: var(--_accent); text-underline-offset: .2em; }
.name { font-weight: 600; }
.type, .snippet, .path { color: var(--_soft); font-size: .875em; }
.type { margin-inline-start: .5em; }
p { margin: .15rem 0 0; }
.snippet { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
.why { font-size: .875em; display: inline-block; min-height: 1.75em; }
.all { margin-top: .5rem; font-size: .875em; }
[hidden] { display: none; }`;
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const pause = (time) => new Promise((done) => { setTimeout(done, time); });

  class GraspSearch extends HTMLElement {
    static observedAttributes = ["placeholder", "lang"];
    #asked = 0;
    #parts;

    constructor() {
      super();
      const root = this.attachShadow({ mode: "open", delegatesFocus: true });
      const sheet = new CSSStyleSheet();  // Needs no 'unsafe-inline' in a content security policy.
      sheet.replaceSync(STYLE);
      root.adoptedStyleSheets = [sheet];
      const form = this.#make("form", { role: "search" });
      const input = this.#make("input", { type: "search", maxLength: 2000, autocomplete: "off", enterKeyHint: "search" });
      const button = this.#make("button", { type: "submit" });
      const state = this.#make("p", { className: "state", role: "status" });
      const list = this.#make("ol", { id: "results", hidden: true });
      const all = this.#make("a", { className: "all", hidden: true });
      input.setAttribute("aria-controls", "results");
      form.append(input, button);
      root.append(form, state, list, all);
      this.#parts = { form, input, button, state, list, all };
      form.addEventListener("submit", (event) => { event.preventDefault(); this.ask(input.value); });
      root.addEventListener("keydown", (event) => this.#arrows(event));
    }

    connectedCallback() { this.#label(); }
    attributeChangedCallback() { this.#label(); }

    get #words() {
      const lang = (this.closest("[lang]")?.lang || document.documentElement.lang || "en").slice(0, 2).toLowerCase();
      return WORDS[lang] || WORDS.en;
    }

    #make(tag, values) { return Object.assign(document.createElement(tag), values); }

    #label() {
      const { input, button, list, all } = this.#parts, words = this.#words;
      input.placeholder = this.getAttribute("placeholder") || words.hint;
      input.setAttribute("aria-label", words.question);
      button.textContent = words.ask;
      list.setAttribute("aria-label", fill(words.some, { n: "" }).trim());
      all.textContent = words.all;
    }

    // Arrows lead from the question to the results and from one to the next; Escape leads back.
    #arrows(event) {
      const { input, list } = this.#parts, names = [...list.querySelectorAll(".name")];
      const at = names.findIndex((name) => name.closest("li").contains(this.shadowRoot.activeElement));
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape" && at >= 0) input.focus();
      else if (!step || !names.length || (at < 0 && step < 0)) return;
      else if (at + step < 0) input.focus();
      else names[Math.min(at + step, names.length - 1)].focus();
      event.preventDefault();
    }

    /** Ask a question and show what is found; resolves to the search as the API describes it, or null. */
    async ask(question) {
      const { input, state, list, all } = this.#parts, mine = ++this.#asked, words = this.#words;
      if (!question.trim()) return null;
      input.value = question;
      list.hidden = all.hidden = true;
      state.textContent = words.busy;
      try {
        const search = await this.#search(question, () => mine === this.#asked);
        if (mine !== this.#asked) return null;
        this.#show(search);
        this.dispatchEvent(new CustomEvent("grasp-results", { bubbles: true, composed: true, detail: search }));
        return search;
      } catch (error) {
        if (mine === this.#asked) state.textContent = error instanceof TypeError ? await this.#unreached() : error.message;
        return null;
      }
    }

    async #search(question, wanted) {
      const body = { knowledge_base: this.getAttribute("knowledge-base") || "", question };
      body.k = Math.min(Math.max(parseInt(this.getAttribute("k"), 10) || 5, 1), MOST);
      if (this.getAttribute("pipeline")) body.pipeline = this.getAttribute("pipeline");
      let search = await this.#call(`searches/?wait=${WAIT}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
      for (let left = PATIENCE; wanted() && left > 0 && /^(queued|running)$/.test(search.status); left -= 1) {
        await pause(1000);
        search = await this.#call(`searches/${search.id}/`);
      }
      if (search.status === "done") return search;
      throw new Error(search.error?.detail || this.#words.failed);
    }

    // Neither cookies nor the address of the page are sent.
    async #call(path, options) {
      const answer = await fetch(`${HOME}/api/v1/${path}`, { ...options, credentials: "omit", referrerPolicy: "no-referrer" });
      if (answer.ok) return answer.json();
      const wait = answer.headers.get("Retry-After");
      if (answer.status === 429 || answer.status === 503) throw new Error(wait ? fill(this.#words.limit, { n: wait }) : this.#words.away);
      const problem = await answer.json().catch(() => ({}));
      throw new Error(problem.errors?.map((fault) => fault.message).join(" ") || problem.detail || this.#words.failed);
    }

    // A request that the browser refuses looks like one that nobody answers; an answer that may not be read tells them apart.
    async #unreached() {
      const there = await fetch(`${HOME}/embed/grasp.js`, { mode: "no-cors", credentials: "omit", cache: "no-store" }).then(() => true, () => false);
      return there ? fill(this.#words.refused, { site: HOME }) : this.#words.away;
    }

    #show(search) {
      const { state, list, all } = this.#parts, words = this.#words, results = search.results;
      state.textContent = search.answer?.line || (results.length ? "" : words.none);
      list.replaceChildren(...results.map((result) => this.#row(result, search)));
      list.hidden = !results.length;
      all.href = `${HOME}/search/${search.id}/`;
      all.hidden = false;
    }

    #row(result, search) {
      const { node } = result, item = this.#make("li"), why = this.#make("a", { className: "why", textContent: this.#words.why });
      const query = node.id.split("/").some((part) => ["", ".", ".."].includes(part));
      const base = `${HOME}/kb/${encodeURIComponent(search.knowledge_base)}/nodes/`;
      const path = node.id.split("/").map(encodeURIComponent).join("/");
      item.append(this.#make("a", { className: "name", textContent: node.name || node.id, href: query ? `${base}?id=${encodeURIComponent(node.id)}` : `${base}${path}/` }));
      item.append(this.#make("span", { className: "type", textContent: node.type.replaceAll("_", " ") }));
      if (result.snippet) item.append(this.#make("p", { className: "snippet", textContent: result.snippet }));
      why.href = `${HOME}/search/${search.id}/#result-${result.rank}`;
      why.setAttribute("aria-label", `${this.#words.why} ${fill(this.#words.whyOf, { name: node.name || node.id })}`);
      item.append(why);
      return item;
    }
  }
  customElements.define("grasp-search", GraspSearch);
})();
