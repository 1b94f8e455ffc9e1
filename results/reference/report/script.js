// Optional features of the pages.
"use strict";
// The menu is open on wide screens, where it is the column at the left, and closed on narrow screens.
{
  const menu = document.querySelector(".menu"), wide = matchMedia("(min-width: 56.01rem)");
  const set = () => { menu.open = wide.matches; };
  set();
  wide.addEventListener("change", set);
}
// Search headings, tables with their rows, figures, claims, commands, questions and answers. The index is loaded when the box is used for the first time.
{
  const form = document.querySelector(".search"), box = form.querySelector("input");
  const list = form.querySelector("ol"), count = form.querySelector(".count");
  const MOST = 20, WEIGHTS = { heading: 8, claim: 4, command: 3, table: 2, figure: 1, text: 1 };
  const plain = (text) => text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  const words = (text) => plain(text).split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  let entries;  // text, words, words of the page, kind and address of each entry
  const prepare = () => {
    entries = SEARCH_PAGES.map(([file, title, group]) => ["page", "", title, "", file, title, group]);
    for (const [page, kind, anchor, text, names] of SEARCH_ENTRIES) {
      const [file, title, group] = SEARCH_PAGES[page];
      entries.push([kind, anchor, text, names || "", file, title, group]);
    }
    entries = entries.map(([kind, anchor, text, names, file, title, group]) => ({
      kind, text, title, address: file + (anchor && "#" + anchor), own: words(text), names: words(names),
      page: words(title + " " + group),
    }));
  };
  // An entry matches if each word of the query begins a word of its text, of the names of its rows or of its page, and
  // one of them a word of its text or of a row.
  const score = (entry, query) => {
    let sum = 0, own = 0;
    for (const word of query) {
      const at = entry.own.findIndex((other) => other.startsWith(word));
      if (at >= 0) {
        own++;
        sum += 10 + (entry.own.includes(word) ? 5 : 0) + (at === 0 ? 2 : 0);
      } else if (entry.names.some((other) => other.startsWith(word))) {
        own++;
        sum += 5;
      } else if (entry.page.some((other) => other.startsWith(word))) sum += 3;
      else return 0;
    }
    return own && sum + (WEIGHTS[entry.kind] || 10) - Math.min(entry.own.length, 40) / 10;
  };
  const show = () => {
    const query = words(box.value);
    list.replaceChildren();
    count.textContent = "";
    if (!query.length || !entries) return;
    const matches = entries.map((entry) => [score(entry, query), entry]).filter(([value]) => value > 0);
    matches.sort(([a], [b]) => b - a);
    for (const [, entry] of matches.slice(0, MOST)) {
      const item = document.createElement("li"), link = document.createElement("a"), note = document.createElement("small");
      link.href = entry.address;
      link.textContent = entry.text.length > 110 ? entry.text.slice(0, 110).replace(/\s\S*$/, " …") : entry.text;
      note.textContent = entry.kind === "page" ? "page" : `${entry.kind} · ${entry.title}`;
      link.append(note);
      item.append(link);
      list.append(item);
    }
    count.textContent = matches.length > MOST ? `${MOST} of ${matches.length} results` :
      matches.length === 1 ? "1 result" : `${matches.length || "no"} results`;
  };
  const load = () => {
    if (document.querySelector("script[src='search-index.js']")) return;
    const script = document.createElement("script");
    script.src = "search-index.js";
    script.addEventListener("load", () => { prepare(); show(); });
    document.head.append(script);
  };
  form.hidden = false;
  box.addEventListener("focus", load);
  box.addEventListener("input", () => { load(); show(); });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  // Arrow keys move between the box and the results; Escape clears the box.
  form.addEventListener("keydown", (event) => {
    const stops = [box, ...list.querySelectorAll("a")], at = stops.indexOf(document.activeElement);
    const step = (event.key === "ArrowDown") - (event.key === "ArrowUp");
    if (step) stops[Math.max(0, Math.min(stops.length - 1, at + step))].focus();
    else if (event.key === "Escape") { box.value = ""; show(); box.focus(); } else return;
    event.preventDefault();
  });
  // A slash anywhere outside a field moves to the box.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    document.querySelector(".menu").open = true;
    box.focus();
  });
  // A result on this page closes the menu of narrow screens.
  list.addEventListener("click", (event) => {
    if (event.target.closest("a")) document.querySelector(".menu").open = matchMedia("(min-width: 56.01rem)").matches;
  });
}
// The target of a link is shown, though it may be in a closed section.
{
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let outer = target; outer; outer = outer.parentElement) if (outer.tagName === "DETAILS") outer.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
}
// The row headers of several levels stay in sight side by side, where they leave half of the frame to the figures.
// The label of several rows or columns stays in sight as long as one of them does.
{
  for (const head of document.querySelectorAll(".scroll .figures :is([scope=rowgroup], [scope=colgroup])")) {
    const label = document.createElement("span");
    label.className = "label";
    label.append(...head.childNodes);
    head.append(label);
  }
  const place = (frame) => {
    const table = frame.querySelector("table.figures");
    const first = table && table.tBodies[0] && table.tBodies[0].rows[0];
    if (!first || !frame.clientWidth) return;
    const widths = [...first.cells].filter((cell) => cell.tagName === "TH").map((cell) => cell.offsetWidth);
    const fits = widths.reduce((a, b) => a + b, 0) <= frame.clientWidth / 2;
    const lefts = widths.map((_, i) => widths.slice(0, i).reduce((a, b) => a + b, 0));
    for (const row of [...table.tHead ? table.tHead.rows : [], ...table.tBodies[0].rows]) {
      const heads = [...row.cells].filter((cell) => cell.matches("tbody th, th.index"));
      heads.forEach((cell, i) => {
        const level = widths.length - heads.length + i, last = level === widths.length - 1;
        cell.style.position = fits || last ? "sticky" : "static";
        cell.style.left = fits ? `${lefts[level]}px` : "0";
      });
    }
    const held = fits ? widths.reduce((a, b) => a + b, 0) : widths.at(-1);
    table.style.setProperty("--names", `${held}px`);
    table.style.setProperty("--head", `${table.tHead ? table.tHead.offsetHeight : 0}px`);
  };
  const watch = new ResizeObserver((changes) => changes.forEach(({ target }) => place(target)));
  for (const frame of document.querySelectorAll(".scroll")) watch.observe(frame);
}
// A click on a column name sorts the table; another click reverses the order.
for (const table of document.querySelectorAll("table.figures")) {
  const names = table.tHead && table.tHead.rows[table.tHead.rows.length - 1];
  if (!names || table.tBodies[0].rows.length < 3) continue;
  const number = (text) => parseFloat(text.replace(/,/g, "").replace("\u2212", "-").replace(/^< /, ""));
  const whole = () => {  // split cells that span several rows
    for (const cell of table.tBodies[0].querySelectorAll("[rowspan]")) {
      const span = cell.rowSpan, at = cell.cellIndex;
      cell.rowSpan = 1;
      for (let row = cell.parentElement, i = 1; i < span; i++) {
        row = row.nextElementSibling;
        row.insertBefore(cell.cloneNode(true), row.cells[at]);
      }
    }
  };
  [...names.cells].forEach((name, column) => {
    if (!name.textContent) return;
    const button = document.createElement("button");
    button.append(...name.childNodes);
    name.append(button);
    button.addEventListener("click", () => {
      whole();
      const up = name.getAttribute("aria-sort") === "descending";
      for (const other of names.cells) other.removeAttribute("aria-sort");
      name.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...table.tBodies[0].rows].map((row) => [row, row.cells[column].textContent]);
      rows.sort(([, a], [, b]) => {
        const [x, y] = [number(a), number(b)];
        if (isNaN(x) || isNaN(y)) return isNaN(x) && isNaN(y) ? (up ? 1 : -1) * a.localeCompare(b) : isNaN(x) - isNaN(y);
        return up ? x - y : y - x;
      });
      table.tBodies[0].append(...rows.map(([row]) => row));
    });
  });
}
// Show the steps of a search one at a time, with buttons and the arrow keys.
for (const list of document.querySelectorAll("ol.steps")) {
  const bar = document.createElement("p"), place = document.createElement("span");
  bar.className = "stepper";
  let now = 0;
  const go = (to) => {
    now = Math.max(0, Math.min(list.children.length - 1, to));
    [...list.children].forEach((step, i) => { step.hidden = i !== now; });
    place.textContent = ` step ${now + 1} of ${list.children.length} `;
  };
  const button = (text, label, by) => {
    const made = document.createElement("button");
    made.textContent = text;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", () => go(now + by));
    return made;
  };
  bar.append(button("←", "step before", -1), place, button("→", "next step", 1));
  bar.addEventListener("keydown", (event) => go(now + (event.key === "ArrowRight") - (event.key === "ArrowLeft")));
  list.before(bar);
  go(0);
}
// Filter the rows of a leaderboard: a choice of values for some columns, and a text that a row must contain.
for (const table of document.querySelectorAll("table.leaderboard")) {
  const names = [...table.tHead.rows[table.tHead.rows.length - 1].cells].map((cell) => cell.textContent.trim());
  const rows = () => [...table.tBodies[0].rows];
  const bar = document.createElement("p"), count = document.createElement("span");
  bar.className = "filters";
  count.setAttribute("role", "status");
  const labelled = (text, control) => {
    const label = document.createElement("label");
    label.append(text + " ", control);
    control.addEventListener("input", show);
    bar.append(label);
    return control;
  };
  const choices = table.dataset.filters.split("|").filter(Boolean).map((name) => {
    const column = names.indexOf(name), choice = document.createElement("select");
    const values = [...new Set(rows().map((row) => row.cells[column].textContent.trim()))];
    choice.append(new Option("all", ""), ...values.map((value) => new Option(value, value)));
    return [column, labelled(name, choice)];
  });
  const search = document.createElement("input");
  search.type = "search";
  search.placeholder = "for instance: sampling";
  labelled("contains", search);
  function show() {
    const text = search.value.trim().toLowerCase();
    for (const row of rows()) {
      const fits = choices.every(([column, choice]) => !choice.value || row.cells[column].textContent.trim() === choice.value);
      row.hidden = !fits || !row.textContent.toLowerCase().includes(text);
    }
    count.textContent = `${rows().filter((row) => !row.hidden).length} of ${rows().length} rows`;
  }
  bar.append(count);
  show();
  table.closest(".scroll").before(bar);
}