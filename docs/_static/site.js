// A button for each block of code: it copies what a reader types, without prompts and without what is printed.  Scrolling by keyboard.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const typed = (pre) => {
    const lines = pre.textContent.replace(/\n$/, "").split("\n");
    const kept = [];
    if (lines.some((line) => line.startsWith("$ "))) {
      let goesOn = false; // a backslash, or a here-document until its last word
      let last = "";
      for (const line of lines) {
        if (line.startsWith("$ ") && !last) {
          kept.push(line.slice(2));
        } else if (goesOn || last) {
          kept.push(line);
        } else {
          continue;
        }
        if (last) {
          last = line === last ? "" : last;
        } else {
          last = (/<<-?\s*'?(\w+)'?/.exec(line) || ["", ""])[1];
        }
        goesOn = line.endsWith("\\");
      }
      return kept.join("\n");
    }
    if (lines.some((line) => line.startsWith(">>> "))) {
      return lines.filter((line) => /^(>>>|\.\.\.)( |$)/.test(line)).map((line) => line.slice(4)).join("\n");
    }
    return lines.join("\n");
  };
  const output = ".highlight-text, .highlight-none, .sphx-glr-script-out, .linenos";
  for (const pre of document.querySelectorAll("div.highlight > pre")) {
    if (pre.closest(output)) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy: ${typed(pre).slice(0, 60)}`);
    pre.before(button);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(typed(pre));
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(pre);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  // The frame's parts have names and levels for screen readers.
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Site navigation");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
  for (const icons of document.querySelectorAll(".content-icon-container")) {
    icons.setAttribute("role", "region");
    icons.setAttribute("aria-label", "This page");
  }
  for (const caption of document.querySelectorAll(".caption[role=heading]")) caption.ariaLevel = "2";

  // What scrolls sideways can be scrolled by keyboard.
  const reach = () => {
    for (const box of document.querySelectorAll("pre, .table-wrapper, .drawings figure, .cards")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  reach();
  addEventListener("resize", reach);
  addEventListener("load", reach);
});
