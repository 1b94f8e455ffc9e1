// The page Explore: the tree of a stored sentence, its search step by step, its alternatives and its broken rules.
"use strict";
(() => {
const place = document.getElementById("explore"), store = document.getElementById("explore-data");
if (!place || !store) return;
const data = JSON.parse(store.textContent);
const BLUE = "#0072b2", RED = "#d55e00", GREEN = "#007a59", GREY = "#767676", PALE = "#d9d9d9";
const UPPER = RED, LOWER = BLUE, GLOBAL = "#222222";  // colours of the bounds, as in all figures of the report
const CLOSED = 1e-3;  // a bound that exceeds the best score by less closes its node: stored scores are rounded
const SWITCHES = {labels: "labels", margins: "margins", marginals: "probabilities", alternatives: "alternatives", violations: "broken rules", certificate: "certificate"};
const state = {sentence: 0, step: 0, tree: "step", on: {labels: true, alternatives: true, certificate: true}};

// --- elements
const filled = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
};
const html = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) => filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
const score = (value, digits = 3) => value === null ? "–" : value.toFixed(digits).replace("-", "−");
const count = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
const table = (caption, names, rows) => html("table", {}, html("caption", {}, caption),
  html("thead", {}, html("tr", {}, names.map((name) => html("th", {scope: "col"}, name)))),
  html("tbody", {}, rows.map(([chosen, first, ...cells]) => html("tr", {class: chosen ? "chosen" : undefined},
    html("th", {scope: "row"}, first), cells.map((cell) => html("td", {}, cell))))));

// --- the sentence and its trees
const sentence = () => data.sentences[state.sentence];
const quoted = (word) => /^[^\p{L}\p{N}]+$/u.test(word) ? `“${word}”` : word;  // punctuation in a sentence
const form = (s, i) => {  // the word, with its number if the sentence has it several times
  if (!i) return "root";
  const word = s.words[i - 1], several = s.words.indexOf(word) !== s.words.lastIndexOf(word);
  return quoted(word) + (several ? ` (${i})` : "");
};
const arc = (s, head, word) => `${form(s, head)} → ${form(s, word)}`;
const differing = (heads, best) => new Set(heads.map((_, i) => i + 1).filter((i) => heads[i - 1] !== best[i - 1]));
const found = (s) => s.search.best.filter(([call]) => call <= state.step).pop();  // last better tree before the step
function shown(s) {  // the tree to draw, with a title; its heads are null if there is none
  if (state.tree === "valid") return {title: "The best tree that keeps the rules", ...s.valid};
  if (state.tree !== "step") return {title: state.tree ? `Tree ${state.tree + 1} of the best trees` : "The best tree", ...s.trees[state.tree]};
  const last = found(s), done = state.step === s.search.calls.length;
  if (done) return {title: "The best tree", ...s.trees[0]};
  if (!last || !last[1]) return {title: last ? "The best tree so far is not stored, because the same node replaced it" : "No tree yet", heads: null};
  return {title: `The best tree after call ${state.step}`, ...last[1]};
}
function levels(heads) {  // level of the arc into each word: one above the highest arc that it covers
  const level = {}, words = heads.map((_, i) => i + 1).filter((m) => heads[m - 1]);
  const ends = (m) => [Math.min(heads[m - 1], m), Math.max(heads[m - 1], m)];
  words.sort((a, b) => Math.abs(heads[a - 1] - a) - Math.abs(heads[b - 1] - b) || a - b);
  for (const m of words) {
    const [left, right] = ends(m);
    level[m] = 1 + Math.max(-1, ...Object.keys(level).filter((o) => ends(+o)[0] >= left && ends(+o)[1] <= right).map((o) => level[o]));
  }
  const highest = Math.max(-1, ...Object.values(level));
  heads.forEach((head, i) => { if (!head) level[i + 1] = highest + 1; });
  return level;
}

