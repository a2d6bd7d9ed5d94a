// The report comes alive here: tables that sort and search, pictures, and the answers behind each
// user and item. Everything is drawn from the data in the file; nothing is loaded.
(async () => {
  "use strict";
  const by = (id) => document.getElementById(id);
  const store = by("data");
  if (!store) return;
  const read = async () => {
    if (store.type === "application/json") return JSON.parse(store.textContent);
    if (typeof DecompressionStream === "undefined") return null;
    const bytes = Uint8Array.from(atob(store.textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  };
  const data = await read();
  if (!data) return;

  // -- small tools --------------------------------------------------------------------------
  const make = (space) => (tag, attributes = {}, ...children) => {
    const made = space ? document.createElementNS(space, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes))
      if (name === "click") made.addEventListener("click", value);
      else if (name === "style") made.style.cssText = value; // a style attribute breaks the policy
      else if (value !== undefined && value !== null) made.setAttribute(name, value);
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  };
  const h = make(null);
  const s = make("http://www.w3.org/2000/svg");
  const count = (x) => x.toLocaleString("en");
  const plural = (n, noun) => count(n) + " " + noun + (n === 1 ? "" : "s");
  const per = (x) => (x === null || x === undefined ? "–" : Math.round(100 * x) + " %");
  const told = (x, kind) =>
    x === null || x === undefined ? "–"
    : kind === "whole" ? count(x)
    : kind === "share" ? per(x)
    : kind === "number" ? x.toFixed(2)
    : String(x);
  const nothing = (x) => x === null || x === undefined || x === "";
  const compare = (a, b) =>
    typeof a === "string" || typeof b === "string"
      ? String(a).localeCompare(String(b), undefined, { numeric: true })
      : a - b;
  const svg = (width, height, label, ...children) =>
    s("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": label,
      style: `max-width:${width}px` }, ...children);

  const users = Object.fromEntries(data.columns.map((c) => [c.name, c.values]));
  const items = data.items;
  const nUsers = users.user.length;
  const lower = users.user.map((name) => name.toLocaleLowerCase());
  const [low, high] = data.range;
  const reach = (i) => 1.96 * (users.standard_error ? users.standard_error[i] ?? 0 : 0);
  const score = (i) => users[data.main][i];
  const place = (x) => (high > low ? Math.min(Math.max((x - low) / (high - low), 0), 1) : 0);

  // The option that a user chose, -1 for none; undefined where the file does not hold it.
  const { first, last, code } = data.answers;
  const held = (i) => (i < first ? i : i >= nUsers - last ? i - nUsers + last + first : -1);
  const chosen = (i, j) => {
    const row = held(i);
    return row < 0 ? undefined : code.charCodeAt(row * items.length + j) - 36;
  };

  // -- tables -------------------------------------------------------------------------------
  // A table draws its first rows and more on demand; headings sort, a field searches.
  const table = (node, columns, n, row, names, what) => {
    const page = 100;
    const field = node.querySelector("input[type=search]");
    const found = node.querySelector("[aria-live]");
    const more = node.querySelector(".more button");
    const body = node.querySelector("tbody");
    let sorted = Array.from({ length: n }, (_, i) => i);
    let shown = sorted;
    let length = Math.min(page, n);
    let natural = true;
    const draw = () => {
      body.replaceChildren(...shown.slice(0, length).map((i, at) => row(i, natural ? shown[at - 1] : undefined)));
      if (more) more.hidden = length >= shown.length;
      if (found) found.textContent = (shown.length === n ? "" : count(shown.length) + " of ") + plural(n, what);
    };
    const filter = () => {
      const wanted = field ? field.value.trim().toLocaleLowerCase() : "";
      shown = wanted ? sorted.filter((i) => names[i].includes(wanted)) : sorted;
      length = Math.min(page, shown.length);
      draw();
    };
    const heads = columns.map(({ heading, kind, values, order }) => {
      const th = h("th", { scope: "col", class: kind === "label" ? null : kind === "bars" ? kind : "n", "aria-sort": order });
      if (!values) th.append(...heading.map((text) => h("span", {}, text)));
      else th.append(h("button", { type: "button", click: () => {
        const down = th.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        natural = columns[0].values === values && !down;
        // what there is none of stays at the end, whichever way round
        sorted = Array.from({ length: n }, (_, i) => i).sort((a, b) => {
          const [x, y] = [values[a], values[b]];
          return nothing(x) || nothing(y) ? nothing(x) - nothing(y) || a - b
            : (down ? compare(y, x) : compare(x, y)) || a - b;
        });
        filter();
      } }, heading));
      return th;
    });
    node.querySelector("thead").replaceChildren(h("tr", {}, ...heads));
    let waiting = 0;
    if (field) field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(filter, n > 5000 ? 150 : 0);
    });
    if (more) more.addEventListener("click", () => {
      length = Math.min(length + 5 * page, shown.length);
      draw();
    });
    addEventListener("beforeprint", () => {
      length = Math.min(shown.length, data.printed);
      draw();
    });
    node.hidden = false;
    filter();
  };

  const bar = (i) => {
    const [x, r] = [score(i), reach(i)];
    if (x === null) return "";
    return s("svg", { class: "bar", viewBox: "-5 0 110 12", "aria-hidden": "true" },
      s("line", { x1: 100 * place(x - r), x2: 100 * place(x + r), y1: 6, y2: 6 }),
      s("circle", { cx: 100 * place(x), cy: 6, r: 4 }));
  };
  const userLink = (i, text = users.user[i]) =>
    h("button", { type: "button", class: "link", click: () => showUser(i) }, text);
  const itemLink = (j, text = items[j].name) =>
    h("button", { type: "button", class: "link", click: () => showItem(j) }, text);

  const rankingTable = () => {
    const kinds = Object.fromEntries(data.columns.map((c) => [c.name, c]));
    const column = (name, more = {}) => ({ ...kinds[name], ...more });
    const columns = data.shown.map((name) =>
      name === "bar" ? { heading: data.scale, kind: "bars" }
      : name === "range" ? { heading: "rank range", kind: "whole", values: users.rank_low }
      : column(name, name === "rank" ? { order: "ascending" } : {}));
    const row = (i, before) => {
      const starts = users.tier && before !== undefined && users.tier[i] !== users.tier[before];
      return h("tr", { class: starts ? "tier" : null }, ...data.shown.map((name) => {
        if (name === "bar") return h("td", { class: "bars" }, bar(i));
        if (name === "user") return h("th", { scope: "row" }, userLink(i));
        if (name === "range")
          return h("td", { class: "n" }, users.rank_low[i] === null ? "" : count(users.rank_low[i]) + "–" + count(users.rank_high[i]));
        const text = told(users[name][i], kinds[name].kind);
        const error = name === data.main && users.standard_error?.[i] != null
          ? h("span", { class: "faint" }, " ± " + (data.shares ? Math.round(100 * reach(i)) : reach(i).toFixed(2))) : null;
        return h("td", { class: kinds[name].kind === "label" ? null : "n" }, text, error);
      }));
    };
    table(by("ranking"), columns, nUsers, row, lower, "user");
  };

  const itemTable = () => {
    const value = (name) => items.map((item) => item[name]);
    const label = (o) => items.map((item) => (item[o] === null ? null : item.options[item[o]] ?? item.unseen));
    const [likely, given] = [label("key"), label("given")];
    const columns = [
      { heading: "item", kind: "label", values: value("name") },
      { heading: "likely key", kind: "label", values: likely },
      { heading: "sure", kind: "share", values: value("sure") },
      ...(data.audited ? [{ heading: "your key", kind: "label", values: given }] : []),
      { heading: "chose it", kind: "share", values: value("share") },
      { heading: "of the best quarter", kind: "share", values: value("best") },
      { heading: "discrimination", kind: "number", values: value("telling") },
      { heading: "remark", kind: "label", values: value("remark") },
    ].filter((c) => c.heading === "item" || c.values.some((v) => !nothing(v)));
    const row = (j) =>
      h("tr", { class: items[j].remark ? "doubt" : null }, ...columns.map((c) =>
        c.heading === "item" ? h("th", { scope: "row" }, itemLink(j))
        : h("td", { class: c.kind === "label" ? null : "n" }, c.heading === "remark" ? c.values[j] : told(c.values[j], c.kind))));
    table(by("item-table"), columns, items.length, row, items.map((item) => item.name.toLocaleLowerCase()), "item");
  };

  // -- pictures -----------------------------------------------------------------------------
  const tick = (x) => (data.shares ? Math.round(100 * x) + " %" : String(+x.toPrecision(2)));
  const ticks = (from, to, n = 5) => {
    const raw = (to - from) / n;
    const step = [1, 2, 5, 10].map((k) => k * 10 ** Math.floor(Math.log10(raw))).find((k) => k >= raw * 0.999);
    const found = [];
    for (let x = Math.ceil(from / step - 1e-9) * step; x <= to + step / 1e6; x += step) found.push(+x.toPrecision(10));
    return found;
  };
  const press = (open, title, node) => {
    node.append(s("title", {}, title));
    node.setAttribute("class", (node.getAttribute("class") ?? "") + " press");
    node.addEventListener("click", open);
    return node;
  };

  // Users above the line and items below it, on the same scale.
  const map = () => {
    if (!by("map")) return;
    if (data.doubted) return by("map-part").remove();
    const [width, left, right] = [640, 12, 12];
    const x = (v) => left + (width - left - right) * place(v);
    const bins = 40;
    const stack = (values) => {
      const cells = Array.from({ length: bins }, () => []);
      values.forEach((v, i) => v !== null && cells[Math.min(Math.floor(place(v) * bins), bins - 1)].push(i));
      return cells;
    };
    const persons = stack(users[data.main]);
    const things = data.shares ? stack(items.map((item) => item.share)) : [];
    const tallest = Math.max(...persons.map((c) => c.length));
    const deepest = Math.max(0, ...things.map((c) => c.length));
    const wide = (width - left - right) / bins;
    const up = Math.min(wide, 170 / tallest);
    const down = deepest ? Math.min(wide, 110 / deepest) : 0;
    const zero = 8 + up * tallest;
    const axis = zero + 24;
    const height = axis + 6 + down * deepest + (deepest ? 18 : 0);
    const parts = [];
    const piles = (cells, step, base, sign, name, open, kind) => cells.forEach((cell, b) => {
      const x0 = left + b * wide;
      if (step >= 5) cell.forEach((i, k) => parts.push(press(() => open(i), name(i),
        s("circle", { cx: x0 + wide / 2, cy: base + sign * step * (k + 0.5), r: Math.min(step, wide) / 2 - 0.8, class: kind(i) }))));
      else if (cell.length) {
        const y = sign < 0 ? base - step * cell.length : base;
        const bounds = [b, b + 1].map((k) => tick(low + ((high - low) * k) / bins)).join(" to ");
        parts.push(s("rect", { x: x0 + 0.5, y, width: wide - 1, height: step * cell.length, class: kind(cell[0]) },
          s("title", {}, plural(cell.length, sign < 0 ? "user" : "item") + ", " + bounds)));
      }
    });
    piles(persons, up, zero, -1, (i) => `${users.user[i]}: ${tick(score(i))}`, showUser, () => "accent");
    parts.push(s("line", { x1: left, x2: width - right, y1: zero, y2: zero, class: "axis" }));
    ticks(low, high).forEach((v) => parts.push(s("text", { x: x(v), y: zero + 15, "text-anchor": "middle" }, tick(v))));
    if (deepest) {
      parts.push(s("line", { x1: left, x2: width - right, y1: axis, y2: axis, class: "axis" }));
      piles(things, down, axis, 1, (j) => `${items[j].name}: ${per(items[j].share)} chose the likely key`, showItem,
        (j) => (items[j].remark ? "warn" : "quiet"));
      parts.push(s("text", { x: left, y: height - 4 }, "hard items"), s("text", { x: width - right, y: height - 4, "text-anchor": "end" }, "easy items"));
    }
    const label = `Picture: how many users have which score${deepest ? ", and below them how many items have which share of right answers" : ""}. The tables have the numbers.`;
    by("map").replaceChildren(svg(width, height, label, ...parts));
  };

  // Items by share and discrimination; what to look at stands out.
  const scatter = () => {
    if (!by("scatter")) return;
    const known = items.map((_, j) => j).filter((j) => items[j].share !== null && items[j].telling !== null);
    if (known.length < 2) return;
    const [width, height, left, right, top, bottom] = [640, 260, 44, 14, 10, 40];
    const heights = known.map((j) => items[j].telling);
    const [least, most] = [Math.min(0, ...heights), Math.max(...heights)];
    const x = (v) => left + (width - left - right) * v;
    const y = (v) => top + (height - top - bottom) * (1 - (v - least) / (most - least || 1));
    const parts = [];
    ticks(least, most, 4).forEach((v) => parts.push(
      s("line", { x1: left, x2: width - right, y1: y(v), y2: y(v), class: "grid" }),
      s("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, String(v))));
    [0, 0.25, 0.5, 0.75, 1].forEach((v) => parts.push(s("text", { x: x(v), y: height - bottom + 16, "text-anchor": "middle" }, per(v))));
    parts.push(s("text", { x: x(0.5), y: height - 6, "text-anchor": "middle" }, "share who chose the likely key (easy at the right)"),
      s("text", { x: 12, y: top + (height - top - bottom) / 2, transform: `rotate(-90 12 ${top + (height - top - bottom) / 2})`, "text-anchor": "middle" }, "discrimination"));
    const said = (j) => `${items[j].name}: ${per(items[j].share)} chose ${items[j].options[items[j].key]}${items[j].remark ? "; " + items[j].remark : ""}`;
    const kept = known.length > 3000 ? known.filter((j, k) => items[j].remark || k % Math.ceil(known.length / 3000) === 0) : known;
    const labels = [];
    [...kept].sort((a, b) => !!items[a].remark - !!items[b].remark).forEach((j) => {
      const [cx, cy] = [x(items[j].share), y(items[j].telling)];
      const doubt = !!items[j].remark;
      parts.push(press(() => showItem(j), said(j), doubt
        ? s("path", { d: `M${cx} ${cy - 6}l6 10h-12z`, class: "warn" })
        : s("circle", { cx, cy, r: known.length > 300 ? 2.5 : 4, class: "accent soft" })));
      const text = items[j].name.length > 18 ? items[j].name.slice(0, 17) + "…" : items[j].name;
      const wide = 7 * text.length;
      const at = cx + 9 + wide > width ? cx - 9 - wide : cx + 9;
      if (doubt && labels.length < 20 && labels.every(([a, b, w]) => Math.abs(b - cy) > 14 || a + w < at || at + wide < a)) {
        labels.push([at, cy, wide]);
        parts.push(s("text", { x: at, y: cy + 4, class: "ink" }, text));
      }
    });
    by("scatter").replaceChildren(svg(width, height, "Picture: items by share of right answers and discrimination. The table of items has the numbers.", ...parts));
  };

  // The share of each option among users from the weakest to the strongest.
  const curve = (j, width = 300, height = 150) => {
    const item = items[j];
    const [left, right, top, bottom] = [36, 74, 8, 22];
    const groups = data.groups;
    const x = (g) => left + ((width - left - right) * g) / (groups - 1);
    const y = (v) => top + (height - top - bottom) * (1 - v);
    const parts = [0, 0.5, 1].flatMap((v) => [
      s("line", { x1: left, x2: width - right, y1: y(v), y2: y(v), class: "grid" }),
      s("text", { x: left - 5, y: y(v) + 4, "text-anchor": "end" }, per(v))]);
    parts.push(s("text", { x: left, y: height - 5 }, "weakest"), s("text", { x: width - right, y: height - 5, "text-anchor": "end" }, "strongest"));
    const role = (o) => (o === item.key ? "key" : o === item.given ? "given" : "other");
    const drawn = item.curve.map((_, k) => k).sort((a, b) => (role(item.drawn[a]) === "key") - (role(item.drawn[b]) === "key"));
    const ends = [];
    drawn.forEach((k) => {
      const o = item.drawn[k];
      const points = item.curve[k].map((v, g) => (v === null ? null : [x(g), y(v)])).filter(Boolean);
      if (!points.length) return;
      parts.push(s("polyline", { points: points.map((p) => p.map((v) => v.toFixed(1)).join()).join(" "), class: "line " + role(o) },
        s("title", {}, item.options[o])));
      ends.push({ o, at: points[points.length - 1][1] });
    });
    ends.sort((a, b) => a.at - b.at);
    ends.forEach((end, k) => { end.at = Math.max(end.at, k ? ends[k - 1].at + 13 : 0); });
    for (let k = ends.length - 1, limit = height - bottom + 4; k >= 0; k--, limit = ends[k + 1].at - 13) ends[k].at = Math.min(ends[k].at, limit);
    ends.forEach(({ o, at }) => {
      const text = item.options[o];
      parts.push(s("text", { x: width - right + 6, y: at + 4, class: "name " + role(o) }, text.length > 9 ? text.slice(0, 8) + "…" : text));
    });
    return svg(width, height, `Picture: share of each option of ${item.name} among weak and strong users.`, ...parts);
  };

  const cards = () => {
    const list = by("cards");
    if (!list || !data.groups) return;
    list.replaceChildren(...data.doubts.map((j) => h("li", { class: "card" },
      h("h3", {}, itemLink(j)), h("p", {}, items[j].remark), curve(j))));
  };

  // The answers: users from best to worst, items from easy to hard.
  const glance = () => {
    const canvas = by("glance");
    if (!canvas || !items.length || !(first + last)) return;
    const most = 400;
    const spread = (list) => (list.length <= most ? list
      : Array.from({ length: most }, (_, k) => list[Math.round((k * (list.length - 1)) / (most - 1))]));
    const rows = spread(Array.from({ length: nUsers }, (_, i) => i).filter((i) => held(i) >= 0 && (!users.component || users.component[i] === users.component[0])));
    const columns = spread(items.map((_, j) => j).filter((j) => items[j].key !== null).sort((a, b) => items[b].share - items[a].share));
    if (!columns.length) return by("glance-part").remove();
    const wide = Math.max(Math.min(Math.floor(860 / columns.length), 22), 1);
    const tall = Math.max(Math.min(Math.floor(520 / rows.length), 16), 1);
    const draw = () => {
      const colours = getComputedStyle(document.documentElement);
      const colour = (name) => colours.getPropertyValue("--" + name);
      const [right, wrong, none] = ["accent", "warn-soft", "blank"].map(colour);
      canvas.width = 2 * wide * columns.length;
      canvas.height = 2 * tall * rows.length;
      canvas.style.width = wide * columns.length + "px";
      const pen = canvas.getContext("2d");
      const [gapX, gapY] = [wide > 4 ? 1 : 0, tall > 4 ? 1 : 0];
      rows.forEach((i, r) => columns.forEach((j, c) => {
        const o = chosen(i, j);
        pen.fillStyle = o < 0 ? none : o === items[j].key ? right : wrong;
        pen.fillRect(2 * wide * c, 2 * tall * r, 2 * (wide - gapX), 2 * (tall - gapY));
      }));
    };
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      const r = Math.floor(((event.clientY - box.top) / box.height) * rows.length);
      const c = Math.floor(((event.clientX - box.left) / box.width) * columns.length);
      return [rows[Math.min(Math.max(r, 0), rows.length - 1)], columns[Math.min(Math.max(c, 0), columns.length - 1)]];
    };
    canvas.addEventListener("mousemove", (event) => {
      const [i, j] = at(event);
      const o = chosen(i, j);
      canvas.title = `${users.user[i]}, ${items[j].name}: ${o < 0 ? "no answer" : items[j].options[o]}${o < 0 ? "" : o === items[j].key ? " (likely key)" : ` (likely key ${items[j].options[items[j].key]})`}`;
    });
    canvas.addEventListener("click", (event) => showUser(at(event)[0]));
    matchMedia("(prefers-color-scheme:dark)").addEventListener("change", draw);
    addEventListener("beforeprint", draw);
    draw();
  };

  const axes = () => {
    if (!data.axes) return;
    const [width, height] = [520, 320];
    const [xs, ys] = [data.axes.x, data.axes.y];
    const scale = (values, from, to) => {
      const [a, b] = [Math.min(...values), Math.max(...values)];
      return (v) => from + ((to - from) * (v - a)) / (b - a || 1);
    };
    const [x, y] = [scale(xs, 30, width - 10), scale(ys, height - 30, 10)];
    by("axes-picture").replaceChildren(svg(width, height, "Picture: users on the two strongest axes of the answers, coloured by the ranking.",
      ...xs.map((v, k) => s("circle", { cx: x(v), cy: y(ys[k]), r: 4, class: "step-" + (data.axes.fifth[k] + 1) },
        s("title", {}, data.axes.name[k]))),
      s("text", { x: width / 2, y: height - 8, "text-anchor": "middle" }, data.axes.titles[0]),
      s("text", { x: 14, y: height / 2, transform: `rotate(-90 14 ${height / 2})`, "text-anchor": "middle" }, data.axes.titles[1])));
  };

  // -- the answers behind a user or an item ---------------------------------------------------
  const detail = by("detail");
  const show = (title, lead, ...parts) => {
    by("detail-title").textContent = title;
    by("detail-body").replaceChildren(...(lead ? [h("p", { class: "lead" }, lead)] : []), ...parts);
    if (!detail.open) detail.showModal();
    detail.scrollTop = 0;
  };
  by("detail-close").addEventListener("click", () => detail.close());
  detail.addEventListener("click", (event) => event.target === detail && detail.close());
  const small = (caption, heads, rows) => h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h("table", {}, h("caption", { class: "hidden" }, caption),
      h("thead", {}, h("tr", {}, ...heads.map(([text, kind]) => h("th", { scope: "col", class: kind }, text)))),
      h("tbody", {}, ...rows)));

  const showUser = (i) => {
    const facts = [`rank ${told(users.rank[i], "whole")} of ${count(data.users)}`];
    if (users.tier && data.tiers > 1) facts.push(`tier ${users.tier[i]} of ${data.tiers}`);
    if (!data.doubted) facts.push(`${data.shares ? "expected share of right answers" : "score"} ${data.shares ? per(score(i)) : told(score(i), "number")}`);
    if (!data.doubted && users.rank_low?.[i] != null) facts.push(`may stand from ${count(users.rank_low[i])} to ${count(users.rank_high[i])}`);
    const lead = facts.join(" · ");
    if (held(i) < 0) return show(users.user[i], lead, h("p", {}, `This file holds the answers of the first ${count(first)} and the last ${count(last)} users only.`));
    const answered = items.map((_, j) => j).filter((j) => chosen(i, j) >= 0);
    const differs = answered.filter((j) => items[j].key !== null && chosen(i, j) !== items[j].key);
    const agrees = answered.filter((j) => !differs.includes(j));
    const blank = items.length - answered.length;
    const row = (j) => {
      const o = chosen(i, j);
      return h("tr", { class: differs.includes(j) ? "differs" : null }, h("th", { scope: "row" }, itemLink(j)),
        h("td", {}, items[j].options[o]),
        h("td", {}, items[j].key === null ? "–" : items[j].options[items[j].key]),
        h("td", { class: "n" }, per(items[j].counts[o] / items[j].answers)));
    };
    const heads = [["item"], ["answer"], ["likely key"], ["chose the same", "n"]];
    const known = items.some((item) => item.key !== null);
    const parts = [];
    if (known) {
      parts.push(h("h3", {}, `Differs from the likely key on ${plural(differs.length, "item")} of ${count(answered.length)}`));
      if (differs.length) parts.push(small("Answers that differ from the likely key", heads, differs.map(row)));
    }
    if (agrees.length) parts.push(h("details", known ? {} : { open: "" }, h("summary", {}, known ? `The same as the likely key on ${plural(agrees.length, "item")}` : plural(agrees.length, "answer")),
      small("Other answers", heads, agrees.map(row))));
    if (blank) parts.push(h("p", { class: "faint" }, `No answer to ${plural(blank, "item")}.`));
    show(users.user[i], lead, ...parts);
  };

  const showItem = (j) => {
    const item = items[j];
    const parts = [];
    if (item.remark) parts.push(h("p", { class: "say warn" }, item.remark));
    if (data.groups && item.curve.length) parts.push(curve(j, 420, 200));
    const who = item.options.map(() => []);
    let others = 0;
    for (let i = 0; i < nUsers; i++) {
      const o = chosen(i, j);
      if (o === undefined) others += 1;
      else if (o >= 0) who[o].push(i);
    }
    const order = item.options.map((_, o) => o).sort((a, b) => item.counts[b] - item.counts[a]);
    const named = 40;
    parts.push(small(`Options of ${item.name}`, [["option"], ["chosen by", "n"], ["share", "n"], ["who, best first"]],
      order.slice(0, 200).map((o) => {
        const list = h("td", { class: "who" }, ...who[o].slice(0, named).flatMap((i, k) => [k ? ", " : "", userLink(i)]),
          who[o].length > named ? ` and ${count(who[o].length - named)} more` : "");
        const marks = [o === item.key ? "likely key" : "", o === item.given ? "your key" : ""].filter(Boolean).join(", ");
        return h("tr", {}, h("th", { scope: "row" }, item.options[o], marks ? h("span", { class: "kind" }, marks) : null),
          h("td", { class: "n" }, count(item.counts[o])), h("td", { class: "n" }, per(item.counts[o] / item.answers)), list);
      })));
    if (item.unseen) parts.push(h("p", {}, `Your key is ${item.unseen}, which nobody chose.`));
    if (others) parts.push(h("p", { class: "faint" }, `The names are those of the ${count(first + last)} users whose answers this file holds.`));
    const facts = [plural(item.answers, "answer")];
    if (item.key !== null) facts.unshift(`likely key ${item.options[item.key]}` + (item.sure === null ? "" : ` (${per(item.sure)} sure)`));
    if (item.telling !== null) facts.push(`discrimination ${item.telling.toFixed(2)}`);
    show(item.name, facts.join(" · "), ...parts);
  };

  // -- downloads ----------------------------------------------------------------------------
  const save = (name, rows) => {
    const cell = (x) => {
      let text = nothing(x) ? "" : String(x);
      if (typeof x === "string" && /^[=+\-@\t\r]/.test(text)) text = "'" + text; // no formula
      return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
    };
    const text = rows.map((row) => row.map(cell).join()).join("\n") + "\n";
    const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const downloads = {
    "save-ranking": () => save(data.file + "-ranking.csv", [data.columns.map((c) => c.name),
      ...users.user.map((_, i) => data.columns.map((c) => c.values[i]))]),
    "save-key": () => save(data.file + "-key.csv", [["item", "answer", "confidence"],
      ...items.filter((item) => item.key !== null).map((item) => [item.name, item.options[item.key], item.sure])]),
  };
  for (const [id, action] of Object.entries(downloads)) {
    const button = by(id);
    if (button) button.addEventListener("click", action), (button.hidden = false);
  }

  // names in tables that the file holds as text
  for (const node of document.querySelectorAll("[data-user],[data-item]")) {
    const { user, item } = node.dataset;
    node.replaceChildren(user !== undefined ? userLink(+user) : itemLink(+item));
  }
  rankingTable();
  itemTable();
  map();
  scatter();
  cards();
  glance();
  axes();
  document.documentElement.classList.add("alive");
})();
