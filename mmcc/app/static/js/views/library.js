/** Library: all videos as cards, a page at a time, so that twenty thousand are as light as sixty. */

import { api } from "../api.js";
import { foreign, h, icon, replace, setVars } from "../dom.js";
import { clock, count, percent } from "../format.js";
import { link, rewrite } from "../router.js";
import { empty, failed, loading } from "../states.js";

const PAGE = 60;
const SORTS = {
  title: ["Title", "asc"],
  duration: ["Length", "desc"],
  coverage: ["Narrated share", "desc"],
  task: ["Task", "asc"],
};

export async function show(main, { app, query, signal }) {
  const { corpus } = app.about;
  const state = {
    q: query.get("q") ?? "",
    sort: query.get("sort") in SORTS ? query.get("sort") : "title",
    order: query.get("order"),
    task: query.get("task") ?? "",
    page: Math.max(1, Number.parseInt(query.get("page") ?? "1", 10) || 1),
  };
  const results = h("div", { class: "results" });
  const status = h("p", { class: "quiet small num", role: "status" });
  const chips = h("div", { class: "chips" });

  const search = h("input", {
    class: "field",
    id: "search",
    type: "search",
    value: state.q,
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
    placeholder: "Search titles and narration",
    "aria-label": "Search titles and narration",
    oninput: () => later(() => change({ q: search.value.trim() })),
    onkeydown: (event) => {
      if (event.key === "Escape") search.blur();
    },
  });
  const sort = h(
    "select",
    { "aria-label": "Sort by", onchange: () => change({ sort: sort.value, order: null }) },
    Object.entries(SORTS).map(([value, [words]]) => h("option", { value, selected: value === state.sort }, words)),
  );
  const order = h("button", {
    class: "button",
    type: "button",
    onclick: () => change({ order: direction() === "asc" ? "desc" : "asc" }),
  });
  const direction = () => state.order ?? SORTS[state.sort][1];

  replace(
    main,
    h(
      "div",
      { class: "head" },
      h(
        "div",
        {},
        h("h1", { dir: "auto" }, corpus.name || "Library"),
        h(
          "p",
          { class: "lead num" },
          `${count(corpus.videos, "video")} · ${corpus.hours.toFixed(corpus.hours < 10 ? 1 : 0)} hours · ${count(corpus.utterances, "utterance")}`,
        ),
      ),
      h(
        "form",
        { class: "finder", role: "search", onsubmit: (event) => event.preventDefault() },
        h("div", { class: "search" }, search, h("kbd", { "aria-hidden": "true" }, "/")),
        sort,
        order,
      ),
    ),
    h("div", { class: "found" }, status, chips),
    results,
  );

  let timer;
  let running;
  function later(act) {
    clearTimeout(timer);
    timer = setTimeout(act, 160);
  }
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    running?.abort();
  });

  function change(values, page = 1) {
    Object.assign(state, values, { page });
    rewrite([], {
      q: state.q,
      sort: state.sort === "title" ? "" : state.sort,
      order: state.order,
      task: state.task,
      page: page > 1 ? page : "",
    });
    return load();
  }

  async function load() {
    running?.abort();
    const mine = (running = new AbortController());
    const words = direction() === "asc" ? "Ascending" : "Descending";
    replace(
      order,
      h("span", { "aria-hidden": "true" }, direction() === "asc" ? "↑" : "↓"),
      h("span", { class: "visually-hidden" }, words),
    );
    order.title = words;
    if (!results.firstChild) loading(results);
    results.setAttribute("aria-busy", "true");
    try {
      const { q, task, page, sort: by } = state;
      const found = await api.videos(
        { q, task, sort: by, order: direction(), offset: (page - 1) * PAGE, limit: PAGE },
        mine.signal,
      );
      draw(found);
    } catch (failure) {
      failed(results, failure, load);
    }
    if (running === mine) results.removeAttribute("aria-busy");
  }

  function draw({ total, videos }) {
    const first = (state.page - 1) * PAGE;
    const filtered = state.q || state.task;
    status.textContent =
      total > PAGE
        ? `${first + 1}–${first + videos.length} of ${count(total, "video")}`
        : filtered
          ? `${count(total, "video")} found`
          : "";
    replace(
      chips,
      state.task &&
        h(
          "button",
          {
            class: "chip",
            type: "button",
            "aria-label": `Show all tasks, not only ${state.task}`,
            onclick: () => change({ task: "" }),
          },
          foreign("span", state.task),
          icon("close"),
        ),
    );
    if (!videos.length && total) {
      change({}, Math.ceil(total / PAGE)); // a link to a page that is there no longer
      return;
    }
    if (!videos.length) {
      if (filtered)
        empty(
          results,
          "Nothing found",
          "No title and no utterance has these words.",
          h(
            "button",
            {
              class: "button",
              type: "button",
              onclick: () => {
                search.value = "";
                change({ q: "", task: "" });
                search.focus();
              },
            },
            "Show all videos",
          ),
        );
      else empty(results, "No videos yet", "This corpus is empty. Add videos with: mmcc ingest FOLDER -o CORPUS");
      return;
    }
    replace(
      results,
      h(
        "ul",
        { class: "cards" },
        videos.map((video, i) => card(video, i)),
      ),
      total > PAGE && pages(total),
    );
  }

  /** The first row loads at once, the rest as it comes near. */
  function card(video, position) {
    const poster = h("img", {
      src: video.poster,
      alt: "",
      loading: position < 6 ? "eager" : "lazy",
      decoding: "async",
    });
    poster.addEventListener("error", () => poster.closest(".poster").classList.add("missing"), { once: true });
    const meter = h("span", { class: "meter", "aria-hidden": "true" });
    setVars(meter, { share: video.coverage ?? 0 });
    return h(
      "li",
      { class: "card" },
      h(
        "a",
        { class: "card-link", href: link(["video", video.id]) },
        h("span", { class: "poster" }, poster, h("span", { class: "badge num" }, clock(video.duration))),
        foreign("span", video.title, { class: "card-title" }),
      ),
      h(
        "p",
        { class: "card-about" },
        video.task &&
          foreign("button", video.task, {
            class: "tag as-button",
            type: "button",
            title: "Only this task",
            onclick: () => change({ task: video.task }),
          }),
        video.utterances
          ? h(
              "span",
              {
                class: "coverage num",
                title: `${count(video.utterances, "utterance")}; someone speaks during ${percent(video.coverage)} of the video`,
              },
              meter,
              `${percent(video.coverage)} narrated`,
            )
          : h("span", { class: "coverage" }, "no narration"),
      ),
    );
  }

  function pages(total) {
    const last = Math.ceil(total / PAGE);
    const near = [1, state.page - 1, state.page, state.page + 1, last]
      .filter((page, i, all) => page >= 1 && page <= last && all.indexOf(page) === i)
      .sort((a, b) => a - b);
    const go = (page) =>
      change({}, page).then(() => {
        scrollTo(0, 0);
        results.querySelector(".card-link")?.focus({ preventScroll: true });
      });
    const step = (words, page) =>
      h(
        "button",
        { class: "button", type: "button", disabled: page < 1 || page > last, onclick: () => go(page) },
        words,
      );
    return h(
      "nav",
      { class: "pages num", "aria-label": "Pages" },
      step("Previous", state.page - 1),
      near.map((page, i) => [
        i && page - near[i - 1] > 1 ? h("span", { class: "quiet" }, "…") : null,
        h(
          "button",
          {
            class: "button plain",
            type: "button",
            "aria-label": `Page ${page}`,
            "aria-current": page === state.page ? "page" : null,
            onclick: () => go(page),
          },
          String(page),
        ),
      ]),
      step("Next", state.page + 1),
    );
  }

  dispatchEvent(new Event("mmcc:library")); // whoever wants to search can type before the cards are here
  await load();
}