// --- the drawing of a tree: words side by side if they fit, and one below the other if not
function drawTree(s, tree, width) {
  const best = s.trees[0].heads, odd = differing(tree.heads, best), broken = new Set();
  if (state.on.violations) tree.broken.forEach(([, words]) => words.forEach((word) => broken.add(word)));
  const own = !odd.size, columns = [s.words];
  if (state.on.labels && tree.labels.length) columns.push(tree.labels.map((label) => data.labels[label]));
  if (state.on.margins && own) columns.push(s.margins.map((margin) => margin === null ? "∞" : score(margin, 2)));
  if (state.on.marginals && own) columns.push(s.marginals.map((p) => p === null ? "–" : `${Math.round(100 * p)} %`));
  const size = (text, column) => text.length * (column ? 6.6 : 7.6) + (column ? 0 : 4);
  const level = levels(tree.heads), deepest = Math.max(...Object.values(level)) + 1;
  const needed = s.words.map((_, i) => Math.max(24, ...columns.map((column, c) => size(column[i], c))) + 12);
  const total = needed.reduce((a, b) => a + b, 20), flat = total <= width, body = [];
  const style = (m) => odd.has(m) ? {stroke: RED, "stroke-width": 2.2, "stroke-dasharray": "6 3"} : {stroke: BLUE, "stroke-width": 1.6};
  const line = (m, d) => body.push(svg("path", {d, fill: "none", ...style(m)}));
  const tip = (m, d) => body.push(svg("path", {d, fill: odd.has(m) ? RED : BLUE}));
  const kind = (m, column) => column ? "small" : broken.has(m) ? "wrong" : undefined;
  let height, wide = width;
  if (flat) {
    const top = 14 + 24 * deepest, at = [];
    needed.reduce((x, w, i) => { at[i + 1] = x + w / 2; return x + w; }, 10);
    tree.heads.forEach((head, i) => {
      const m = i + 1, x2 = at[m], y = top - 24 * (level[m] + 1);
      if (!head) {
        line(m, `M${x2} ${y} V${top}`);
        body.push(svg("text", {x: x2 + 6, y: y + 9, class: "small"}, "root"));
      } else {
        const side = x2 > at[head] ? 1 : -1, x1 = at[head] + 5 * side, r = Math.min(10, Math.abs(x2 - x1) / 2);
        line(m, `M${x1} ${top} V${y + r} Q${x1} ${y} ${x1 + r * side} ${y} H${x2 - r * side} Q${x2} ${y} ${x2} ${y + r} V${top}`);
      }
      tip(m, `M${x2 - 4} ${top - 7} L${x2} ${top} L${x2 + 4} ${top - 7} Z`);
      columns.forEach((column, c) => body.push(svg("text", {x: x2, y: top + 17 + 17 * c, "text-anchor": "middle", class: kind(m, c)}, column[i])));
    });
    [height, wide] = [top + 12 + 17 * columns.length, total];
  } else {
    const row = 22, y = (m) => 14 + row * (m - 1), starts = [0];
    columns.forEach((column, c) => starts.push(starts[c] + Math.max(...column.map((text) => size(text, c))) + 10));
    const x0 = starts.pop() + 2, step = Math.max(5, Math.min(18, (width - x0 - 34) / deepest));
    tree.heads.forEach((head, i) => {
      const m = i + 1, y2 = y(m), x = x0 + step * (level[m] + 1);
      if (!head) {
        line(m, `M${x} ${y2} H${x0}`);
        body.push(svg("text", {x: x + 3, y: y2 + 4, class: "small"}, "root"));
      } else {
        const side = m > head ? 1 : -1, y1 = y(head) + 4 * side, r = Math.min(7, Math.abs(y2 - y1) / 2, step);
        line(m, `M${x0} ${y1} H${x - r} Q${x} ${y1} ${x} ${y1 + r * side} V${y2 - r * side} Q${x} ${y2} ${x - r} ${y2} H${x0}`);
      }
      tip(m, `M${x0 + 6} ${y2 - 4} L${x0} ${y2} L${x0 + 6} ${y2 + 4} Z`);
      columns.forEach((column, c) => body.push(svg("text", {x: starts[c], y: y2 + 4, class: kind(m, c)}, column[i])));
    });
    [height, wide] = [y(s.words.length) + 14, Math.max(x0 + step * deepest + 32, 120)];
  }
  const text = tree.heads.map((head, i) => arc(s, head, i + 1) + (odd.has(i + 1) ? " (differs)" : "")).join(", ");
  return svg("svg", {viewBox: `0 0 ${wide} ${height}`, width: wide, height, role: "img", "aria-label": `Dependency tree: ${text}`}, body);
}

