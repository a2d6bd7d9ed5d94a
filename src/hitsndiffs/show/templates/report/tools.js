// Small tools of the report: elements, numbers as people read them, tooltips, files to save.
"use strict";
const tools = (() => {
  const make = (space) => (tag, attributes = {}, ...children) => {
    const made = space ? document.createElementNS(space, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes))
      if (name === "click") made.addEventListener("click", value);
      else if (name === "style") made.style.cssText = value; // a style attribute breaks the policy
      else if (name === "tip") made.dataset.tip = value;
      else if (value !== undefined && value !== null) made.setAttribute(name, value);
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  };
  const h = make(null);
  const s = make("http://www.w3.org/2000/svg");

  // -- numbers and names ----------------------------------------------------------------------
  const none = (x) => x === null || x === undefined || x === "";
  const count = (x) => x.toLocaleString("en");
  const plural = (n, noun) => count(n) + " " + noun + (n === 1 ? "" : "s");
  const percent = (x) => (none(x) ? "–" : Math.round(100 * x) + " %");
  // A chance is never shown as certain unless it is.
  const chance = (x) => (x < 1 && x >= 0.995 ? ">99 %" : x > 0 && x < 0.005 ? "<1 %" : percent(x));
  const shown = (x, kind) =>
    none(x) ? "–" : kind === "chance" ? chance(x) : kind === "whole" ? count(x) : kind === "share" ? percent(x) : kind === "number" ? x.toFixed(2) : String(x);
  const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
  const compare = (a, b) =>
    typeof a === "string" || typeof b === "string"
      ? String(a).localeCompare(String(b), undefined, { numeric: true })
      : a - b;
  // How likely a standard normal variable is below z (Abramowitz and Stegun 26.2.17, to 7 digits).
  const normal = (z) => {
    const t = 1 / (1 + 0.2316419 * Math.abs(z));
    const tail = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * t *
      (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
    return z > 0 ? 1 - tail : tail;
  };

  // -- pictures -------------------------------------------------------------------------------
  const svg = (width, height, label, ...children) =>
    s("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": label,
      style: `max-width:${width}px` }, ...children);
  const ticks = (from, to, n = 5) => {
    const raw = (to - from) / n || 1;
    const step = [1, 2, 5, 10].map((k) => k * 10 ** Math.floor(Math.log10(raw))).find((k) => k >= raw * 0.999);
    const found = [];
    for (let x = Math.ceil(from / step - 1e-9) * step; x <= to + step / 1e6; x += step) found.push(+x.toPrecision(10));
    return found;
  };

  // One tooltip for everything that has something to say; it follows the pointer.
  const tip = h("div", { class: "tip", "aria-hidden": "true", hidden: "" });
  document.body.append(tip);
  document.addEventListener("pointermove", (event) => {
    const said = event.target.closest?.("[data-tip]")?.dataset.tip;
    tip.hidden = !said || event.pointerType === "touch";
    if (tip.hidden) return;
    (event.target.closest("dialog") ?? document.body).append(tip);
    tip.textContent = said;
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = Math.max(Math.min(event.clientX + 14, room), 8) + "px";
    tip.style.top = event.clientY + (event.clientY > innerHeight - 90 ? -tip.offsetHeight - 12 : 18) + "px";
  });

  // -- files and the clipboard ----------------------------------------------------------------
  const save = (name, rows) => {
    const cell = (x) => {
      let text = none(x) ? "" : String(x);
      if (typeof x === "string" && /^[=+\-@\t\r]/.test(text)) text = "'" + text; // no formula
      return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
    };
    const text = rows.map((row) => row.map(cell).join()).join("\n") + "\n";
    const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
  }

  return { h, s, none, count, plural, percent, chance, shown, short, compare, normal, svg, ticks, save };
})();
