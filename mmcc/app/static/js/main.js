/** Starts the page: what the server has, the bar, and the view that the address names. */

import { api } from "./api.js";
import { h, replace } from "./dom.js";
import { modelName } from "./format.js";
import { startKeys } from "./keys.js";
import { parse } from "./router.js";
import { failed, loading } from "./states.js";
import { startTheme } from "./theme.js";

const VIEWS = {
  library: () => import("./views/library.js"),
  video: () => import("./views/video.js"),
  mark: () => import("./views/mark.js"),
  transitions: () => import("./views/transitions.js"),
  next: () => import("./views/next.js"),
  unshuffle: () => import("./views/unshuffle.js"),
  compare: () => import("./views/compare.js"),
};
const TITLES = {
  library: "Library",
  video: "Video",
  mark: "Mark steps",
  transitions: "Transitions",
  next: "What comes next",
  unshuffle: "Unshuffle",
  compare: "Compare",
};

const main = document.getElementById("main");
const chooser = document.getElementById("model");
const app = {
  about: null,
  get model() {
    return chooser.value;
  },
};
let leave = new AbortController();

/** Show the view of the address. Whatever the former one had under way ends with its signal. */
async function show(first = false) {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  const { parts, query } = parse(location.hash);
  const name = parts[0] ?? "library";
  const known = VIEWS[name] ? name : "library";
  const tab = { video: "library", mark: "library" }[known] ?? known;
  for (const each of document.querySelectorAll(".views a")) {
    if (each.dataset.view === tab) {
      each.setAttribute("aria-current", "page");
      each.scrollIntoView({ block: "nearest", inline: "nearest" }); // a phone has no room for all of them
    } else each.removeAttribute("aria-current");
  }
  document.title = `${TITLES[known]} · mmcc`;
  loading(main);
  if (!first) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
  try {
    const view = await VIEWS[known]();
    if (!signal.aborted)
      await view.show(main, {
        app,
        id: parts[1],
        query,
        signal,
        title: (words) => {
          document.title = `${words} · mmcc`;
        },
      });
  } catch (failure) {
    if (!signal.aborted) failed(main, failure, () => show());
  }
}

function chooseModels(models) {
  replace(
    chooser,
    models.map((model) => h("option", { value: model.id, title: model.name }, modelName(model))),
  );
  chooser.closest("label").hidden = models.length < 2;
  const warning = document.getElementById("warning");
  const warn = () => {
    const words = models.find((model) => model.id === chooser.value)?.warning;
    warning.textContent = words ?? "";
    warning.hidden = !words;
  };
  chooser.addEventListener("change", () => {
    warn();
    show();
  });
  warn();
}

async function start() {
  loading(main, "Asking the server…");
  try {
    app.about = await api.about();
  } catch (failure) {
    failed(main, failure, start);
    return;
  }
  chooseModels(app.about.models);
  document.querySelector("[data-view=compare]").hidden = !app.about.can.compare;
  addEventListener("hashchange", () => show());
  await show(true);
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the hash names the view
  main.focus();
});
startTheme(document.getElementById("theme"));
startKeys(() => {
  const field = document.getElementById("search");
  if (field) {
    field.focus();
    field.select();
    return;
  }
  location.hash = "#/";
  addEventListener("mmcc:library", () => document.getElementById("search")?.focus(), { once: true });
});
start();