// --- the search
function outcome(s, node) {  // "branched", "no tree", "solved" or "closed by its bound"
  const {nodes, calls} = s.search, [, , , , upper, branched] = nodes[node];
  if (branched) return "branched";
  if (upper === null) return "no tree";
  const own = calls.map(([n], i) => n === node ? i : -1).filter((i) => i >= 0);
  if (!own.length) return "closed by its bound";
  const before = own[0] ? calls[own[0] - 1][2] : null, after = calls[own[own.length - 1]][2];
  return after !== null && (before === null || after > before) && after >= upper - 1e-3 ? "solved" : "closed by its bound";
}
const firstCall = (s, node) => s.search.calls.findIndex(([n]) => n === node) + 1;
const lastCall = (s, node) => s.search.calls.map(([n]) => n).lastIndexOf(node) + 1;
function restrictions(s, node) {
  const out = [];
  for (let i = node; i > 0 && s.search.nodes[i][0] >= 0; i = s.search.nodes[i][0]) {
    const [, head, word, required] = s.search.nodes[i];
    out.unshift(`${required ? "with" : "without"} ${arc(s, head, word)}`);
  }
  return out.length ? `trees ${out.join(", ")}` : "all trees of the sentence";
}
function globalBounds(s) {  // after each call: the largest bound of an open node, or the best score if no node is open
  const {calls, nodes} = s.search, own = nodes.map(() => Infinity);
  return calls.map(([node, upper, lower], i) => {
    const [parent, , , , last] = nodes[node], ended = !calls[i + 1] || calls[i + 1][0] !== node;
    own[node] = Math.min(own[node], upper, parent < 0 ? Infinity : nodes[parent][4]);
    const open = !ended ? [own[node]] : last === null ? [] : [Math.min(own[node], last)];
    nodes.slice(0, node).forEach(([, , , , bound, branched], above) => {  // a branched node has two children
      if (branched && nodes.slice(0, node + 1).filter(([other]) => other === above).length < 2) open.push(bound);
    });
    const bounds = open.filter((bound) => lower === null || bound > lower + CLOSED);
    return bounds.length ? Math.max(...bounds) : lower;
  });
}
function described(s) {
  const {calls, nodes} = s.search, step = state.step;
  if (!step) return [html("p", {}, "The search has not started. The next step is the first call of the dynamic program.")];
  const [node, upper, lower] = calls[step - 1], kind = outcome(s, node), last = found(s), bound = globalBounds(s)[step - 1];
  const lines = [
    `Call ${step} of ${calls.length}, node ${node + 1} of ${nodes.length}: ${restrictions(s, node)}.`,
    `Upper bound of this call: ${score(upper)}. Best tree so far: ${score(lower)}. ` + (lower === null || upper > lower ? "" : "The bound does not exceed the best tree."),
    `Global upper bound: ${score(bound)}.` + (lower === null ? "" : ` Gap to the best tree: ${score(bound - lower)}.`),
  ];
  if (last && last[0] === step) lines.push("This call found a better tree.");
  if (step === lastCall(s, node)) {
    const child = nodes.find(([parent]) => parent === node);
    const split = child ? ` on ${arc(s, child[1], child[2])}` : "";
    lines.push({
      branched: `The bound exceeds the best tree, so the node is branched${split}.`,
      "no tree": "No tree satisfies the restrictions, so the node is closed.",
      solved: "The node is solved: its own best tree meets its upper bound.",
      "closed by its bound": "The node is closed by its bound: none of its trees scores more than the best tree.",
    }[kind]);
  } else lines.push("The search now changes the multipliers or removes arcs that no better tree has. The next call bounds the same node.");
  if (step === calls.length) lines.push(s.search.status === "optimal" ? "All nodes are closed: the best tree is proved." : `The search ends with status ${s.search.status}.`);
  return lines.map((text) => html("p", {style: "margin: 0 0 .2rem"}, text));
}
function roundTicks(low, high) {  // two to five multiples of 1, 2 or 5 times a power of ten; one value if both are equal
  if (!(high > low)) return [low];
  const power = 10 ** Math.floor(Math.log10((high - low) / 2));
  const step = power * [5, 2, 1].find((times) => Math.floor(high / (times * power)) > Math.floor(low / (times * power)) + 1 || times === 1);
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({length: last - first + 1}, (_, i) => (first + i) * step);
}
const decimals = (ticks) => ticks.length < 2 ? 2 : Math.max(0, -Math.floor(Math.log10(ticks[1] - ticks[0]) + 1e-9));
function drawBounds(s, width) {
  const calls = s.search.calls, values = calls.flatMap(([, upper, lower]) => lower === null ? [upper] : [upper, lower]);
  const low = Math.min(...values), high = Math.max(...values), span = high - low || 1, height = 170, left = 46, bottom = 30;
  const bounds = globalBounds(s), begins = (i) => !i || calls[i - 1][0] !== calls[i][0];  // is the call the first of its node?
  const x = (i) => calls.length === 1 ? (left + width - 10) / 2 : left + 6 + (width - left - 18) * i / (calls.length - 1);
  const y = (value) => 10 + (height - bottom - 18) * (high - value) / span;
  const upper = (end) => calls.slice(0, end).map((call, i) => `${begins(i) ? "M" : "L"}${x(i).toFixed(1)} ${y(call[1]).toFixed(1)}`).join(" ");
  const steps = (scores) => scores.map((value, i) => [x(i), value]).filter(([, value]) => value !== null)
    .map(([at, value], i) => i ? `H${at.toFixed(1)} V${y(value).toFixed(1)}` : `M${at.toFixed(1)} ${y(value).toFixed(1)}`).join(" ");
  const lower = (end) => steps(calls.slice(0, end).map((call) => call[2])), global = (end) => steps(bounds.slice(0, end));
  const starts = calls.map((_, i) => i).filter(begins);  // first call of each node: a ring on the line
  const ticks = roundTicks(low, high), digits = decimals(ticks), ends = [...new Set([1, calls.length])];
  const body = ticks.map((value) => [svg("path", {d: `M${left} ${y(value)} H${width - 6}`, stroke: "#ececec"}), svg("text", {x: left - 6, y: y(value) + 4, "text-anchor": "end", class: "small"}, score(value, digits))]);
  body.push(ends.map((call, i) => svg("text", {x: x(call - 1), y: height - bottom + 14, "text-anchor": i ? "end" : "middle", class: "small"}, String(call))));
  body.push(svg("text", {x: (left + width) / 2, y: height - 2, "text-anchor": "middle", class: "small"}, "call of the dynamic program"));
  body.push([upper, lower, global].map((line) => svg("path", {d: line(calls.length), fill: "none", stroke: PALE, "stroke-width": 1.5})));
  body.push(starts.map((i) => svg("circle", {cx: x(i), cy: y(calls[i][1]), r: 2.5, fill: "#ffffff", stroke: i < state.step ? UPPER : PALE, "stroke-width": 1.5, class: "begin"})));
  if (state.step) {
    const i = state.step - 1, [, top, best] = calls[i];
    body.push(svg("path", {d: `M${x(i)} 4 V${height - bottom}`, stroke: GREY, "stroke-dasharray": "3 3", class: "cursor"}));
    body.push(svg("path", {d: global(state.step), fill: "none", stroke: GLOBAL, "stroke-width": 1.5}));
    body.push(svg("path", {d: upper(state.step), fill: "none", stroke: UPPER, "stroke-width": 2}), svg("path", {d: lower(state.step), fill: "none", stroke: LOWER, "stroke-width": 2}));
    if (best !== null) body.push(svg("rect", {x: x(i) - 4, y: y(best) - 4, width: 8, height: 8, fill: LOWER}));
    body.push(svg("circle", {cx: x(i), cy: y(top), r: 4.5, fill: UPPER}));
  }
  const label = `Upper bound, global upper bound and best score over ${count(calls.length, "call")}; the cursor is at call ${state.step}`;
  return svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label}, body);
}
function drawSearch(s, width) {
  const nodes = s.search.nodes, below = nodes.map(() => []), at = [], visible = (i) => { const first = firstCall(s, i); return first ? first <= state.step : state.step === s.search.calls.length; };
  nodes.forEach(([parent], i) => { if (parent >= 0) below[parent].push(i); });
  let leaves = 0, deepest = 0;
  const lay = (i, depth) => {
    deepest = Math.max(deepest, depth);
    below[i].forEach((child) => lay(child, depth + 1));
    const xs = below[i].map((child) => at[child][0]);
    at[i] = [xs.length ? (xs[0] + xs[xs.length - 1]) / 2 : leaves++, depth];
  };
  lay(0, 0);
  const dx = Math.min(44, (width - 24) / Math.max(leaves - 1, 1)), dy = Math.min(34, 300 / Math.max(deepest, 1)), r = Math.max(3, Math.min(6.5, dx / 2.4, dy / 2.6));
  const x = (i) => 12 + dx * at[i][0], y = (i) => 12 + dy * at[i][1], now = state.step ? s.search.calls[state.step - 1][0] : -1, body = [];
  nodes.forEach(([parent, , , required], i) => {
    if (parent >= 0 && visible(i)) body.push(svg("path", {d: `M${x(parent)} ${y(parent)} L${x(i)} ${y(i)}`, stroke: GREY, "stroke-dasharray": required ? undefined : "4 3"}));
  });
  nodes.forEach((node, i) => {
    if (!visible(i)) return;
    const kind = lastCall(s, i) <= state.step ? outcome(s, i) : "open", [cx, cy] = [x(i), y(i)];
    const mark = kind === "solved" ? svg("path", {d: `M${cx} ${cy - r - 1.5} L${cx + r + 1.5} ${cy} L${cx} ${cy + r + 1.5} L${cx - r - 1.5} ${cy} Z`, fill: GREEN})
      : kind === "closed by its bound" ? svg("rect", {x: cx - r, y: cy - r, width: 2 * r, height: 2 * r, fill: GREY})
      : kind === "no tree" ? svg("path", {d: `M${cx - r} ${cy - r} L${cx + r} ${cy + r} M${cx - r} ${cy + r} L${cx + r} ${cy - r}`, stroke: RED, "stroke-width": 2.5})
      : svg("circle", {cx, cy, r, fill: "#ffffff", stroke: kind === "open" ? BLUE : GREY, "stroke-width": 1.8});
    const ring = i === now && svg("circle", {cx, cy, r: r + 4, fill: "none", stroke: BLUE, "stroke-width": 2.2});
    body.push(svg("g", {class: "node", style: "cursor: pointer", onclick: () => go(firstCall(s, i) || state.step)}, svg("title", {}, `node ${i + 1}: ${restrictions(s, i)}; ${kind}`), mark, ring));
  });
  const number = nodes.filter((_, i) => visible(i)).length;
  return svg("svg", {viewBox: `0 0 ${width} ${24 + dy * deepest}`, width, height: 24 + dy * deepest, role: "img", "aria-label": `Search tree: ${number} of ${count(nodes.length, "node")} after call ${state.step}`}, body);
}

