// Draws what the page's tables hold (Cytoscape.js), and fetches the next state of the page when a relation is opened.
// All that is shown is in the address, so that undoing, the back button and a shared link are the same thing.
"use strict";

{
const room = document.querySelector(".explore-room"), place = document.getElementById("drawing");
const panel = document.getElementById("panel"), told = document.getElementById("explore-told");
const FONT = "13px system-ui, sans-serif", LINE = 17, LONGEST = 28;
const places = new Map();
let data, cy, busy = false;

const read = () => JSON.parse(document.getElementById("explore-data").textContent);
const short = (text) => text.length > LONGEST ? `${text.slice(0, LONGEST - 1).trimEnd()}…` : text;
const pen = document.createElement("canvas").getContext("2d");
const reduced = matchMedia("(prefers-reduced-motion: reduce)");

function sized(label, first = false) {
  pen.font = first ? `600 ${FONT}` : FONT;
  return Math.ceil(Math.max(48, ...label.split("\n").map((line) => pen.measureText(line).width))) + 24;
}

// --- What is drawn ---

function elements() {
  const nodes = data.nodes.map((node, at) => {
    const label = `${short(node.name)}\n${short(node.type)}`;
    return { id: node.id, label, width: sized(label, node.first), at, said: `${node.name}, ${node.type}`, kind: node.first ? "first" : "one", column: node.column };
  });
  const groups = data.groups.map((group) => {
    const label = `and ${group.count.toLocaleString("en")} more`;
    return { id: `group ${group.step}`, label, width: sized(label), step: group.step, of: data.nodes[group.at].id, said: `${group.count.toLocaleString("en")} more: ${group.wording}, ${data.nodes[group.at].name}`, kind: "group" };
  });
  const edges = data.edges.map((edge, at) => ({
    id: `edge ${data.nodes[edge.source].id} ${edge.wording} ${data.nodes[edge.target].id}`, source: data.nodes[edge.source].id, target: data.nodes[edge.target].id,
    label: short(edge.wording), kind: edge.first ? "first" : edge.mutual ? "mutual" : "one",
  }));
  const rest = data.groups.map((group) => {
    const near = data.nodes[group.at].id, far = `group ${group.step}`;
    return { id: `rest ${group.step}`, source: group.out ? near : far, target: group.out ? far : near, label: short(group.wording), kind: "rest" };
  });
  return { nodes: [...nodes, ...groups], edges: [...edges, ...rest] };
}

// --- Where it is drawn: paths from left to right, everything else beside what it was opened from ---

const heightOf = (node) => node.kind === "group" ? 30 : 46;

function free(x, y, node, boxes) {
  return boxes.every((box) => Math.abs(box.x - x) > (box.width + node.width) / 2 + 26 || Math.abs(box.y - y) > (heightOf(box) + heightOf(node)) / 2 + 26);
}

function beside(parent, node, angle, least, boxes) {
  for (let ring = least; ring < least + 40; ring += 0.35) {
    for (let turn = 0; turn <= 16; turn += 1) {
      const way = angle + (turn % 2 ? 1 : -1) * Math.ceil(turn / 2) * Math.PI / 20;
      const x = parent.x + Math.cos(way) * 260 * ring, y = parent.y + Math.sin(way) * 165 * ring;
      if (free(x, y, node, boxes)) return { x, y };
    }
  }
  return { x: parent.x, y: parent.y };
}

function arrange({ nodes, edges }) {
  const known = nodes.filter((node) => places.has(node.id));
  const boxes = known.map((node) => ({ ...node, ...places.get(node.id) }));
  const put = (node, at) => { places.set(node.id, at); boxes.push({ ...node, ...at }); };
  const rows = new Map();
  const columned = nodes.filter((node) => node.column !== null && node.column !== undefined);
  const tall = Math.max(...columned.map((node) => columned.filter((other) => other.column === node.column).length));
  for (const node of columned.filter((one) => !places.has(one.id))) {
    const row = rows.get(node.column) || 0, all = columned.filter((other) => other.column === node.column).length;
    rows.set(node.column, row + 1);
    put(node, { x: -340 * node.column, y: (row - (all - 1) / 2) * 110 * (tall / all) });
  }
  if (!boxes.length) put(nodes.find((node) => node.kind === "first"), { x: 0, y: 0 });
  const fresh = nodes.filter((node) => !places.has(node.id));
  const joined = (node, box) => node.of === box.id || edges.some(({ source, target }) => (source === node.id && target === box.id) || (target === node.id && source === box.id));
  const middle = boxes.reduce((sum, box) => ({ x: sum.x + box.x / boxes.length, y: sum.y + box.y / boxes.length }), { x: 0, y: 0 });
  // Beside the first node that was there and is joined to it: all of an opened relation in one arc, away from the rest.
  const there = [...boxes], arcs = new Map();
  for (const node of fresh) {
    const parent = there.find((box) => joined(node, box)) || there[0];
    arcs.set(parent, [...(arcs.get(parent) || []), node]);
  }
  for (const [parent, arc] of arcs) {
    const dx = parent.x - middle.x, dy = parent.y - middle.y, round = Math.hypot(dx, dy) < 1;
    const spread = round ? 2 * Math.PI * (1 - 1 / arc.length) : Math.PI * 0.9, least = Math.max(1, arc.length / (round ? 11 : 6));
    const outward = round ? -Math.PI / 2 + spread / 2 : Math.atan2(dy, dx);
    arc.forEach((node, at) => {
      const angle = arc.length > 1 ? outward + (at / (arc.length - 1) - 0.5) * spread : outward;
      put(node, beside(parent, node, angle, least, boxes));
    });
  }
}

// --- Colours: the variables of the style sheet, as the present theme says ---

function colour(name) {
  const probe = document.createElement("span");
  probe.className = "ink-of";
  probe.style.color = `var(--${name})`;
  room.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

function styles() {
  const [ink, soft, edge, surface, accent, wash] = ["ink", "soft", "edge", "surface", "accent", "wash"].map(colour);
  return [
    { selector: "node", style: { shape: "round-rectangle", width: "data(width)", height: 46, label: "data(label)", "text-wrap": "wrap", "text-valign": "center", "text-halign": "center", "line-height": 1.25, "font-family": "system-ui, sans-serif", "font-size": 13, color: ink, "background-color": surface, "border-width": 1, "border-color": edge, "min-zoomed-font-size": 5 } },
    { selector: "node[kind = 'first']", style: { "border-width": 3, "border-color": accent, "font-weight": 600 } },
    { selector: "node[kind = 'group']", style: { height: 30, "border-style": "dashed", color: soft, "border-color": soft } },
    { selector: "edge", style: { width: 1.2, "line-color": edge, "curve-style": "bezier", "target-arrow-shape": "triangle", "target-arrow-color": edge, "arrow-scale": 0.9, "font-family": "system-ui, sans-serif", "font-size": 11, color: soft, "text-background-color": surface, "text-background-opacity": 0.9, "text-background-padding": 2, "text-rotation": "autorotate", "min-zoomed-font-size": 7 } },
    { selector: "edge[kind = 'first']", style: { width: 2.5, "line-color": accent, "target-arrow-color": accent, label: "data(label)" } },
    { selector: "edge[kind = 'mutual']", style: { "target-arrow-shape": "none" } },
    { selector: "edge[kind = 'rest']", style: { "line-style": "dashed", "target-arrow-shape": "none" } },
    { selector: "edge.near", style: { label: "data(label)", width: 2, color: ink, "z-index": 2 } },
    { selector: "edge[kind = 'rest']", style: { label: "" } },
    { selector: ":selected", style: { "background-color": wash, "border-width": 3, "border-color": ink } },
  ];
}

function draw(keep) {
  const { nodes, edges } = elements();
  arrange({ nodes, edges });
  const wanted = new Set([...nodes, ...edges].map((one) => one.id));
  cy.elements().filter((one) => !wanted.has(one.id())).remove();
  for (const node of nodes) {
    const there = cy.getElementById(node.id);
    if (there.length) there.data(node);
    else cy.add({ group: "nodes", data: node, position: { ...places.get(node.id) } });
  }
  for (const edge of edges) if (!cy.getElementById(edge.id).length) cy.add({ group: "edges", data: edge });
  const chosen = cy.getElementById(keep || "");
  choose(chosen.length ? chosen : cy.nodes("[kind = 'first']"), false);
  show(cy.elements());
}

function show(what) {
  const fit = { fit: { eles: what, padding: 24 } };
  if (reduced.matches) cy.fit(what, 24);
  else cy.animate(fit, { duration: 200 });
  if (cy.zoom() > 1.2) cy.zoom(1.2);
}

// --- The chosen entity ---

function choose(node, say = true) {
  cy.nodes().unselect();
  cy.edges().removeClass("near");
  node.select();
  node.connectedEdges().addClass("near");
  const row = document.getElementById(`node-${node.data("at")}`);
  const head = document.createElement("h2");
  head.tabIndex = -1;
  const parts = [head];
  if (row) {
    head.append(row.querySelector("a").cloneNode(true));
    const kind = document.createElement("p");
    kind.className = "badge";
    kind.textContent = row.cells[1].textContent;
    parts.unshift(kind);
    parts.push(row.querySelector(".offers").cloneNode(true));
  } else {
    head.textContent = node.data("said");
    const open = Object.assign(document.createElement("button"), { className: "small", name: "open", value: node.data("step"), textContent: "Show more of them" });
    open.setAttribute("form", "explore-form");
    parts.push(open);
  }
  panel.replaceChildren(...parts);
  if (say) told.textContent = node.data("said");
}

function towards(key) {
  const from = cy.nodes(":selected"), here = from.position();
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  let best = null, least = Infinity;
  cy.nodes().forEach((node) => {
    const x = node.position("x") - here.x, y = node.position("y") - here.y;
    const along = x * dx + y * dy, across = Math.abs(x * dy) + Math.abs(y * dx);
    if (along > 1 && along + 2 * across < least) [best, least] = [node, along + 2 * across];
  });
  if (!best) return;
  choose(best);
  const box = best.renderedBoundingBox();
  if (box.x1 < 0 || box.y1 < 0 || box.x2 > cy.width() || box.y2 > cy.height()) cy.center(best);
}

function zoom(by) {
  cy.zoom({ level: cy.zoom() * by, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
}

// --- From state to state ---

async function go(address, { push = true, then } = {}) {
  if (busy) return;
  busy = true;
  place.setAttribute("aria-busy", "true");
  const before = data.nodes.length, keep = cy.nodes(":selected").id();
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(String(answer.status));
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["explore-actions", "explored"]) document.getElementById(id).replaceWith(fresh.getElementById(id));
    if (push) history.pushState(null, "", address);
    data = read();
    const added = data.nodes.length - before;
    draw(keep);
    const notes = [...document.querySelectorAll("#explored .notice")].map((note) => note.textContent);
    const changed = added === 0 ? "Nothing changed" : `${Math.abs(added)} ${added > 0 ? "added" : "taken away"}`;
    told.textContent = [`${changed}; ${data.nodes.length} entities are shown.`, ...notes].join(" ");
    ready();
    if (then) then();
  } catch {
    location.assign(address);
  } finally {
    busy = false;
    place.removeAttribute("aria-busy");
  }
}

function opened(form, button) {
  const asked = new URLSearchParams(new FormData(form));
  asked.append(button.name, button.value);
  return `?${asked}`;
}

function ready() {
  for (const part of document.querySelectorAll("#explore-actions .drawn-only")) part.hidden = false;
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("#explore-form") || !event.submitter) return;
  event.preventDefault();
  const button = event.submitter, row = button.closest("tr")?.id, canvas = !panel.contains(button) && !row;
  go(opened(event.target, button), { then: () => {
    if (row) document.querySelector(`#${row} a`)?.focus({ preventScroll: true });
    else if (!canvas) (panel.querySelector(".offers button") || panel.querySelector("h2"))?.focus({ preventScroll: true });
  } });
});

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const link = event.target.closest("#explore-actions a[href^='?']"), button = event.target.closest("#explore-actions button");
  if (link) {
    event.preventDefault();
    go(link.getAttribute("href"), { then: () => (document.querySelector("#explore-actions a[data-undo]") || place).focus({ preventScroll: true }) });
  } else if (button?.dataset.zoom) zoom(Number(button.dataset.zoom));
  else if (button?.matches("[data-fit]")) show(cy.elements());
  else if (button?.matches("[data-png]")) {
    const image = cy.png({ output: "blob", full: true, scale: 2, maxWidth: 8000, maxHeight: 8000, bg: colour("surface") });
    const address = URL.createObjectURL(image);
    Object.assign(document.createElement("a"), { href: address, download: "graph.png" }).click();
    URL.revokeObjectURL(address);
  }
});

