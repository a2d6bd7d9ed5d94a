// A button on every block of commands or code that copies it, without the prompts and the output.
document.addEventListener("DOMContentLoaded", () => {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll("div.highlight")) {
    const shown = block.querySelector("pre").textContent.replace(/\n+$/, "");
    const typed = shown.split("\n").filter((line) => line.startsWith("$ ")).map((line) => line.slice(2));
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(typed.length ? typed.join("\n") : shown);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
  }
});
