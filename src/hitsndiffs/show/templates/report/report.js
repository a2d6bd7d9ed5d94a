// The report comes alive here: tables that sort and search, pictures, and the answers behind each
// user and item. Everything is drawn from the data in the file; nothing is loaded.
"use strict";
(async () => {
  const { h, none, count, plural, percent, chance, shown, compare, normal, save } = tools;
  const by = (id) => document.getElementById(id);
  const read = async (store) => {
    if (store.type === "application/json") return JSON.parse(store.textContent);
    if (typeof DecompressionStream === "undefined") return null;
    const bytes = Uint8Array.from(atob(store.textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  };
  const data = by("data") && (await read(by("data")));
  if (!data) return;

  // -- the data -------------------------------------------------------------------------------
  const users = Object.fromEntries(data.columns.map((c) => [c.name, c.values]));
  const items = data.items;
  const n = users.user.length;
  const hasKey = items.some((item) => item.key !== null);
  const [low, high] = data.range;
  const { first, last, code } = data.answers;
  const held = (i) => (i < first ? i : i >= n - last ? i - n + last + first : -1);
  const score = (i) => users[data.main][i];
  const reach = (i) => 1.96 * (users.standard_error?.[i] ?? 0);
  const place = (x) => (high > low ? Math.min(Math.max((x - low) / (high - low), 0), 1) : 0);
  // The option that a user chose, -1 for none; undefined where the file does not hold it.
  const chosen = (i, j) => (held(i) < 0 ? undefined : code.charCodeAt(held(i) * items.length + j) - 36);
  const right = (i, j) => items[j].key !== null && chosen(i, j) === items[j].key;
  const answered = (i) => items.map((_, j) => j).filter((j) => chosen(i, j) >= 0);

  // How likely user i is above user k (results/versus.py): their answers to the same items are a
  // paired sample; with few shared items the scores know more.
  const worth = (i, j) => items[j].worth?.[chosen(i, j)] ?? 0;
  const above = (i, k, shared) => {
    const p = data.pairing;
    if (users.component && users.component[i] !== users.component[k]) return 0.5;
    const gains = shared.map((j) => worth(i, j) - worth(k, j));
    const size = Math.max(gains.length, 1);
    const sum = gains.reduce((a, b) => a + b, 0);
    const squares = (all) => all.reduce((a, b) => a + b * b, 0) + 1;
    // Within a cluster, answers stand or fall together.
    const together = {};
    if (p.clusters) shared.forEach((j, at) => (together[p.clusters[j]] = (together[p.clusters[j]] ?? 0) + gains[at]));
    const variance = squares(p.clusters ? Object.values(together) : gains) / size ** 2;
    const wider = Math.max((variance * size ** 2) / squares(gains), 1);
    const spread = p.mean ? wider * (p.spread[i] ** 2 + p.spread[k] ** 2) : 0;
    let z = spread > 0 ? (p.mean[i] - p.mean[k]) / Math.sqrt(spread) : NaN;
    const enough = gains.length >= 0.5 * Math.max(answered(i).length, answered(k).length);
    if (enough && (p.by_pairs || !Number.isFinite(z))) {
      const shrunk = p.prior === null ? 1 : p.prior / (p.prior + variance);
      z = (sum / size) * Math.sqrt(shrunk / variance);
    }
    return Number.isFinite(z) ? p.sure * normal(z) + (1 - p.sure) * 0.5 : 0.5;
  };
  const shared = (i, k) => items.map((_, j) => j).filter((j) => chosen(i, j) >= 0 && chosen(k, j) >= 0);
  const compared = data.pairing && first + last > 0;

  const open = {};

  // Opinions have no key: a label has one colour, and its place on the scale.
  const shades = data.labels.length < 2 ? null
    : new Map(data.labels.map((label, k) => [label, 1 + Math.round((4 * k) / (data.labels.length - 1))]));
  const draw = pictures({ data, items, users, held, chosen, score, reach, place, open, shades, places: new Map(data.labels.map((label, k) => [label, k])) });
  const link = (text, action) => h("button", { type: "button", class: "link", click: action }, text);
  const userLink = (i) => link(users.user[i], () => open.user(i));
  const itemLink = (j) => link(items[j].name, () => open.item(j));

  // -- tables ---------------------------------------------------------------------------------
  // A table draws its first rows and more on demand; headings sort, a field searches.
  const table = (node, columns, length, row, names, what, page = 100) => {
    const field = node.querySelector("input[type=search]");
    const found = node.querySelector("[aria-live]");
    const more = node.querySelector(".more button");
    const body = node.querySelector("tbody");
    let sorted = Array.from({ length }, (_, i) => i);
    let listed = sorted;
    let rows = Math.min(page, length);
    let natural = true;
    const draw = () => {
      body.replaceChildren(...listed.slice(0, rows).map((i, at) => row(i, natural ? listed[at - 1] : undefined)));
      more.hidden = rows >= listed.length;
      found.textContent = (listed.length === length ? "" : count(listed.length) + " of ") + plural(length, what);
    };
    const filter = () => {
      const wanted = field.value.trim().toLocaleLowerCase();
      listed = wanted ? sorted.filter((i) => names[i].includes(wanted)) : sorted;
      rows = Math.min(page, listed.length);
      draw();
    };
    const heads = columns.map(({ name, heading, kind, values, order, tip }) => {
      const th = h("th", { scope: "col", class: kind === "label" ? null : ["bars", "stacks"].includes(kind) ? kind : `n ${name ?? ""}`, "aria-sort": order });
      if (!values) th.append(...[heading].flat().map((text) => h("span", {}, text)));
      else th.append(h("button", { type: "button", ...(tip ? { tip } : {}), click: () => {
        const down = th.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        natural = columns[0].values === values && !down;
        // what there is none of stays at the end, whichever way round
        sorted = Array.from({ length }, (_, i) => i).sort((a, b) => {
          const [x, y] = [values[a], values[b]];
          return none(x) || none(y) ? none(x) - none(y) || a - b : (down ? compare(y, x) : compare(x, y)) || a - b;
        });
        filter();
      } }, heading));
      return th;
    });
    node.querySelector("thead").replaceChildren(h("tr", {}, ...heads));
    let waiting = 0;
    field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(filter, length > 5000 ? 150 : 0);
    });
    field.closest(".finder").classList.toggle("few", length <= 12);
    more.addEventListener("click", () => {
      rows = Math.min(rows + 5 * page, listed.length);
      draw();
    });
    addEventListener("beforeprint", () => {
      rows = Math.min(listed.length, data.printed);
      draw();
    });
    node.hidden = false;
    filter();
  };

  const rankingTable = () => {
    const kinds = Object.fromEntries(data.columns.map((c) => [c.name, c]));
    const columns = data.shown.map((name) =>
      name === "bar" ? { heading: data.scale, kind: "bars" }
      : name === "range" ? { heading: "rank range", kind: "whole", values: users.rank_low, tip: "The ranks between which the user surely stands (95 %)" }
      : { ...kinds[name], order: name === "rank" ? "ascending" : undefined });
    const row = (i, before) => {
      const starts = users.tier && before !== undefined && users.tier[i] !== users.tier[before];
      return h("tr", { class: starts ? "tier" : null }, ...data.shown.map((name) => {
        if (name === "bar") return h("td", { class: "bars" }, draw.bar(i));
        if (name === "user") return h("th", { scope: "row" }, userLink(i));
        if (name === "range") return h("td", { class: "n" }, none(users.rank_low[i]) ? "" : [...new Set([users.rank_low[i], users.rank_high[i]])].map(count).join("–"));
        const error = name === data.main && users.standard_error?.[i] != null
          ? h("span", { class: "faint" }, " ± " + (data.shares ? Math.round(100 * reach(i)) : reach(i).toFixed(2))) : null;
        return h("td", { class: kinds[name].kind === "label" ? null : `n ${name}` }, shown(users[name][i], kinds[name].kind), error);
      }));
    };
    by("ranking").classList.toggle("plain", columns.length < 4);
    table(by("ranking"), columns, n, row, users.user.map((name) => name.toLocaleLowerCase()), "user");
  };

  const itemTable = () => {
    const value = (name) => items.map((item) => item[name]);
    const label = (o) => items.map((item) => (item[o] === null ? null : item.options[item[o]]));
    const usual = items.map((item) => item.options[item.counts.indexOf(Math.max(...item.counts))]);
    const columns = [
      { heading: "item", kind: "label", values: value("name") },
      ...(hasKey ? [{ heading: "likely key", kind: "label", values: label("key") },
        ...(data.doubted ? [] : [{ heading: "sure", kind: "chance", values: value("sure"), tip: "How likely that is the right answer" }])]
        : [{ heading: "most chosen", kind: "label", values: usual }]),
      ...(data.audited ? [{ heading: "your key", kind: "label", values: items.map((item) => item.unseen ?? item.options[item.given] ?? null) }] : []),
      { heading: "answers", kind: "stacks" },
      ...(data.doubted ? [] : [
        { heading: "chose it", kind: "share", values: value("share"), tip: "The share who chose the likely key" },
        { name: "detail", heading: "best quarter", kind: "share", values: value("best"), tip: "The share of the best quarter of the users who chose it" },
        { name: "detail", heading: "discrimination", kind: "number", values: value("telling"), tip: "How far choosing it goes with a high score: 1 = fully, 0 = not at all" }]),
      { heading: "remark", kind: "label", values: value("remark") },
    ].filter((c) => !c.values || c.values.some((v) => !none(v)));
    const row = (j) => h("tr", { class: items[j].remark ? "doubt" : null }, ...columns.map((c) =>
      c.heading === "item" ? h("th", { scope: "row" }, itemLink(j))
      : c.kind === "stacks" ? h("td", { class: "stacks" }, draw.options(j))
      : h("td", { class: c.kind === "label" ? (c.heading === "remark" ? "remark" : null) : `n ${c.name ?? ""}` }, c.heading === "remark" ? c.values[j] : shown(c.values[j], c.kind))));
    if (shades) {
      by("shades").replaceChildren(...[...shades].map(([label, k]) => h("span", {}, h("span", { class: "swatch step-" + k }), label)));
      by("shades").hidden = false;
    }
    table(by("item-table"), columns, items.length, row, items.map((item) => item.name.toLocaleLowerCase()), "item", 40);
  };

  // Of the first users, how likely each is above each other.
  const pairTable = () => {
    const node = by("pairs");
    const most = Math.min(first, 20);
    if (!node || !compared || most < 2) return node?.remove();
    const numbers = Array.from({ length: most }, (_, i) => i);
    const kind = (p) => (p >= 0.95 ? "high" : p >= 0.8 ? "good" : p >= 0.65 ? "some" : null);
    node.querySelector("thead").replaceChildren(h("tr", {}, h("td"), ...numbers.slice(1).map((k) => h("th", { scope: "col", tip: users.user[k] }, shown(users.rank[k], "whole")))));
    node.querySelector("tbody").replaceChildren(...numbers.slice(0, -1).map((i) => h("tr", {}, h("th", { scope: "row" }, userLink(i)),
      ...numbers.slice(1).map((k) => {
        if (k <= i) return h("td");
        const p = above(i, k, shared(i, k));
        return h("td", { class: kind(p), tip: `${users.user[i]} is above ${users.user[k]}: ${chance(p)}`, click: () => open.pair(i, k) }, chance(p).replace(" %", ""));
      }))));
    node.open = n <= 20;
  };

  // -- what lies behind -------------------------------------------------------------------------
  const detail = by("detail");
  const show = (title, lead, ...parts) => {
    by("detail-title").textContent = title;
    by("detail-body").replaceChildren(...(lead ? [h("p", { class: "lead" }, lead)] : []), ...parts.filter(Boolean));
    if (!detail.open) detail.showModal();
    detail.scrollTop = 0;
  };
  by("detail-close").addEventListener("click", () => detail.close());
  detail.addEventListener("click", (event) => event.target === detail && detail.close());
  const small = (caption, heads, rows, kind = null) => h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h("table", { class: kind }, h("caption", { class: "hidden" }, caption),
      h("thead", {}, h("tr", {}, ...heads.map(([text, kind]) => (text ? h("th", { scope: "col", class: kind }, text) : h("td"))))),
      h("tbody", {}, ...rows)));
  const notHeld = () => h("p", {}, `This file holds the answers of the first ${count(first)} and the last ${count(last)} users only.`);
  const answer = (i, j) => (chosen(i, j) < 0 ? "–" : items[j].options[chosen(i, j)]);
  const keyOf = (j) => (items[j].key === null ? "–" : items[j].options[items[j].key]);
  const inSection = (i, section) => {
    const own = section.items.filter((j) => chosen(i, j) >= 0);
    return own.length ? own.filter((j) => right(i, j)).length / own.length : null;
  };

  // A field that names another user to compare with.
  const other = (i) => {
    if (!compared || n < 2) return null;
    const field = h("input", { id: "other", type: "search", list: "everybody", autocomplete: "off", spellcheck: "false" });
    const go = () => {
      const k = users.user.indexOf(field.value.trim());
      if (k >= 0 && k !== i) open.pair(i, k);
    };
    field.addEventListener("change", go);
    field.addEventListener("input", (event) => event.inputType === "insertReplacementText" && go());
    const list = h("datalist", { id: "everybody" }, ...users.user.slice(0, 1000).filter((_, k) => k !== i).map((name) => h("option", { value: name })));
    return h("p", { class: "finder" }, h("label", { for: "other" }, "Compare with"), field, list);
  };

  // How a labeller uses each label: what is said of items that are likely of one label, as shares.
  const confusion = (i, all) => {
    const counts = data.spoken.map(() => data.spoken.map(() => 0));
    all.forEach((j) => items[j].options.forEach((label, o) => {
      const [right, said] = [label, answer(i, j)].map((name) => data.spoken.indexOf(name));
      counts[right][said] += items[j].chances[o] ?? 0;
    }));
    const rows = counts.map((own) => own.reduce((a, b) => a + b, 0));
    return small("How this user uses each label", [["where right is"], ["items", "n"], ...data.spoken.map((label) => [`says ${label}`, "n"])],
      counts.map((own, r) => h("tr", {}, h("th", { scope: "row" }, data.spoken[r]), h("td", { class: "n" }, rows[r].toFixed(1)),
        ...own.map((n, o) => h("td", { class: o === r ? "n good" : "n" }, rows[r] ? percent(n / rows[r]) : "–")))), "narrow");
  };

  open.user = (i) => {
    const facts = [`rank ${shown(users.rank[i], "whole")} of ${count(data.users)}`];
    if (users.tier && data.tiers > 1) facts.push(`tier ${users.tier[i]} of ${data.tiers}`);
    if (!data.doubted) facts.push(data.shares ? `expected share of right answers ${percent(score(i))}` : `score ${shown(score(i), "number")}`);
    if (!data.doubted && !none(users.rank_low?.[i]) && users.rank_low[i] < users.rank_high[i]) facts.push(`may stand from ${count(users.rank_low[i])} to ${count(users.rank_high[i])}`);
    const lead = facts.join(" · ");
    if (held(i) < 0) return show(users.user[i], lead, notHeld());
    const all = answered(i);
    const differs = hasKey ? all.filter((j) => items[j].key !== null && !right(i, j)) : [];
    const agrees = all.filter((j) => !differs.includes(j));
    const blank = items.length - all.length;
    const heads = [["item"], ["answer"], ...(hasKey ? [["likely key"]] : []), ["chose the same", "n"]];
    const row = (j) => h("tr", { class: differs.includes(j) ? "differs" : null }, h("th", { scope: "row" }, itemLink(j)), h("td", {}, answer(i, j)),
      hasKey ? h("td", {}, keyOf(j)) : null, h("td", { class: "n" }, percent(items[j].counts[chosen(i, j)] / items[j].answers)));
    const spoken = data.spoken.length ? confusion(i, all) : null;
    const sections = data.sections && !data.doubted && small("Sections", [["section"], ["items", "n"], ["likely right", "n"]],
      data.sections.map((section) => h("tr", {}, h("th", { scope: "row" }, section.name), h("td", { class: "n" }, count(section.items.length)),
        h("td", { class: "n" }, percent(inSection(i, section)), h("span", { class: "faint" }, none(section.error) ? "" : ` ± ${Math.round(196 * section.error)}`)))), "narrow");
    show(users.user[i], lead, other(i), sections, spoken,
      ...(hasKey ? [h("h3", {}, differs.length ? `Differs from the likely key on ${plural(differs.length, "item")} of ${count(all.length)}` : "Nowhere differs from the likely key"),
        differs.length ? small("Answers that differ from the likely key", heads, differs.map(row)) : null] : []),
      agrees.length ? h("details", hasKey ? {} : { open: "" }, h("summary", {}, hasKey ? `The same as the likely key on ${plural(agrees.length, "item")}` : plural(agrees.length, "answer")),
        small("Other answers", heads, agrees.map(row))) : null,
      blank ? h("p", { class: "faint" }, `No answer to ${plural(blank, "item")}.`) : null);
  };

  open.pair = (i, k) => {
    const title = `${users.user[i]} and ${users.user[k]}`;
    if (held(i) < 0 || held(k) < 0) return show(title, "", notHeld());
    const both = shared(i, k);
    const differ = both.filter((j) => chosen(i, j) !== chosen(k, j));
    const gain = (j) => Math.abs(worth(i, j) - worth(k, j));
    differ.sort((a, b) => gain(b) - gain(a) || a - b);
    const p = above(i, k, both);
    const [a, b, likely] = p >= 0.5 ? [i, k, p] : [k, i, 1 - p];
    const unlike = users.component && users.component[i] !== users.component[k];
    const lead = (unlike ? "They share no answers with each other's group and cannot be compared; "
      : data.doubted ? "" : `${users.user[a]} is above ${users.user[b]} with a probability of ${chance(likely)}. `) +
      `They differ on ${count(differ.length)} of ${plural(both.length, "item")} that both answered.`;
    const two = [i, k];
    const fact = (name, value) => h("tr", {}, h("th", { scope: "row" }, name), ...two.map((u) => h("td", { class: "n" }, value(u))));
    const cell = (u, j) => h("td", { class: right(u, j) ? "good" : null }, answer(u, j), right(u, j) ? h("span", { class: "hidden" }, " (likely right)") : null);
    show(title, lead,
      small("Side by side", [[""], ...two.map((u) => [users.user[u], "n"])], [
        fact("rank", (u) => shown(users.rank[u], "whole")),
        ...(data.doubted ? [] : [fact(data.shares ? "right" : "score", (u) => (data.shares ? percent(score(u)) : shown(score(u), "number")) + (reach(u) ? ` ± ${data.shares ? Math.round(100 * reach(u)) : reach(u).toFixed(2)}` : ""))]),
        ...(data.doubted ? [] : data.sections ?? []).map((section) => fact(section.name, (u) => percent(inSection(u, section)))),
      ], "narrow"),
      differ.length ? small("Items on which they differ", [["item"], ...two.map((u) => [users.user[u]]), ...(hasKey ? [["likely key"]] : [])],
        differ.map((j) => h("tr", {}, h("th", { scope: "row" }, itemLink(j)), ...two.map((u) => cell(u, j)), hasKey ? h("td", {}, keyOf(j)) : null))) : null);
  };

  open.item = (j) => {
    const item = items[j];
    const who = item.options.map(() => []);
    let others = 0;
    for (let i = 0; i < n; i++) {
      const o = chosen(i, j);
      if (o === undefined) others += 1;
      else if (o >= 0) who[o].push(i);
    }
    const order = item.options.map((_, o) => o).sort((a, b) => item.counts[b] - item.counts[a]);
    const named = 40;
    const facts = [plural(item.answers, "answer")];
    if (item.key !== null) facts.unshift(`likely key ${keyOf(j)}` + (none(item.sure) || data.doubted ? "" : ` (${chance(item.sure)} sure)`));
    if (!none(item.telling) && !data.doubted) facts.push(`discrimination ${item.telling.toFixed(2)}`);
    show(item.name, facts.join(" · "),
      item.remark ? h("p", { class: "say warn" }, (data.audited ? `Your key, ${item.unseen ?? item.options[item.given] ?? "none"}: ` : "") + item.remark) : null,
      item.curve.length ? draw.curve(j, Math.max(Math.min(470, innerWidth - 60), 260), 210) : null,
      small(`Options of ${item.name}`, [["option"], ["chosen by", "n"], ["share", "n"], [data.doubted ? "who" : "who, best first"]],
        order.slice(0, 200).map((o) => {
          const list = h("td", { class: "who" }, ...who[o].slice(0, named).flatMap((i, k) => [k ? ", " : "", userLink(i)]),
            who[o].length > named ? ` and ${count(who[o].length - named)} more` : "");
          const marks = [o === item.key ? "likely key" : "", o === item.given ? "your key" : ""].filter(Boolean).join(", ");
          return h("tr", {}, h("th", { scope: "row" }, item.options[o], marks ? h("span", { class: "kind" }, marks) : null),
            h("td", { class: "n" }, count(item.counts[o])), h("td", { class: "n" }, percent(item.counts[o] / item.answers)), list);
        }), "choosers"),
      item.unseen ? h("p", {}, `Your key is ${item.unseen}, which nobody chose.`) : null,
      others ? h("p", { class: "faint" }, `The names are those of the ${count(first + last)} users whose answers this file holds.`) : null);
  };

  // -- all of it ----------------------------------------------------------------------------------
  const downloads = {
    "save-ranking": () => save(data.file + "-ranking.csv", [data.columns.map((c) => c.name),
      ...users.user.map((_, i) => data.columns.map((c) => c.values[i]))]),
    "save-key": () => save(data.file + "-key.csv", [["item", "answer", "confidence"],
      ...items.filter((item) => item.key !== null).map((item) => [item.name, item.options[item.key], item.sure])]),
    "save-marks": () => save(data.file + "-marks.csv", [["user", "marks", "after_repair"].slice(0, 1 + data.marks.length),
      ...users.user.map((name, i) => [name, ...data.marks.map((marks) => marks[i])])]),
    "save-asked": () => save(data.file + "-labels-to-ask.csv", [data.asked.map((c) => c.name),
      ...data.asked[0].values.map((_, i) => data.asked.map((c) => c.values[i]))]),
  };
  for (const [id, action] of Object.entries(downloads)) {
    by(id)?.addEventListener("click", action);
    if (by(id)) by(id).hidden = false;
  }
  // Names in tables that the file holds as text; two users in one row are compared.
  const named = (node) => {
    const names = node.dataset.name === "item" ? items.map((item) => item.name) : users.user;
    const place = names.indexOf(node.textContent);
    return place === names.lastIndexOf(node.textContent) ? place : -1; // nobody, where several have it
  };
  for (const node of document.querySelectorAll("[data-name]")) {
    const place = named(node);
    const row = node.closest("tr");
    const two = row ? [...row.querySelectorAll("[data-name=user]")].map(named) : [];
    const go = two.length > 1 && !two.includes(-1) ? () => open.pair(...two) : () => open[node.dataset.name](place);
    if (place >= 0) node.replaceChildren(link(node.textContent, go));
  }
  const put = (id, picture) => {
    const node = by(id);
    if (!node) return;
    const made = picture();
    if (made) node.replaceChildren(made);
    else node.closest("figure").remove();
  };
  rankingTable();
  pairTable();
  itemTable();
  put("score-map", draw.scoreMap);
  put("scatter", draw.scatter);
  put("short-form", draw.shortForm);
  if (by("every-answer") && !draw.everyAnswer(by("every-answer"))) by("every-answer").closest("figure").remove();
  by("cards")?.replaceChildren(...data.doubts.map((j) => h("li", { class: "card" }, h("h3", {}, itemLink(j)), h("p", {}, items[j].remark), items[j].curve.length ? draw.curve(j) : null)));
  document.documentElement.classList.add("alive");
})();