// --- tables
const words = (s, numbers) => numbers.map((i) => form(s, i)).join(", ");
function alternatives(s) {
  const best = s.trees[0], row = (tree, key, name) => {
    const odd = [...differing(tree.heads, best.heads)], chosen = state.tree === key || (key === 0 && state.tree === "step" && state.step === s.search.calls.length);
    const changes = odd.map((i) => `${form(s, i)}: ${form(s, tree.heads[i - 1])} instead of ${form(s, best.heads[i - 1])}`);
    const relabelled = tree.labels.map((_, i) => i + 1).filter((i) => !odd.includes(i) && tree.labels[i - 1] !== best.labels[i - 1]);
    const labels = relabelled.map((i) => `${form(s, i)}: label ${data.labels[tree.labels[i - 1]]} instead of ${data.labels[best.labels[i - 1]]}`);
    const button = html("button", {type: "button", "aria-pressed": String(chosen), "aria-label": `show ${name}`, onclick: () => { state.tree = key; draw(); focused(`show ${name}`); }}, name);
    return [chosen, button, score(best.score - tree.score), [...changes, ...labels].join("; ") || "–", ...(Object.keys(data.applied).length ? [String(tree.broken.length)] : [])];
  };
  const rows = s.trees.map((tree, i) => row(tree, i, `tree ${i + 1}`));
  if (s.valid) rows.push(row(s.valid, "valid", "valid tree"));
  const proved = s.complete ? "It is proved that no other tree scores more than the last one." : "The list may lack trees.";
  return [table(`The ${s.trees.length} best trees. ${proved}`, ["tree", "below the best", "heads and labels that differ", ...(Object.keys(data.applied).length ? ["broken rules"] : [])], rows)];
}
function violations(s, tree) {
  const sets = Object.entries(data.applied).map(([name, rules]) => `${rules} rules of ${name}`).join(" and ");
  if (!sets) return [html("p", {}, "The model has no labels, so no rules are applied.")];
  if (!tree.broken.length) return [html("p", {}, `No violation in this tree. Checked are ${sets}.`)];
  return [html("p", {}, `${count(tree.broken.length, "violation")} in this tree. Checked are ${sets}. The words are bold in the tree.`),
    html("ul", {}, tree.broken.map(([rule, at]) => html("li", {}, html("strong", {}, data.rules[rule][1]), ` (${data.rules[rule][0]}): ${words(s, at)}`)))];
}
function certificate(s) {
  const {search, default: first} = s, best = s.trees[0].score, checked = (faults) => faults.length ? faults.join("; ") : "no fault";
  const proved = first.status === "optimal", faulty = search.faults.length + first.faults.length;
  const rows = [
    ["status", search.status, first.status],
    ["upper bound", score(search.bound), proved ? score(best) : "–"],
    ["gap", search.bound === null ? "–" : score(Math.max(0, search.bound - best)), proved ? score(0) : "–"],
    ["dynamic-program calls", String(search.calls.length), String(first.calls)],
    ["nodes", String(search.nodes.length), String(first.nodes)],
    ["independent checker", checked(search.faults), checked(first.faults)],
  ].map((row) => [false, ...row]);
  return [table(`Certificate: the best tree scores ${score(best)}. The checker ${faulty ? "found faults in the proofs" : "verified both proofs"}.`, ["", "search shown", "default search"], rows)];
}

