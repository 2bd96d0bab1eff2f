/** Small helpers to build the page.
 *
 * Everything that comes from a corpus (titles, captions, names) enters the document through `h` and `foreign`, which
 * set text and attributes and never parse HTML: a caption with a <script> in it is shown, not run.
 */

const SVG = "http://www.w3.org/2000/svg";

/** An element: h("a", {class: "card", href: "#/", onclick: f, dataset: {id: 3}}, "text", child, …). */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same in SVG's namespace. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "vars") setVars(element, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** Custom properties by CSSOM: the content security policy forbids style attributes in markup, not this. */
export function setVars(element, vars) {
  for (const [name, value] of Object.entries(vars)) element.style.setProperty(`--${name}`, value);
}

/** Text that someone else wrote: shown as it is, in the direction of its own script. */
export function foreign(tag, content, props = {}) {
  return h(tag, { dir: "auto", ...props }, content ?? "");
}

export function replace(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter(Boolean));
  return parent;
}

const PATHS = {
  sun: "M12 4V2M12 22v-2M4 12H2M22 12h-2M6.3 6.3 4.9 4.9M19.1 19.1l-1.4-1.4M6.3 17.7l-1.4 1.4M19.1 4.9l-1.4 1.4M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0z",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  auto: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  play: "M7 4.5v15l12-7.5z",
  pause: "M8 5v14M16 5v14",
  down: "M12 4v11M7 11l5 5 5-5M5 20h14",
  close: "M6 6l12 12M18 6 6 18",
  undo: "M8 5 4 9l4 4M4 9h10a6 6 0 0 1 0 12h-3",
  arrow: "M4 12h15M14 7l5 5-5 5",
  check: "M5 12.5 10 17l9-10",
  grip: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01",
};

export function icon(name) {
  return svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: PATHS[name] }));
}

/** Tell those who listen instead of look. */
export function announce(message) {
  const place = document.getElementById("announcer");
  place.textContent = "";
  requestAnimationFrame(() => {
    place.textContent = message;
  });
}

let shown;

/** A short message at the lower edge, read aloud as well. */
export function toast(message) {
  shown?.remove();
  const here = (shown = h("p", { class: "toast" }, message));
  document.body.append(here);
  announce(message);
  setTimeout(() => here.remove(), 4500);
}
