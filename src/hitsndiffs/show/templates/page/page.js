"use strict";
(() => {
  document.documentElement.classList.add("scripted");
  const by = (id) => document.getElementById(id);

  // Bringing files: dropped or chosen, they go at once.
  const bringing = by("bringing");
  if (bringing) {
    const input = by("files");
    const drop = by("drop");
    const problem = by("upload-problem");
    const send = () => {
      const files = [...input.files];
      if (!files.length) return;
      const bytes = files.reduce((sum, file) => sum + file.size, 0);
      if (bytes > Number(bringing.dataset.most)) {
        problem.textContent = "These files are larger than " + bringing.dataset.mostWords + ", which is the most that can be sent at once.";
        problem.hidden = false;
        input.value = "";
        return;
      }
      problem.hidden = true;
      drop.querySelector(".drop-words").textContent = "Sending …";
      bringing.requestSubmit();
    };
    input.addEventListener("change", send);
    const over = (event) => {
      event.preventDefault();
      drop.classList.add("over");
    };
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) drop.classList.remove("over");
    });
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      drop.classList.remove("over");
      if (event.dataTransfer && event.dataTransfer.files.length) {
        input.files = event.dataTransfer.files;
        send();
      }
    });
  }

  // The plan: columns whose role was changed are marked.
  const planning = by("planning");
  if (planning) {
    planning.addEventListener("change", (event) => {
      const row = event.target.closest(".columns tr");
      if (!row) return;
      const chosen = row.querySelector("input:checked");
      row.classList.toggle("changed", !chosen.defaultChecked);
      row.classList.toggle("unused", chosen.value === "unused");
    });
  }

  // The server keeps the files as long as a tab shows them: one that closes says so, and any other
  // that is left answers for them.
  const page = by("page");
  if (page) {
    addEventListener("pagehide", () => navigator.sendBeacon(page.dataset.here + "/leave"));
    const stay = () => fetch(page.dataset.here + "/progress", { cache: "no-store" }).catch(() => {});
    addEventListener("pageshow", (event) => event.persisted && stay());
    setInterval(stay, 30_000);
  }

  // Work under way: look how far it is, and go on when it is over.
  const working = by("working");
  if (working) {
    const bar = by("bar");
    const line = by("line");
    const stages = [...by("stages").children];
    let missed = 0;
    const look = async () => {
      try {
        const answer = await fetch(page.dataset.here + "/progress", { cache: "no-store" });
        const now = await answer.json();
        missed = 0;
        if (now.state !== "waiting" && now.state !== "running") return location.replace(location.pathname);
        by("work").textContent = now.state === "waiting" ? "Waiting" : "Working";
        if (line.textContent !== now.line) line.textContent = now.line;
        if (now.total) {
          bar.max = now.total;
          bar.value = now.done;
        } else bar.removeAttribute("value");
        stages.forEach((stage, i) => {
          stage.className = i < now.stage ? "done" : i === now.stage && now.state === "running" ? "now" : "later";
        });
      } catch {
        missed += 1;
        if (missed > 3) line.textContent = "The page does not answer; has it been ended?";
      }
      setTimeout(look, 400);
    };
    setTimeout(look, 200);
  }
})();