// --- the page
const parts = {};
const part = (name, element) => { parts[name] = element; return element; };
const focused = (label) => { const again = place.querySelector(`[aria-label="${label}"]`); if (again) again.focus(); };
function go(step) {
  state.step = Math.max(0, Math.min(sentence().search.calls.length, step));
  state.tree = "step";
  draw();
}
function choose(i) {
  state.sentence = i;
  state.step = Math.min(1, sentence().search.calls.length);
  state.tree = "step";
  draw();
}
function draw() {
  const s = sentence(), tree = shown(s), calls = s.search.calls.length;
  const width = (name) => Math.max(240, Math.floor(parts[name].clientWidth));
  parts.title.textContent = tree.title;
  const odd = tree.heads ? differing(tree.heads, s.trees[0].heads).size : 0;
  parts.note.textContent = odd ? `Dashed: ${count(odd, "arc")} that ${odd === 1 ? "differs" : "differ"} from the best tree.` : "";
  const measured = (state.on.margins || state.on.marginals) && odd ? " Margins and probabilities are shown for the best tree only." : "";
  parts.note.textContent += measured;
  parts.tree.replaceChildren(...(tree.heads ? [drawTree(s, tree, width("tree"))] : []));
  parts.now.replaceChildren(...described(s));
  parts.bounds.replaceChildren(drawBounds(s, width("bounds")));
  parts.search.replaceChildren(drawSearch(s, width("search")));
  parts.slider.max = calls;
  parts.slider.value = state.step;
  parts.slider.setAttribute("aria-valuetext", `call ${state.step} of ${calls}`);
  parts.back.disabled = parts.start.disabled = !state.step;
  parts.next.disabled = parts.end.disabled = state.step === calls;
  if (document.activeElement && document.activeElement.disabled) parts.panel.focus();  // so that arrow keys still work
  const tables = {alternatives: () => alternatives(s), violations: () => tree.heads ? violations(s, tree) : [], certificate: () => certificate(s)};
  for (const [name, make] of Object.entries(tables)) {
    parts[name].hidden = !state.on[name];
    parts[name].replaceChildren(...(state.on[name] ? make() : []));
  }
}
const button = (name, text, label, to) => part(name, html("button", {type: "button", "aria-label": label, onclick: () => go(to())}, text));
const select = html("select", {"aria-label": "sentence", onchange: () => choose(+select.value)},
  data.sentences.map((s, i) => html("option", {value: i}, `${i + 1}. ${s.words.join(" ")} (${count(s.search.nodes.length, "node")})`)));
