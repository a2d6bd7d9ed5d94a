// Sorting and searching; without this script the page still shows the first rows of everything.
(async () => {
  "use strict";
  const compare = (a, b) =>
    typeof a === "string" || typeof b === "string"
      ? String(a).localeCompare(String(b), undefined, { numeric: true })
      : a - b;
  const nothing = (x) => x === null || x === undefined || x === "";
  // what there is none of stays at the end, whichever way round
  const order = (a, b, down) =>
    nothing(a) || nothing(b) ? nothing(a) - nothing(b) : down ? compare(b, a) : compare(a, b);

  const headings = (table, sort) => {
    const all = [...table.tHead.rows[0].cells];
    all.forEach((cell, column) => {
      const button = cell.querySelector("button");
      if (!button) return;
      button.addEventListener("click", () => {
        const down = cell.getAttribute("aria-sort") === "ascending";
        all.forEach((other) => other.removeAttribute("aria-sort"));
        cell.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort(column, down, cell.dataset.kind);
      });
    });
  };

  for (const table of document.querySelectorAll("table.sortable:not(#ranking)")) {
    headings(table, (column, down, kind) => {
      const value = (row) => {
        const cell = row.cells[column];
        const text = cell.dataset.value ?? cell.textContent.trim();
        if (kind !== "number") return text;
        return text === "" || isNaN(Number(text)) ? null : Number(text);
      };
      const rows = [...table.tBodies[0].rows].map((row) => [value(row), row]);
      rows.sort((a, b) => order(a[0], b[0], down));
      table.tBodies[0].append(...rows.map((pair) => pair[1]));
    });
  }

  const table = document.getElementById("ranking");
  const store = document.getElementById("rows");
  if (!table || !store) return;

  const read = async () => {
    if (store.type === "application/json") return JSON.parse(store.textContent);
    if (typeof DecompressionStream === "undefined") return null;
    const bytes = Uint8Array.from(atob(store.textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  };
  const data = await read();
  if (!data) return;

  const total = data.user.length;
  const page = 100;
  const body = table.tBodies[0];
  const model = document.getElementById("row").content.querySelector("tr");
  const more = document.getElementById("more");
  const found = document.getElementById("found");
  const input = document.getElementById("find");
  const columns = [data.rank, data.user, data.score, data.error, null, data.first, data.answers];
  if (data.group) columns.push(data.group);
  const lower = data.user.map((name) => name.toLocaleLowerCase());
  const [low, high] = data.range;
  const number = (x) => (data.shares ? (100 * x).toFixed(1) : x.toFixed(3));
  const count = (x) => x.toLocaleString("en");
  const place = (x) =>
    high > low ? (100 * (Math.min(Math.max(x, low), high) - low)) / (high - low) : 0;

  let sorted = Array.from({ length: total }, (_, i) => i);
  let shown = sorted;
  let length = Math.min(page, total);

  const row = (i) => {
    const made = model.cloneNode(true);
    const cells = made.cells;
    const score = data.score[i];
    const error = data.error[i];
    cells[0].textContent = data.rank[i] === null ? "–" : count(data.rank[i]);
    cells[1].textContent = data.user[i];
    cells[2].textContent = score === null ? "–" : number(score) + (data.shares ? " %" : "");
    cells[3].textContent = error === null ? "" : "± " + number(error);
    cells[5].textContent = data.first[i] === null ? "" : count(data.first[i]) + "–" + count(data.last[i]);
    cells[6].textContent = count(data.answers[i]);
    if (data.group) cells[7].textContent = data.group[i] > 0 ? data.group[i] : "–";
    const reach = 1.96 * (error ?? 0);
    const line = made.querySelector("line");
    line.setAttribute("x1", place(score - reach).toFixed(1));
    line.setAttribute("x2", place(score + reach).toFixed(1));
    made.querySelector("circle").setAttribute("cx", place(score ?? low).toFixed(1));
    return made;
  };
  const draw = () => {
    body.replaceChildren(...shown.slice(0, length).map(row));
    more.hidden = length >= shown.length;
    const some = shown.length === total ? "" : count(shown.length) + " of ";
    found.textContent = some + count(total) + (total === 1 ? " user" : " users");
  };
  const filter = () => {
    const wanted = input.value.trim().toLocaleLowerCase();
    shown = wanted ? sorted.filter((i) => lower[i].includes(wanted)) : sorted;
    length = Math.min(page, shown.length);
    draw();
  };

  headings(table, (column, down) => {
    const values = columns[column];
    sorted = [...sorted].sort((a, b) => order(values[a], values[b], down) || a - b);
    filter();
  });
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, total > 5000 ? 150 : 0);
  });
  more.addEventListener("click", () => {
    length = Math.min(length + 5 * page, shown.length);
    draw();
  });
  addEventListener("beforeprint", () => {
    length = Math.min(shown.length, 2000);
    draw();
  });
  document.querySelector(".finder").hidden = false;
  filter();
})();
