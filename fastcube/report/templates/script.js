// Comforts only: all that the page says is there without this.  Copy buttons, a filter for the table of all items, and
// reading plots: a line is highlighted by its button or under the pointer, a point tells its value and interval.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const told = document.getElementById("told");

  // ------------------------------------------------------------ copying
  const copied = async (text, code) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      return document.execCommand("copy");
    }
    return true;
  };
  for (const code of all(".code code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    const of = code.closest("article, section")?.id;
    button.setAttribute("aria-label", `Copy the ${code.dataset.kind} line${of ? ` of ${of}` : ""}: ${code.textContent.slice(0, 60)}`);
    code.after(button);
    button.addEventListener("click", async () => {
      const done = await copied(code.textContent, code);
      told.textContent = done ? "Copied" : "Selected: copy with the keyboard";
      button.textContent = done ? "Copied" : "Selected";
      setTimeout(() => { button.textContent = "Copy"; told.textContent = ""; }, 2000);
    });
  }

  // ------------------------------------------------------------ the filter
  const form = document.getElementById("filter");
  const rows = all("tr[data-verdict]").map((row) => ({ row, text: row.textContent.toLowerCase() }));
  const filter = () => {
    const words = form.querySelector("input[type=search]").value.toLowerCase().split(/\s+/).filter(Boolean);
    const kinds = new Set(all("input:checked", form).map((box) => box.value));
    let shown = 0;
    for (const { row, text } of rows) {
      row.hidden = !kinds.has(row.dataset.verdict) || !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    for (const body of all(".ledger tbody")) {
      body.hidden = !body.querySelector("tr[data-verdict]:not([hidden])");
    }
    document.getElementById("found").textContent = `${shown} of ${rows.length} items`;
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();

  // ------------------------------------------------------------ plots
  const lineOf = (node) => node.closest(".line");
  for (const plot of all("[data-plot]")) {
    const lines = all(".line", plot).filter((line) => line.querySelector("title"));
    if (!lines.length) continue;
    const point = plot.querySelector(".point");
    const keys = document.createElement("div");
    let pressed = null;
    const light = (line) => {
      plot.classList.toggle("read", Boolean(line));
      for (const other of lines) other.classList.toggle("lit", other === line);
    };
    const press = (button, line) => {
      pressed = pressed === line ? null : line;
      for (const other of keys.children) other.setAttribute("aria-pressed", String(other === button && pressed === line));
      light(pressed);
      point.textContent = pressed ? all("title", line).map((title) => title.textContent).join("; ") : "";
    };
    keys.className = "keys";
    keys.setAttribute("role", "group");
    keys.setAttribute("aria-label", "Highlight a line and read its points");
    const said = lines.map((line) => line.querySelector("title").textContent.split(";")[0]);
    const names = said.map((name, i) => (said.indexOf(name) === said.lastIndexOf(name) ? name : `${name} (${i + 1})`));
    if (lines.length > 1 && lines.length <= 24) {
      lines.forEach((line, i) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = names[i];
        button.setAttribute("aria-pressed", "false");
        button.addEventListener("click", () => press(button, line));
        keys.append(button);
      });
      point.before(keys);
    }
    const svg = plot.querySelector("svg");
    const marks = lines.flatMap((line) => all("use", line).filter((use) => use.querySelector("title")));
    svg.addEventListener("pointermove", (event) => {
      const near = (mark) => {
        const box = mark.getBoundingClientRect();
        return Math.hypot(event.clientX - box.x - box.width / 2, event.clientY - box.y - box.height / 2);
      };
      let best = null;
      let least = 18;
      for (const mark of marks) {
        const far = near(mark);
        if (far < least) [best, least] = [mark, far];
      }
      light(best ? lineOf(best) : pressed);
      if (best) point.textContent = best.querySelector("title").textContent;
    });
    svg.addEventListener("pointerleave", () => light(pressed));
  }

  // ------------------------------------------------------------ printing opens what is closed
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details:not([open])");
    for (const details of closed) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of closed) details.open = false;
  });
})();