place.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const chosen = cy.nodes(":selected");
  if (event.key.startsWith("Arrow")) towards(event.key);
  else if (event.key === "Enter" || event.key === " ") (panel.querySelector("button") || panel.querySelector("a"))?.focus();
  else if (event.key === "+" || event.key === "=") zoom(1.25);
  else if (event.key === "-") zoom(0.8);
  else if (event.key === "0") show(cy.elements());
  else if (event.key === "u" || event.key === "Backspace") document.querySelector("#explore-actions a[data-undo]")?.click();
  else return;
  event.preventDefault();
  if (chosen.length === 0) choose(cy.nodes("[kind = 'first']"));
});

window.addEventListener("popstate", () => go(location.href, { push: false }));

room.hidden = false;
data = read();
cy = cytoscape({ container: place, style: styles(), minZoom: 0.1, maxZoom: 2.5, selectionType: "single", boxSelectionEnabled: false, userZoomingEnabled: false });
cy.on("tap", "node", (event) => {
  const node = event.target;
  if (node.data("kind") === "group") {
    choose(node, false);
    panel.querySelector("button").click();
  } else choose(node);
});
cy.on("dragfree", "node", (event) => places.set(event.target.id(), { ...event.target.position() }));
// The wheel scrolls the page until somebody is at work in the drawing.
place.addEventListener("focusin", () => cy.userZoomingEnabled(true));
place.addEventListener("focusout", () => cy.userZoomingEnabled(false));
for (const change of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"]) matchMedia(change).addEventListener("change", () => cy.style(styles()));
new ResizeObserver(() => { cy.resize(); }).observe(place);
draw();
ready();
}