const keyed = (event) => {
  if (/^(INPUT|SELECT)$/.test(event.target.tagName) || event.altKey || event.ctrlKey || event.metaKey) return;
  const by = (event.key === "ArrowRight") - (event.key === "ArrowLeft");
  if (by) { event.preventDefault(); go(state.step + by); }
};
place.replaceChildren(
  html("p", {}, select),
  html("fieldset", {}, html("legend", {}, "Show:"), Object.entries(SWITCHES).map(([name, label]) => html("label", {}, html("input", {type: "checkbox", name, checked: Boolean(state.on[name]), onchange: (event) => { state.on[name] = event.target.checked; draw(); }}), ` ${label}`))),
  html("div", {class: "halves"},
    html("div", {}, part("title", html("h3", {})), part("note", html("p", {class: "key"})), part("tree", html("div", {}))),
    part("panel", html("div", {role: "group", tabindex: "0", "aria-label": "search, step by step; the left and right arrow keys move", onkeydown: keyed},
      html("h3", {}, "The search"),
      html("div", {class: "bar"}, button("start", "⇤", "to the start", () => 0), button("back", "← step", "step back", () => state.step - 1), button("next", "step →", "next step", () => state.step + 1), button("end", "⇥", "to the end", () => sentence().search.calls.length),
        part("slider", html("input", {type: "range", min: 0, max: 1, "aria-label": "call of the dynamic program", oninput: (event) => go(+event.target.value)}))),
      part("now", html("div", {class: "now", "aria-live": "polite"})),
      html("p", {class: "key"}, html("span", {style: `color: ${UPPER}`}, "●"), " upper bound of the call (a ring: a new node begins), ", html("span", {style: `color: ${GLOBAL}`}, "―"), " global upper bound (the largest bound of an open node), ", html("span", {style: `color: ${LOWER}`}, "■"), " score of the best tree so far"),
      part("bounds", html("div", {})),
      html("p", {class: "key"}, "Search tree: ○ branched or open, ", html("span", {style: `color: ${GREY}`}, "■"), " closed by its bound, ", html("span", {style: `color: ${GREEN}`}, "◆"), " solved, × no tree. A solid line requires an arc, a dashed line forbids it. A click on a node goes to its first call."),
      part("search", html("div", {}))))),
  part("violations", html("div", {})), part("alternatives", html("div", {class: "scroll", role: "region", "aria-label": "Best trees", tabindex: "0"})), part("certificate", html("div", {})));
let wide = 0;
addEventListener("resize", () => { if (place.clientWidth !== wide) { wide = place.clientWidth; draw(); } });
choose(0);
})();