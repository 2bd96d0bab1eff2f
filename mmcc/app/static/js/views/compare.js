/** Compare: two models walk from the same moment of the same video; A above the lanes, B below. */

import { api, whenEmbedded } from "../api.js";
import { foreign, h, replace } from "../dom.js";
import { clock, modelName, percent } from "../format.js";
import { bind } from "../keys.js";
import { Player } from "../player.js";
import { link, rewriteSoon } from "../router.js";
import { empty, failed, loading } from "../states.js";
import { edge, roleName, station, weightOf } from "../timeline/arcs.js";
import { drawStory } from "../timeline/story.js";
import { Timeline } from "../timeline/timeline.js";
import { WalkControls, legend } from "../walk_controls.js";

const EDGES = ["counterpart", "future", "future_counterpart", "back"];

export async function show(main, { app, query, signal, title }) {
  const { models } = app.about;
  if (models.length < 2) {
    empty(
      main,
      "One model is not enough",
      "Start the explorer with a second one to compare: mmcc serve MODEL CORPUS --against OTHER",
    );
    return;
  }
  const id = query.get("video");
  if (!id) {
    await chooseVideo(main, signal);
    return;
  }
  const video = await api.video(id, signal);
  title(`Compare on ${video.title}`);
  const known = (name, otherwise) => (models.some((model) => model.id === name) ? name : otherwise);
  const state = {
    modality: query.get("modality") === "text" ? "text" : "vision",
    index: Number.parseInt(query.get("index") ?? "", 10),
    direction: query.get("direction") === "backward" ? "backward" : "forward",
  };
  state.a = known(query.get("a"), models[0].id);
  state.b = known(query.get("b"), models.find((model) => model.id !== state.a).id);

  const choice = (name, words) =>
    h(
      "label",
      { class: "model-choice" },
      h("span", { class: "side-name" }, words),
      h(
        "select",
        {
          onchange: (event) => {
            state[name] = event.target.value;
            ask();
          },
        },
        models.map((model) =>
          h("option", { value: model.id, selected: model.id === state[name], title: model.name }, modelName(model)),
        ),
      ),
    );
  const ways = h(
    "select",
    {
      "aria-label": "Direction",
      onchange: () => {
        state.direction = ways.value;
        ask();
      },
    },
    [
      ["forward", "What comes after"],
      ["backward", "What came before"],
    ].map(([value, words]) => h("option", { value, selected: value === state.direction }, words)),
  );
  const nameOf = (which) => modelName(models.find((model) => model.id === state[which]));
  const timeline = new Timeline(video, {
    signal,
    names: [
      ["", ""],
      ["", ""],
    ],
    pick: choose,
    seek: (time) => player.seek(time),
  });
  const player = new Player(video, { signal, tick: (time) => timeline.setTime(time) });
  const controls = new WalkControls(timeline, () => ask());
  const message = h("div", {});
  const table = h("div", { class: "agreement" });
  const stories = [h("section", {}), h("section", {})];

  replace(
    main,
    h(
      "div",
      { class: "head" },
      h(
        "div",
        {},
        h("h1", {}, "Compare"),
        h(
          "p",
          { class: "lead" },
          "Two models walk from the same moment of ",
          foreign("a", video.title, { href: link(["video", id]) }),
          ".",
        ),
      ),
      h(
        "div",
        { class: "actions" },
        choice("a", "A"),
        choice("b", "B"),
        ways,
        h("a", { class: "button", href: link(["compare"]) }, "Other video"),
      ),
    ),
    h("div", { class: "stage" }, player.element, table),
    controls.element,
    message,
    timeline.element,
    legend(),
    h("div", { class: "walks" }, stories),
  );

  if (!Number.isInteger(state.index) || state.index < 0) state.index = timeline.frameAt(video.duration * 0.4);
  const count = () => (state.modality === "text" ? video.utterances.length : video.frames.count);
  state.index = Math.min(state.index, count() - 1);
  const step = (by) => () => choose(state.modality, Math.min(Math.max(state.index + by, 0), count() - 1));
  bind(
    [
      { keys: [" "], show: ["Space"], words: "Play or pause", run: () => player.playOrPause() },
      {
        keys: ["ArrowRight"],
        show: ["←", "→"],
        words: "Walk from the previous or next frame or utterance",
        run: step(1),
      },
      { keys: ["ArrowLeft"], run: step(-1) },
    ],
    signal,
  );
  let running;
  signal.addEventListener("abort", () => running?.abort());
  choose(state.modality, state.index);

  function choose(modality, index) {
    Object.assign(state, { modality, index });
    player.seek(modality === "text" ? video.utterances[index].start : video.frames.times[index]);
    ask();
  }

  async function ask() {
    running?.abort();
    const { signal: mine } = (running = new AbortController());
    rewriteSoon(["compare"], { video: id, ...state });
    const values = { video: id, ...state, ...controls.values };
    let progress;
    try {
      const looked = (model) => (share) => {
        progress ??= loading(message, "", true);
        progress(share, `${nameOf(model)} looks at this video for the first time: ${percent(share)}`);
      };
      const answer = await whenEmbedded(id, state.a, mine, looked("a"), () =>
        whenEmbedded(id, state.b, mine, looked("b"), () => api.compare(values, mine)),
      );
      replace(message);
      draw(answer);
    } catch (failure) {
      failed(message, failure, ask, true);
    }
  }

  function draw(answer) {
    const { direction } = state;
    const [a, b] = [answer.a[direction], answer.b[direction]];
    controls.learned(answer.a.settings);
    timeline.names = [
      [nameOf("a"), "model A"],
      [nameOf("b"), "model B"],
    ];
    timeline.setWalks({ upper: a, lower: b, directions: [direction, direction], unimodal: answer.a.settings.unimodal });
    [a, b].forEach((walk, i) =>
      drawStory(stories[i], video, `${"AB"[i]}: ${nameOf("ab"[i])}`, walk, direction, choose),
    );
    drawAgreement(a, b, direction);
  }

  /** Overlap: the attention that both models give to the same nodes; 100 % if they agree in everything. */
  function drawAgreement(a, b, direction) {
    const rows = EDGES.filter((role) => edge(a, role) && edge(b, role)).map((role) => {
      const [first, second] = [edge(a, role), edge(b, role)];
      const same = first.modality === second.modality;
      const overlap = same
        ? first.weights.reduce((sum, weight, i) => sum + Math.min(weight, second.weights[i]), 0)
        : null;
      const cell = (walk) =>
        h("td", { class: "num" }, `${clock(station(walk, role).time)} · ${percent(weightOf(walk, role))}`);
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, roleName(role, direction, first.modality)),
        cell(a),
        cell(b),
        h("td", { class: "num" }, percent(overlap)),
      );
    });
    const returns = (walk) => h("td", {}, walk.returns ? "yes" : "no");
    replace(
      table,
      h(
        "table",
        {},
        h("caption", {}, "Where each edge leads, with its weight"),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, "Edge"),
            h("th", { scope: "col" }, "A"),
            h("th", { scope: "col" }, "B"),
            h("th", { scope: "col" }, "Overlap"),
          ),
        ),
        h(
          "tbody",
          {},
          rows,
          h("tr", {}, h("th", { scope: "row" }, "returns"), returns(a), returns(b), h("td", {}, "")),
        ),
      ),
    );
  }
}

async function chooseVideo(main, signal) {
  const list = h("ul", { class: "choices" });
  let timer;
  const search = h("input", {
    class: "field",
    id: "search",
    type: "search",
    placeholder: "Search titles and narration",
    "aria-label": "Search titles and narration",
    dir: "auto",
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(load, 160);
    },
  });
  replace(
    main,
    h(
      "div",
      { class: "head" },
      h("div", {}, h("h1", {}, "Compare"), h("p", { class: "lead" }, "Two models on one timeline. Choose a video.")),
      h("div", { class: "search" }, search),
    ),
    list,
  );
  await load();
  async function load() {
    try {
      const { videos } = await api.videos({ q: search.value.trim(), limit: 24 }, signal);
      replace(
        list,
        videos.map((video) =>
          h(
            "li",
            {},
            h(
              "a",
              { href: link(["compare"], { video: video.id }) },
              h("img", { src: video.poster, alt: "", loading: "lazy" }),
              foreign("span", video.title),
              h("span", { class: "quiet num small" }, clock(video.duration)),
            ),
          ),
        ),
      );
      if (!videos.length) replace(list, h("li", { class: "quiet" }, "Nothing found."));
    } catch (failure) {
      failed(list, failure, load, true);
    }
  }
}
