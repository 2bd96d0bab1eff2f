/** Keyboard: one table per view, so that the help dialog (?) always tells what works here. */

import { h, icon } from "./dom.js";

let bindings = [];
const GENERAL = [
  { show: ["/"], words: "Search the library" },
  { show: ["?"], words: "This list" },
];

/** bind([{keys: [" "], show: ["Space"], words: "Play", run: f}], signal): until the view is left. */
export function bind(table, signal) {
  bindings.push(...table);
  signal.addEventListener(
    "abort",
    () => {
      bindings = bindings.filter((each) => !table.includes(each));
    },
    { once: true },
  );
}

/** Typing is never a shortcut, and a focused control keeps the keys that it uses itself. */
function isTyping(target) {
  return target.closest?.("input:not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]");
}

const TAKEN = {
  " ": "button, a, summary, input, video, [role=button], [role=option]",
  Enter: "button, a, summary",
  ArrowLeft: "input[type=range], video",
  ArrowRight: "input[type=range], video",
  ArrowUp: "input[type=range]",
  ArrowDown: "input[type=range]",
};

export function startKeys(search) {
  document.getElementById("help").addEventListener("click", help);
  document.addEventListener("keydown", (event) => {
    const dialog = document.querySelector("dialog[open]");
    const helped = dialog?.classList.contains("help"); // the keys that work in every view work there, too
    if (event.defaultPrevented || event.altKey || isTyping(event.target) || (dialog && !helped)) return;
    const command = event.ctrlKey || event.metaKey;
    if (!command && event.key === "/") {
      event.preventDefault();
      dialog?.close();
      search();
      return;
    }
    if (!command && event.key === "?") {
      event.preventDefault();
      if (dialog) dialog.close();
      else help();
      return;
    }
    if (dialog) return;
    if (TAKEN[event.key] && event.target.closest?.(TAKEN[event.key])) return;
    const found = bindings.find(
      (each) =>
        Boolean(each.command) === command &&
        each.keys.includes(event.key) &&
        (each.shift ?? event.shiftKey) === event.shiftKey,
    );
    if (found) {
      event.preventDefault();
      found.run(event);
    }
  });
}

function help() {
  const rows = [...bindings.filter((each) => each.show), ...GENERAL];
  const dialog = h(
    "dialog",
    { class: "help", "aria-labelledby": "keys-title" },
    h(
      "div",
      { class: "head" },
      h("h2", { id: "keys-title" }, "Keyboard"),
      h(
        "button",
        { class: "icon-button", type: "button", "aria-label": "Close", onclick: () => dialog.close() },
        icon("close"),
      ),
    ),
    h(
      "dl",
      { class: "keys" },
      rows.map((row) => [
        h(
          "dt",
          {},
          row.show.map((key, i) => [i ? " " : "", h("kbd", {}, key)]),
        ),
        h("dd", {}, row.words),
      ]),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
