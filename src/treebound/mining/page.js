"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const lines = JSON.parse(byId("table").textContent).trimEnd().split("\n");
  const names = lines[0].split("\t");
  const rows = lines.slice(1).map((line) => Object.fromEntries(line.split("\t").map((cell, i) => [names[i], cell])));
  const items = rows.map((row) => byId("s" + row.rank));
  const boxes = items.map((item) => item.querySelector("input"));
  const parents = items.map((item) => item.parentNode);
  const [kind, order, words, certified] = ["kind", "order", "words", "certified"].map(byId);
  let group = null, unsaved = false;

  const share = (row) => { const [otherwise, all] = row.variation.split("/").map(Number); return otherwise / (all + 1); };
  const keys = {
    rank: (row) => Number(row.rank),
    margin: (row) => -Number(row.margin),
    marginal: (row) => (row.marginal === "" ? 2 : Number(row.marginal)),
    variation: (row) => -share(row),
    sentence: (row) => Number(row.sentence) + Number(row.word) / 1e6,
    group: (row) => -Number(row.group_size),
  };

  function matches(row) {
    const text = words.value.trim().toLowerCase();
    return (!kind.value || row.kind === kind.value)
      && (!certified.checked || row.certified === "yes")
      && (group === null || (row.group === group.group && row.kind === group.kind))
      && (!text || [row.form, row.sent_id, row.label, row.proposed_label, row.tag, row.group].some((cell) => cell.toLowerCase().includes(text)));
  }

  function count() {
    const shown = items.filter((item) => !item.hidden).length;
    const ticked = boxes.filter((box) => box.checked).length;
    byId("count").textContent = `${shown} of ${rows.length} shown, ${ticked} ticked`;
  }

  function filter() {
    rows.forEach((row, i) => { items[i].hidden = !matches(row); });
    byId("all").hidden = group === null;
    byId("all").textContent = group === null ? "" : `Show all groups, not only “${group.group}”`;
    count();
  }

  function sort() {
    const key = keys[order.value];
    const places = rows.map((row, i) => [key(row), i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (const [, i] of places) parents[i].append(items[i]);
  }

  function save() {
    const text = lines[0] + "\n" + rows.map((_, i) => (boxes[i].checked ? "x" : "") + lines[i + 1] + "\n").join("");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/tab-separated-values" }));
    link.download = "suspects.tsv";
    document.body.append(link);
    link.click();
    link.remove();
    unsaved = false;
  }

  for (const link of document.querySelectorAll("a.group")) {
    link.addEventListener("click", () => { group = rows[Number(link.hash.slice(2)) - 1]; filter(); });
  }
  for (const control of [kind, words, certified]) control.addEventListener("input", filter);
  order.addEventListener("input", sort);
  for (const box of boxes) box.addEventListener("input", () => { unsaved = true; count(); });
  byId("all").addEventListener("click", () => { group = null; filter(); });
  byId("save").addEventListener("click", save);
  byId("fold").addEventListener("input", (event) => {
    for (const details of document.querySelectorAll("article details")) details.open = event.target.checked;
  });
  for (const region of document.querySelectorAll("article .scroll")) {
    const line = region.querySelector("line"); // below the suspect word, which may be far to the right
    if (line) region.scrollLeft = Number(line.getAttribute("x1")) - region.clientWidth / 2;
  }
  addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
  byId("bar").hidden = false;
  filter();
  sort();
})();
