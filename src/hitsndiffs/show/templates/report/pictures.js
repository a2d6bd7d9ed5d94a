// The pictures of the report, each drawn from the report's data (see report.js).
"use strict";
const pictures = (report) => {
  const { h, s, compare, count, plural, percent, short, svg, ticks } = tools;
  const { data, items, users, place, open } = report;
  const [low, high] = data.range;
  const WIDE = Math.max(Math.min(470, document.documentElement.clientWidth - 60), 260); // letters keep their size on a phone

  const pressed = (action, tip, node) => {
    node.dataset.tip = tip;
    node.setAttribute("class", (node.getAttribute("class") ?? "") + " press");
    node.addEventListener("click", action);
    return node;
  };
  const text = (x, y, said, more = {}) => s("text", { x, y, ...more }, said);
  const line = (x1, y1, x2, y2, kind) => s("line", { x1, x2, y1, y2, class: kind });
  const tick = (x) => (data.shares ? percent(x) : String(+x.toPrecision(2)));

  // A user's score with its interval, for a cell of a table.
  const bar = (i) => {
    const [x, r] = [report.score(i), report.reach(i)];
    if (x === null) return "";
    const said = `${users.user[i]}: ${tick(x)}` + (r ? `, surely between ${tick(Math.max(x - r, data.shares ? 0 : -Infinity))} and ${tick(Math.min(x + r, data.shares ? 1 : Infinity))}` : "");
    return h("span", { class: "track", tip: said },
      h("span", { class: "reach", style: `left:${100 * place(x - r)}%;right:${100 * (1 - place(x + r))}%` }),
      h("span", { class: "dot", style: `left:${100 * place(x)}%` }));
  };

  // How often each option of an item was chosen, for a cell of a table; the likely key in colour.
  const options = (j) => {
    const item = items[j];
    const shade = (o) => report.shades?.get(item.options[o]);
    const role = (o) => (o === item.key ? "key" : o === item.given ? "given" : shade(o) ? "step-" + shade(o) : "other");
    const drawn = item.counts.length > 40 ? item.drawn : item.counts.map((_, o) => o);
    const order = [...drawn].sort((a, b) => (report.shades ? report.places.get(item.options[a]) - report.places.get(item.options[b]) : (role(b) === "key") - (role(a) === "key") || item.counts[b] - item.counts[a]));
    return h("span", { class: "stack" }, ...order.map((o) =>
      h("span", { class: role(o), style: `flex-grow:${item.counts[o]}`, tip:
        `${item.options[o]}${o === item.key ? " (likely key)" : ""}: ${count(item.counts[o])} of ${count(item.answers)}, ${percent(item.counts[o] / item.answers)}` })));
  };

  // Users above the line and items below it, on the same scale.
  const scoreMap = () => {
    const [left, right, bins] = [14, 20, users.user.length > 80 ? 40 : 24]; // few users, large dots
    const x = (v) => left + (WIDE - left - right) * place(v);
    const stack = (values) => {
      const cells = Array.from({ length: bins }, () => []);
      values.forEach((v, i) => v !== null && cells[Math.min(Math.floor(place(v) * bins), bins - 1)].push(i));
      return cells;
    };
    const above = stack(users[data.main]);
    const below = data.shares ? stack(items.map((item) => item.share)) : [];
    const tallest = Math.max(...above.map((c) => c.length));
    const deepest = Math.max(0, ...below.map((c) => c.length));
    const wide = (WIDE - left - right) / bins;
    const up = Math.min(wide, 190 / tallest);
    const down = deepest ? Math.min(wide, 120 / deepest) : 0;
    const zero = 8 + up * tallest;
    const axis = zero + 24;
    const height = axis + 6 + down * deepest + (deepest ? 20 : 0);
    const parts = [];
    const piles = (cells, step, base, sign, name, action, kind, what) => cells.forEach((cell, b) => {
      const x0 = left + b * wide;
      if (step >= 4.5) cell.forEach((i, k) => parts.push(pressed(() => action(i), name(i),
        s("circle", { cx: x0 + wide / 2, cy: base + sign * step * (k + 0.5), r: Math.min(step, wide) / 2 - 0.7, class: kind(i) }))));
      else if (cell.length) {
        const y = sign < 0 ? base - step * cell.length : base;
        const bounds = [b, b + 1].map((k) => tick(low + ((high - low) * k) / bins)).join(" to ");
        parts.push(s("rect", { x: x0 + 0.5, y, width: wide - 1, height: step * cell.length, class: kind(cell[0]), tip: `${plural(cell.length, what)}, ${bounds}` }));
      }
    });
    piles(above, up, zero, -1, (i) => `${users.user[i]}: ${tick(report.score(i))}`, open.user, () => "accent", "user");
    parts.push(line(left, zero, WIDE - right, zero, "axis"));
    ticks(low, high).forEach((v) => parts.push(text(x(v), zero + 16, tick(v), { "text-anchor": "middle" })));
    if (deepest) {
      parts.push(line(left, axis, WIDE - right, axis, "axis"));
      piles(below, down, axis, 1, (j) => `${items[j].name}: ${percent(items[j].share)} chose the likely key`, open.item,
        (j) => (items[j].remark ? "warn" : "quiet"), "item");
      parts.push(text(left, height - 4, "← hard items"), text(WIDE - right, height - 4, "easy items →", { "text-anchor": "end" }));
    }
    return svg(WIDE, height, `Picture: how many users have which score${deepest ? ", and below them how many items have which share of right answers" : ""}. The tables have the numbers.`, ...parts);
  };

  // A frame with a scale at the left and one below, and what is drawn in it.
  const frame = (height, [left, right, top, bottom], xs, ys, below, beside, label, ...parts) => {
    const middle = top + (height - top - bottom) / 2;
    return svg(WIDE, height, label,
      ...ys.flatMap(([at, said]) => [line(left, at, WIDE - right, at, "grid"), text(left - 7, at + 4, said, { "text-anchor": "end" })]),
      ...xs.map(([at, said]) => text(at, height - bottom + 17, said, { "text-anchor": "middle" })),
      text(left + (WIDE - left - right) / 2, height - 5, below, { "text-anchor": "middle" }),
      text(12, middle, beside, { transform: `rotate(-90 12 ${middle})`, "text-anchor": "middle" }), ...parts);
  };

  // Items by share and discrimination; what to look at stands out.
  const scatter = () => {
    const known = items.map((_, j) => j).filter((j) => items[j].share !== null && items[j].telling !== null);
    if (known.length < 2) return null;
    const [height, left, right, top, bottom] = [260, 48, 22, 12, 42];
    const heights = known.map((j) => items[j].telling);
    const [least, most] = [Math.min(0, ...heights), Math.max(...heights)];
    const x = (v) => left + (WIDE - left - right) * v;
    const y = (v) => top + (height - top - bottom) * (1 - (v - least) / (most - least || 1));
    const said = (j) => `${items[j].name}: ${percent(items[j].share)} chose ${items[j].options[items[j].key]}${items[j].remark ? "; " + items[j].remark : ""}`;
    const kept = known.length > 3000 ? known.filter((j, k) => items[j].remark || k % Math.ceil(known.length / 3000) === 0) : known;
    const [parts, labels] = [[], []];
    [...kept].sort((a, b) => !!items[a].remark - !!items[b].remark).forEach((j) => {
      const [cx, cy] = [x(items[j].share), y(items[j].telling)];
      const doubt = !!items[j].remark;
      parts.push(pressed(() => open.item(j), said(j), doubt
        ? s("path", { d: `M${cx} ${cy - 6}l6 10h-12z`, class: "warn" })
        : s("circle", { cx, cy, r: known.length > 300 ? 2.5 : 4, class: "accent soft" })));
      const name = short(items[j].name, 18);
      const wide = 7 * name.length;
      const at = cx + 9 + wide > WIDE ? cx - 9 - wide : cx + 9;
      if (doubt && labels.length < 20 && labels.every(([a, b, w]) => Math.abs(b - cy) > 14 || a + w < at || at + wide < a)) {
        labels.push([at, cy, wide]);
        parts.push(text(at, cy + 4, name, { class: "ink" }));
      }
    });
    return frame(height, [left, right, top, bottom], [0, 0.25, 0.5, 0.75, 1].map((v) => [x(v), percent(v)]),
      ticks(least, most, 4).map((v) => [y(v), String(v)]), "chose the likely key (easy at the right)", "discrimination",
      "Picture: items by share of right answers and discrimination. The table of items has the numbers.", ...parts);
  };

  // How well fewer items keep the order.
  const shortForm = () => {
    const { sizes, kept } = data.short;
    const [height, left, right, top, bottom] = [260, 48, 22, 12, 42];
    const least = Math.min(0.5, ...kept);
    const x = (n) => left + ((WIDE - left - right) * n) / items.length;
    const y = (v) => top + ((height - top - bottom) * (1 - v)) / (1 - least);
    const at = [...sizes.map((n, k) => [x(n), y(kept[k])]), [x(items.length), y(1)]];
    return frame(height, [left, right, top, bottom], ticks(0, items.length).map((n) => [x(n), count(n)]),
      ticks(least, 1, 5).map((v) => [y(v), v.toFixed(1)]), "items", "order kept",
      "Picture: how well the order is kept by fewer items.",
      s("polyline", { points: at.map((p) => p.map((v) => v.toFixed(1)).join()).join(" "), class: "line key" }),
      ...sizes.map((n, k) => s("circle", { cx: x(n), cy: y(kept[k]), r: 4, class: "accent", tip: `${plural(n, "item")}: order kept to ${kept[k].toFixed(2)}` })));
  };

  // The share of each option among users from the weakest to the strongest.
  const curve = (j, width = 300, height = 150) => {
    const item = items[j];
    const longest = Math.max(...item.drawn.map((o) => short(item.options[o], 9).length));
    const [left, right, top, bottom] = [40, 14 + 7.5 * longest, 8, 22];
    const x = (g) => left + ((width - left - right) * g) / (data.groups - 1);
    const y = (v) => top + (height - top - bottom) * (1 - v);
    const parts = [0, 0.5, 1].flatMap((v) => [line(left, y(v), width - right, y(v), "grid"), text(left - 6, y(v) + 4, percent(v), { "text-anchor": "end" })]);
    parts.push(text(left, height - 4, "weakest"), text(width - right, height - 4, "strongest", { "text-anchor": "end" }));
    const role = (o) => (o === item.key ? "key" : o === item.given ? "given" : "other");
    const part = (g) => ["the weakest", ...Array(Math.max(data.groups - 2, 0)).fill(""), "the strongest"][g] || `group ${g + 1} of ${data.groups}`;
    const drawn = item.curve.map((_, k) => k).sort((a, b) => (role(item.drawn[a]) === "key") - (role(item.drawn[b]) === "key"));
    const ends = [];
    drawn.forEach((k) => {
      const o = item.drawn[k];
      const points = item.curve[k].map((v, g) => (v === null ? null : [x(g), y(v), g, v])).filter(Boolean);
      if (!points.length) return;
      parts.push(s("polyline", { points: points.map((p) => p.slice(0, 2).map((v) => v.toFixed(1)).join()).join(" "), class: "line " + role(o) }),
        ...points.map(([cx, cy, g, v]) => s("circle", { cx, cy, r: role(o) === "other" ? 2.2 : 3.2, class: "point " + role(o), tip: `${item.options[o]}: ${percent(v)} of ${part(g)}` })));
      ends.push({ o, at: points[points.length - 1][1] });
    });
    ends.sort((a, b) => a.at - b.at);
    ends.forEach((end, k) => { end.at = Math.max(end.at, k ? ends[k - 1].at + 13 : 0); });
    for (let k = ends.length - 1, limit = height - bottom + 4; k >= 0; k--, limit = ends[k + 1].at - 13) ends[k].at = Math.min(ends[k].at, limit);
    ends.forEach(({ o, at }) => parts.push(text(width - right + 8, at + 4, short(item.options[o], 9), { class: "name " + role(o) })));
    return svg(width, height, `Picture: share of each option of ${item.name} among weak and strong users.`, ...parts);
  };

  // Every answer: users from best to worst, items from easy to hard.
  const everyAnswer = (canvas) => {
    const most = 400;
    const spread = (list) => (list.length <= most ? list
      : Array.from({ length: most }, (_, k) => list[Math.round((k * (list.length - 1)) / (most - 1))]));
    const same = (i) => !users.component || users.component[i] === users.component[0];
    const rows = spread(users.user.map((_, i) => i).filter((i) => report.held(i) >= 0 && same(i)));
    const columns = spread(items.map((_, j) => j).filter((j) => items[j].key !== null).sort((a, b) => items[b].share - items[a].share));
    if (!columns.length || !rows.length) return false;
    const wide = Math.max(Math.min(Math.floor(WIDE / columns.length), 22), 1);
    const tall = Math.max(Math.min(Math.floor(420 / rows.length), 14), 1);
    const draw = () => {
      const style = getComputedStyle(document.documentElement);
      const [right, wrong, blank] = ["accent", "warn-soft", "blank"].map((name) => style.getPropertyValue("--" + name));
      canvas.width = 2 * wide * columns.length;
      canvas.height = 2 * tall * rows.length;
      canvas.style.width = "100%"; // cells are whole pixels, however wide the picture is shown
      const pen = canvas.getContext("2d");
      const [gapX, gapY] = [wide > 4 ? 1 : 0, tall > 4 ? 1 : 0];
      rows.forEach((i, r) => columns.forEach((j, c) => {
        const o = report.chosen(i, j);
        pen.fillStyle = o < 0 ? blank : o === items[j].key ? right : wrong;
        pen.fillRect(2 * wide * c, 2 * tall * r, 2 * (wide - gapX), 2 * (tall - gapY));
      }));
    };
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      const inside = (part, n) => Math.min(Math.max(Math.floor(part * n), 0), n - 1);
      return [rows[inside((event.clientY - box.top) / box.height, rows.length)], columns[inside((event.clientX - box.left) / box.width, columns.length)]];
    };
    canvas.addEventListener("pointermove", (event) => {
      const [i, j] = at(event);
      const o = report.chosen(i, j);
      const key = items[j].options[items[j].key];
      canvas.dataset.tip = `${users.user[i]}, ${items[j].name}: ` + (o < 0 ? "no answer" : items[j].options[o] + (o === items[j].key ? " (likely key)" : ` (likely key ${key})`));
    });
    canvas.addEventListener("click", (event) => open.user(at(event)[0]));
    matchMedia("(prefers-color-scheme:dark)").addEventListener("change", draw);
    addEventListener("beforeprint", draw);
    draw();
    return true;
  };

  return { bar, options, scoreMap, scatter, shortForm, curve, everyAnswer };
};
