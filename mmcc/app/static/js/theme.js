/** Light and dark: as the system has it, unless the person chose. */

import { icon, replace } from "./dom.js";

const ORDER = ["auto", "light", "dark"];
const ICON = { auto: "auto", light: "sun", dark: "moon" };
const WORDS = { auto: "as the system", light: "light", dark: "dark" };
const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();

/** Canvases draw with the tokens' values, so they need to know when those change. */
export function onTheme(listener, signal) {
  listeners.add(listener);
  signal?.addEventListener("abort", () => listeners.delete(listener), { once: true });
}

export function token(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function startTheme(button) {
  let choice = ORDER.includes(stored()) ? stored() : "auto";
  const apply = () => {
    document.documentElement.dataset.theme = choice === "auto" ? (dark.matches ? "dark" : "light") : choice;
    replace(button, icon(ICON[choice]));
    button.setAttribute("aria-label", `Appearance: ${WORDS[choice]}`);
    button.title = `Appearance: ${WORDS[choice]}`;
    listeners.forEach((listener) => listener());
  };
  button.addEventListener("click", () => {
    choice = ORDER[(ORDER.indexOf(choice) + 1) % ORDER.length];
    try {
      localStorage.setItem("mmcc-theme", choice);
    } catch {
      /* private windows may refuse; the choice still holds */
    }
    apply();
  });
  dark.addEventListener("change", apply);
  apply();
}

function stored() {
  try {
    return localStorage.getItem("mmcc-theme");
  } catch {
    return null;
  }
}
