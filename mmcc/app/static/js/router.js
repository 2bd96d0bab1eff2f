/** Views live behind the hash, so that a link to a moment of a video can be copied: #/video/ID?t=83.5 */

export function parse(hash) {
  const [path, search = ""] = hash.replace(/^#/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(safely);
  return { parts, query: new URLSearchParams(search) };
}

function safely(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a stray % that someone typed
  }
}

export function link(parts, query = {}) {
  const pairs = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = pairs.length ? `?${new URLSearchParams(pairs)}` : "";
  return `#/${parts.map(encodeURIComponent).join("/")}${search}`;
}

let waiting;
let shown = location.hash;
addEventListener("hashchange", () => {
  clearTimeout(waiting); // another view: the state of the former one is gone
  shown = location.hash;
});

/** Change the address without a new view: the state of the present one. */
export function rewrite(parts, query) {
  clearTimeout(waiting);
  if (location.hash !== shown) return; // another view was asked for, and hashchange is on its way: this would undo it
  history.replaceState(null, "", link(parts, query));
  shown = location.hash;
}

/** The same once the state rests: browsers refuse an address that changes with every move of a finger. */
export function rewriteSoon(parts, query) {
  clearTimeout(waiting);
  waiting = setTimeout(() => rewrite(parts, query), 150);
}
