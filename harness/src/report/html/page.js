"use strict";
(() => {
  const DATA = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  // Everything a client said goes through here, as text: never as markup.
  const el = (tag, cls, ...kids) => {
    const node = document.createElement(tag);
    if (cls) node.className = cls;
    for (const kid of kids) if (kid !== null && kid !== undefined && kid !== "") node.append(kid);
    return node;
  };
  const STANDINGS = [
    ["failed", "failed"], ["fixed", "known failure passes"], ["harness-error", "harness error"],
    ["adapter-error", "adapter error"], ["not-exercised", "not exercised"],
    ["known-failure", "known failure"], ["passed", "passed"], ["not-applicable", "not applicable"],
  ];
  const WORD = new Map(STANDINGS);
  const LOOK = new Set(["failed", "fixed", "harness-error", "adapter-error", "not-exercised"]);
  const rank = new Map(STANDINGS.map(([name], at) => [name, at]));
  const sentences = new Map(DATA.requirements.map((one) => [one.id, one]));
  const several = DATA.runs.length > 1;
  const reduced = window.matchMedia("(prefers-reduced-motion: reduce)").matches;

  // One row a case and client; the gravest first, within it the order of the run.
  const rows = [];
  DATA.runs.forEach((run, client) => run.cases.forEach((one) => rows.push({ one, run, client, node: null, text: "" })));
  rows.sort((a, b) => rank.get(a.one.standing) - rank.get(b.one.standing));
  const textOf = (row) => {
    if (!row.text) {
      const { one, run } = row;
      row.text = [one.id, one.title, run.client, WORD.get(one.standing), ...one.checks.map((c) => c[0] + " " + c[2]),
        ...one.violations.map((v) => v.expected + " " + v.seen), ...(one.reasons || []),
        ...one.timeline.map((m) => m.words || "")].join("\n").toLowerCase();
    }
    return row.text;
  };

  const state = { words: "", client: "", standings: new Set(), requirement: "", at: -1 };
  const present = STANDINGS.map(([name]) => name).filter((name) => rows.some((row) => row.one.standing === name));
  const looks = present.filter((name) => LOOK.has(name) || name === "known-failure");
  state.standings = new Set(looks.length ? looks : present);

  // ---- header
  const lines = [...$("verdict").children];
  DATA.runs.forEach((run, at) => {
    const code = run.exit ? run.exit.code : 3;
    const bad = run.cases.some((one) => one.standing === "failed" || one.standing === "harness-error");
    if (lines[at]) lines[at].className = code === 0 ? "good" : bad || code === 1 ? "bad" : "warn";
    const facts = [run.client, run.language, "suite " + run.suite + (run.digest ? " (" + run.digest.slice(0, 12) + ")" : ""),
      "seed " + run.seed, "over " + run.transport, run.strict ? "strict" : "",
      run.took_ms === null ? "" : (run.took_ms / 1000).toFixed(1) + " s",
      run.exit ? "exit " + run.exit.code + ", " + run.exit.meaning : "the run never ended: this is what was known"];
    $("runs").append(el("li", "", facts.filter(Boolean).join(" · ")));
  });

  // ---- matrix
  const KINDS = ["failed", "known", "not-judged", "remark", "passed", "not-applicable"];
  const KIND = { failed: "failed", known: "known", "not-judged": "not judged", remark: "remarks", passed: "passed", "not-applicable": "n/a" };
  const tally = new Map();
  const add = (client, name, kind) => {
    const key = client + " " + name;
    if (!tally.has(key)) tally.set(key, {});
    const sums = tally.get(key);
    sums[kind] = (sums[kind] || 0) + 1;
  };
  DATA.runs.forEach((run, client) => run.cases.forEach((one) => one.checks.forEach(([id, kind]) => {
    add(client, id, kind);
    add(client, "area:" + id.split("/")[0], kind);
  })));
  const cell = (client, name, requirement) => {
    const sums = tally.get(client + " " + name);
    const td = el("td", "cell");
    if (!sums) { td.append(el("span", "n not-applicable", "–")); return td; }
    const button = el("button");
    button.type = "button";
    for (const kind of KINDS) {
      if (!sums[kind] || (kind === "not-applicable" && Object.keys(sums).length > 1)) continue;
      const sign = kind === "failed" ? "✗ " : kind === "passed" ? "✓ " : "";
      const word = kind === "passed" && !sums.failed ? "" : " " + KIND[kind];
      button.append(el("span", "n " + kind, sign + sums[kind] + word));
    }
    button.title = KINDS.filter((kind) => sums[kind]).map((kind) => sums[kind] + " " + KIND[kind]).join(", ");
    button.addEventListener("click", () => {
      const same = state.requirement === requirement && state.client === String(client);
      state.requirement = same ? "" : requirement;
      state.client = same ? "" : String(client);
      $("client").value = state.client;
      state.standings = new Set(present);
      document.querySelectorAll("#matrix [aria-pressed]").forEach((b) => b.removeAttribute("aria-pressed"));
      if (!same) button.setAttribute("aria-pressed", "true");
      draw();
      $("bar").scrollIntoView({ behavior: reduced ? "auto" : "smooth" });
    });
    td.append(button);
    return td;
  };
  const table = el("table");
  const top = el("tr", "", el("th", "", "Checks, by requirement"));
  DATA.runs.forEach((run) => top.append(el("th", "", run.client)));
  table.append(el("thead", "", top));
  const areas = [...DATA.areas];
  for (const one of DATA.requirements) {
    const name = one.id.split("/")[0];
    if (!areas.some((area) => area.name === name)) areas.push({ name, title: name });
  }
  for (const area of areas) {
    const mine = DATA.requirements.filter((one) => one.id.split("/")[0] === area.name);
    if (!mine.length) continue;
    const broken = DATA.runs.some((_, client) => (tally.get(client + " area:" + area.name) || {}).failed);
    const body = el("tbody");
    const button = el("button", "", area.title);
    button.type = "button";
    const head = el("tr", "area", el("th", "", button));
    DATA.runs.forEach((_, client) => head.append(cell(client, "area:" + area.name, area.name + "/")));
    body.append(head);
    const inner = mine.map((one) => {
      const row = el("tr", "req", el("th", "", el("code", "", one.id), " ", el("span", "badge", one.level), el("small", "", one.sentence)));
      DATA.runs.forEach((_, client) => row.append(cell(client, one.id, one.id)));
      return [row, DATA.runs.some((_, client) => (tally.get(client + " " + one.id) || {}).failed)];
    });
    const show = (open, all) => {
      button.setAttribute("aria-expanded", String(open));
      inner.forEach(([row, bad]) => { row.hidden = !(open && (all || bad)); });
    };
    // At first only what is broken is unfolded; a click shows all of the area.
    let whole = false;
    show(broken, false);
    button.addEventListener("click", () => { whole = !whole; show(whole, true); });
    body.append(...inner.map(([row]) => row));
    table.append(body);
  }
  $("matrix").append(table);

  // ---- one case
  const at = (us) => us === undefined ? "end" : us < 10000 ? (us / 1000).toFixed(1) + " ms" : us < 1e6 ? Math.round(us / 1000) + " ms" : (us / 1e6).toFixed(2) + " s";
  const diagram = (one) => {
    const box = el("div", "seq");
    box.setAttribute("role", "list");
    box.append(el("div", "row lanes", el("span"), el("span"), el("div", "", el("span", "", "client"), el("span", "", "server")), el("span")));
    let exchange, before;
    for (const moment of one.timeline) {
      const time = at(moment.at_us);
      const shown = time === before ? "" : time;
      before = time;
      if (moment.what === "wrong") {
        const wrong = one.violations[moment.violation];
        if (!wrong) continue;
        const row = el("div", "row wrong", el("div", "", el("b", "", (moment.parts ? "✗ Here they part: " : "✗ ") + wrong.requirement)),
          el("div", "ev", el("i", "", "expected"), el("span", "", wrong.expected), el("i", "", "seen"), el("span", "", wrong.seen)));
        row.setAttribute("role", "listitem");
        box.append(row);
        continue;
      }
      const left = el("div", "side"), wire = el("div", "wire"), right = el("div", "mark");
      const words = el("span", "", moment.words || "");
      switch (moment.what) {
        case "request": wire.classList.add("arrow", "out"); wire.append(words); break;
        case "answer": wire.classList.add("arrow", "in"); wire.append(words); break;
        case "close": wire.classList.add("arrow", "out", "close"); wire.append(words); break;
        case "note": wire.classList.add("note"); wire.append(words); break;
        default: left.append(el("b", moment.what === "result" ? "end" : "", moment.words || ""));
      }
      if (moment.fault) { wire.classList.add("fault"); right.append("⚡ fault"); }
      const row = el("div", "row", el("div", "t", shown), left, wire, right);
      row.setAttribute("role", "listitem");
      if (moment.exchange !== exchange && moment.what === "request") row.classList.add("group");
      exchange = moment.exchange;
      box.append(row);
    }
    return box;
  };
  const fill = (row) => {
    const { one } = row;
    const body = el("div", "body");
    if (one.why) body.append(el("p", "", one.why));
    for (const reason of one.reasons || []) body.append(el("p", "", el("b", "", "Known failure: "), reason));
    if (one.keys) body.append(el("p", "", el("b", "", "Passes, though the manifest lists it: "), "remove " + one.keys.join(", ")));
    const shown = one.checks.filter((check) => check[1] !== "passed");
    const checks = el("ul", "checks");
    const ordered = (shown.length ? shown : one.checks).slice().sort((a, b) => KINDS.indexOf(a[1]) - KINDS.indexOf(b[1]));
    for (const [id, kind, reason] of ordered) {
      const known = sentences.get(id);
      checks.append(el("li", "", el("span", "n " + kind, KIND[kind]), el("span", "", el("code", "", id), known ? " (" + known.level + ")" : "",
        el("small", "", known ? known.sentence : ""), kind !== "passed" && reason && !one.violations.some((v) => v.requirement === id) ? el("small", "", reason) : null)));
    }
    body.append(el("h3", "", "The contract"), checks);
    if (one.timeline.length) body.append(el("h3", "", "The exchange"), diagram(one));
    if (one.expected.length) {
      const list = el("ol", "right");
      one.expected.forEach((step) => list.append(el("li", "", step)));
      body.append(el("h3", "", "A right client"), list);
    }
    if (one.notes.length) body.append(el("h3", "", "Noted"), ...one.notes.map((note) => el("p", "", note)));
    const copy = el("button", "copy", "Copy");
    copy.type = "button";
    copy.addEventListener("click", () => {
      if (navigator.clipboard) navigator.clipboard.writeText(one.replay).then(() => { copy.textContent = "Copied"; }, () => {});
    });
    body.append(el("h3", "", "Play it again"), el("div", "replay", el("code", "", one.replay), copy));
    row.node.append(body);
  };
  const make = (row) => {
    const { one, run } = row;
    const what = el("span", "what", el("b", "mono", one.id), el("span", "", one.title));
    const broken = one.checks.filter((check) => check[1] === "failed").map((check) => check[0]);
    if (broken.length) what.append(el("em", "", "breaks " + broken.join(", ")));
    const node = el("details", "case " + one.standing, el("summary", "", el("span", "badge", WORD.get(one.standing)), what,
      el("span", "who", (several ? run.client + " · " : "") + one.took_ms + " ms")));
    node.dataset.id = one.id;
    row.node = node;
    // A diagram is made when it is first looked at: 800 of them at once would be slow.
    node.addEventListener("toggle", () => { if (node.open && node.childElementCount === 1) fill(row); });
    return node;
  };

  // ---- filters
  let visible = [];
  const matches = (row, ignoreStanding) => {
    if (state.client !== "" && String(row.client) !== state.client) return false;
    if (!ignoreStanding && !state.standings.has(row.one.standing)) return false;
    if (state.requirement) {
      const area = state.requirement.endsWith("/");
      if (!row.one.checks.some((check) => area ? check[0].startsWith(state.requirement) : check[0] === state.requirement)) return false;
    }
    return !state.words || state.words.split(/\s+/).every((word) => textOf(row).includes(word));
  };
  const chips = () => {
    $("chips").replaceChildren(...present.map((name) => {
      const number = rows.filter((row) => row.one.standing === name && matches(row, true)).length;
      const chip = el("button", "", number + " " + WORD.get(name));
      chip.type = "button";
      chip.dataset.standing = name;
      chip.setAttribute("aria-pressed", String(state.standings.has(name)));
      chip.addEventListener("click", () => {
        if (state.standings.has(name)) state.standings.delete(name); else state.standings.add(name);
        draw();
        document.querySelector("#chips [data-standing=" + name + "]").focus();
      });
      return chip;
    }));
  };
  const draw = () => {
    visible = rows.filter((row) => matches(row, false));
    const list = document.createDocumentFragment();
    for (const row of visible) list.append(row.node || make(row));
    $("cases").replaceChildren(list);
    chips();
    const about = state.requirement ? " about " + state.requirement.replace(/\/$/, "") : "";
    $("shown").textContent = visible.length + " of " + rows.length + " cases" + about +
      (state.standings.size < present.length ? " (" + present.filter((name) => !state.standings.has(name)).map((name) => WORD.get(name)).join(", ") + " hidden)" : "");
    state.at = -1;
    document.querySelectorAll("details.at").forEach((node) => node.classList.remove("at"));
  };
  const go = (step) => {
    if (!visible.length) return;
    if (state.at >= 0) visible[state.at].node.classList.remove("at");
    state.at = Math.max(0, Math.min(visible.length - 1, state.at + step));
    const { node } = visible[state.at];
    node.classList.add("at");
    node.querySelector("summary").focus({ preventScroll: true });
    node.scrollIntoView({ block: "nearest" });
  };

  $("client").append(new Option("every client", ""));
  DATA.runs.forEach((run, client) => $("client").append(new Option(run.client, String(client))));
  $("client").hidden = !several;
  $("client").addEventListener("change", () => { state.client = $("client").value; draw(); });
  $("search").addEventListener("input", () => { state.words = $("search").value.trim().toLowerCase(); draw(); });
  $("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key === "Escape") {
      Object.assign(state, { words: "", client: "", requirement: "" });
      $("search").value = ""; $("client").value = ""; $("search").blur();
      document.querySelectorAll("#matrix [aria-pressed]").forEach((b) => b.removeAttribute("aria-pressed"));
      draw();
    } else if (typing) {
      if (event.key === "Enter" && event.target === $("search")) { $("search").blur(); go(1); }
    } else if (event.key === "/") { event.preventDefault(); $("search").focus(); }
    else if (event.key === "j") go(1);
    else if (event.key === "k") go(-1);
    else if (event.key === "f") { state.standings = new Set(looks.length ? looks : present); draw(); }
    else if (event.key === "a") { state.standings = new Set(present); draw(); }
  });
  // On paper nothing can be unfolded, so what is broken is.
  window.addEventListener("beforeprint", () => {
    for (const row of visible) if (LOOK.has(row.one.standing)) { row.node.open = true; if (row.node.childElementCount === 1) fill(row); }
  });
  const linked = () => {
    let id = "";
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const row = id && rows.find((one) => one.one.id === id);
    if (!row) return;
    state.standings.add(row.one.standing);
    draw();
    row.node.open = true;
    row.node.scrollIntoView();
  };
  window.addEventListener("hashchange", linked);
  draw();
  // The first failure is open: it is what a reader came for.
  if (visible.length && LOOK.has(visible[0].one.standing)) visible[0].node.open = true;
  linked();
})();
