// Search headings, tables, figures and claims. The index is loaded when the box is used for the first time.
{
  const form = document.querySelector(".search"), box = form.querySelector("input");
  const list = form.querySelector("ol"), count = form.querySelector(".count");
  const MOST = 20, WEIGHTS = { heading: 8, claim: 4, table: 2, figure: 1 };
  const plain = (text) => text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  const words = (text) => plain(text).split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  let entries;  // text, words, words of the page, kind and address of each entry
  const prepare = () => {
    entries = SEARCH_PAGES.map(([file, title, group]) => ["page", "", title, file, title, group]);
    for (const [page, kind, anchor, text] of SEARCH_ENTRIES) {
      const [file, title, group] = SEARCH_PAGES[page];
      entries.push([kind, anchor, text, file, title, group]);
    }
    entries = entries.map(([kind, anchor, text, file, title, group]) => ({
      kind, text, title, address: file + (anchor && "#" + anchor), own: words(text), page: words(title + " " + group),
    }));
  };
  // An entry matches if each word of the query begins a word of its text or of its page, and one a word of its text.
  const score = (entry, query) => {
    let sum = 0, own = 0;
    for (const word of query) {
      const at = entry.own.findIndex((other) => other.startsWith(word));
      if (at >= 0) {
        own++;
        sum += 10 + (entry.own.includes(word) ? 5 : 0) + (at === 0 ? 2 : 0);
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
    if (document.querySelector("script[src='{{ search }}']")) return;
    const script = document.createElement("script");
    script.src = "{{ search }}";
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
    if (event.target.closest("a")) document.querySelector(".menu").open = matchMedia("{{ wide }}").matches;
  });
}
