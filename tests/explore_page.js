// Use the page Explore as a reader does, and report the faults that are seen.
"use strict";
addEventListener("load", () => {
  const faults = [], place = document.getElementById("explore"), is = (fact, text) => { if (!fact) faults.push(text); };
  addEventListener("error", (event) => faults.push(event.message));
  const data = JSON.parse(document.getElementById("explore-data").textContent);
  const press = (label) => place.querySelector(`[aria-label="${label}"]`).click();
  const select = place.querySelector("select"), slider = place.querySelector("[type=range]");
  is(select.options.length === data.sentences.length, "not all sentences can be chosen");
  const nodes = () => place.querySelectorAll("g.node").length;
  data.sentences.forEach((sentence, i) => {
    select.value = i;
    select.dispatchEvent(new Event("change"));
    const calls = sentence.search.calls.length, said = () => place.querySelector("[aria-live]").textContent;
    is(+slider.value === calls && nodes() === sentence.search.nodes.length, `sentence ${i} does not end with all nodes`);
    is(said().includes("the best tree is proved"), `sentence ${i} is not proved`);
    is(place.textContent.includes(sentence.trees[0].score.toFixed(3)), `sentence ${i} has no score`);
    press("to the start");
    is(+slider.value === 0 && nodes() === 0, `sentence ${i} does not start without nodes`);
    const seen = [];
    for (let call = 1; call <= calls; call++) {
      press("next step");
      seen.push(nodes());
      is(said().startsWith(`Call ${call} of ${calls}, node ${sentence.search.calls[call - 1][0] + 1} of`), `call ${call} of sentence ${i}: ${said()}`);
      is(said().includes(sentence.search.calls[call - 1][1].toFixed(3).replace("-", "\u2212")), `no bound at call ${call} of sentence ${i}`);
    }
    is(seen.every((n, j) => !j || n >= seen[j - 1]) && seen[seen.length - 1] === sentence.search.nodes.length, `search tree of sentence ${i}: ${seen}`);
    is(document.documentElement.scrollWidth <= innerWidth, `sentence ${i} is wider than the window`);
  });
  const panel = place.querySelector("[role=group]"), key = (name) => panel.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true}));
  const at = +slider.value;
  key("ArrowLeft"); is(+slider.value === at - 1, "the left arrow key does not step back");
  key("ArrowRight"); is(+slider.value === at, "the right arrow key does not step");
  const tick = (name) => place.querySelector(`[name=${name}]`).click();
  const odd = data.sentences.findIndex((sentence) => sentence.trees.slice(1).some((tree) => tree.broken.length));
  select.value = odd;
  select.dispatchEvent(new Event("change"));
  const before = place.querySelectorAll("svg text").length;
  tick("margins"); tick("marginals");
  is(place.querySelectorAll("svg text").length === before + 2 * data.sentences[odd].words.length, "no margins and probabilities");
  tick("violations");
  const rank = data.sentences[odd].trees.findIndex((tree) => tree.broken.length);
  press(`show tree ${rank + 1}`);
  is(place.querySelectorAll("svg [stroke-dasharray='6 3']").length > 0, "no arc is marked as different");
  is(place.querySelectorAll("svg text.wrong").length > 0, "no word is marked as breaking a rule");
  is(place.textContent.includes(data.rules[data.sentences[odd].trees[rank].broken[0][0]][1]), "the broken rule has no name");
  tick("alternatives"); tick("certificate");
  is(!place.querySelector("table"), "tables cannot be switched off");
  for (const one of place.querySelectorAll("button, select, input")) is(one.getAttribute("aria-label") || one.closest("label"), `a control has no label: ${one.outerHTML}`);
  parent.postMessage(JSON.stringify({width: innerWidth, faults: faults.slice(0, 9)}), "*");
});
