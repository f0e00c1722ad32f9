// Comforts only: all that the page says is there without this.  Copy buttons, a filter of all items, links that open.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // ------------------------------------------------------------ copying
  const notice = document.getElementById("copied");
  const copy = async (text, code) => {
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
      const done = await copy(code.textContent, code);
      notice.textContent = done ? "Copied" : "Selected: copy with the keyboard";
      button.textContent = done ? "Copied" : "Selected";
      setTimeout(() => { button.textContent = "Copy"; notice.textContent = ""; }, 2000);
    });
  }

  // ------------------------------------------------------------ the filter
  const form = document.getElementById("filter");
  const plain = (element) => element.textContent.toLowerCase().replace(/\s+/g, " ");
  const items = all("details.item").map((item) => ({ item, line: plain(item.querySelector("summary")), text: plain(item) }));
  const filter = () => {
    const typed = form.querySelector("input[type=search]").value.toLowerCase().trim().replace(/\s+/g, " ");
    const kinds = new Set(all("input:checked", form).map((box) => box.value));
    const lines = items.some(({ line }) => line.includes(typed)); // what a line says goes before what is inside
    let shown = 0;
    for (const { item, line, text } of items) {
      item.hidden = !kinds.has(item.dataset.verdict) || !(lines ? line : text).includes(typed);
      shown += item.hidden ? 0 : 1;
    }
    document.getElementById("found").textContent = `${shown} of ${items.length} lines, including our own`;
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();

  // ------------------------------------------------------------ a link opens what it leads to
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target; at; at = at.parentElement) {
      if (at.localName === "details") at.open = true;
      at.hidden &&= false;
    }
    target?.scrollIntoView();
  };
  if (matchMedia("(max-width: 40rem)").matches) for (const { item } of items) item.open = false; // a telephone begins with lines
  addEventListener("hashchange", reveal);
  reveal();

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
