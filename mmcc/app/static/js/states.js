/** What a view shows while it waits, when there is nothing, and when something failed. */

import { h, replace, setVars } from "./dom.js";

export function loading(place, words = "Loading…", compact = false) {
  const bar = h("div", { class: "progress", role: "progressbar", "aria-label": words || "In progress" });
  const label = h("p", {}, words);
  replace(place, h("div", { class: `state${compact ? " compact" : ""}` }, bar, label));
  return (share, words) => {
    bar.classList.add("known");
    bar.setAttribute("aria-valuenow", String(Math.round(share * 100)));
    setVars(bar, { done: `${share * 100}%` });
    if (words) label.textContent = words;
  };
}

export function empty(place, title, words, ...more) {
  replace(place, h("div", { class: "state" }, h("h2", {}, title), h("p", {}, words), ...more));
}

/** The cause, what to do about it, and a way to try again. Leaving a view is no failure. */
export function failed(place, failure, retry, compact = false) {
  if (failure.name === "AbortError") return;
  if (!failure.cause) console.error(failure); // a mistake of ours, not an answer of the server
  replace(
    place,
    h(
      "div",
      { class: `state failed${compact ? " compact" : ""}`, role: "alert" },
      h("h2", { dir: "auto" }, failure.cause ?? "Something went wrong on this page."),
      failure.remedy && h("p", { dir: "auto" }, failure.remedy),
      retry && h("button", { class: "button", type: "button", onclick: retry }, "Try again"),
    ),
  );
}
