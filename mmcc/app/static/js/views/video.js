/** Video: the player, its narration, and the signature of this page: walks from any moment, as arcs and heat. */

import { Failure, api, whenEmbedded } from "../api.js";
import { announce, foreign, h, replace } from "../dom.js";
import { clock, count, percent } from "../format.js";
import { bind } from "../keys.js";
import { Player } from "../player.js";
import { link, rewrite, rewriteSoon } from "../router.js";
import { failed, loading } from "../states.js";
import { Timeline } from "../timeline/timeline.js";
import { drawStory, verdict } from "../timeline/story.js";
import { Transcript } from "../transcript.js";
import { WalkControls, legend } from "../walk_controls.js";

const NAMES = [
  ["What comes after", "and the way back"],
  ["What came before", "and the way back"],
];

export async function show(main, { app, id, query, signal, title }) {
  const video = await api.video(id, signal);
  title(video.title);
  const state = { modality: "vision", index: null };

  const timeline = new Timeline(video, { signal, names: NAMES, pick: choose, seek: (time) => player.seek(time) });
  const transcript = new Transcript(video.utterances, (index) => choose("text", index));
  const moment = h("time", { class: "num" }, clock(0, true));
  let saying = -1;
  const player = new Player(video, {
    signal,
    tick: (time, playing) => {
      timeline.setTime(time);
      if (timeline.saying !== saying) {
        saying = timeline.saying;
        transcript.mark("now", saying);
        transcript.reveal(saying);
      }
      if (playing) timeline.reveal(time);
      moment.textContent = clock(time, true);
    },
  });
  const controls = new WalkControls(timeline, walk);
  const next = h("a", { class: "button", href: link(["next"], { video: id }) }, "What comes next");
  const after = h("section", { "aria-label": "What comes after" });
  const before = h("section", { "aria-label": "What came before" });
  const message = h("div", {});
  const caution = h("p", { class: "note", hidden: true });

  replace(
    main,
    h(
      "div",
      { class: "head" },
      h(
        "div",
        {},
        foreign("h1", video.title),
        h(
          "p",
          { class: "lead small num" },
          [
            video.task,
            clock(video.duration),
            count(video.frames.count, "frame"),
            count(video.utterances.length, "utterance"),
            video.steps.length ? `${count(video.steps.length, "labelled step")}` : null,
          ]
            .filter(Boolean)
            .join(" · "),
        ),
      ),
      h(
        "div",
        { class: "actions" },
        h(
          "button",
          { class: "button", type: "button", title: "Copy a link to this moment", onclick: copyLink },
          "Link to ",
          moment,
        ),
        next,
        h("a", { class: "button", href: link(["transitions"], { video: id }) }, "Transitions"),
        app.about.can.compare && h("a", { class: "button", href: link(["compare"], { video: id }) }, "Compare"),
        app.about.can.mark && h("a", { class: "button", href: link(["mark", id]) }, "Mark steps"),
      ),
    ),
    h("div", { class: "stage" }, player.element, transcript.element),
    controls.element,
    message,
    timeline.element,
    legend(),
    caution,
    h("div", { class: "walks" }, after, before),
  );
  if (video.status === "partial")
    message.append(h("p", { class: "note" }, "Only a part of this file could be decoded."));

  function copyLink() {
    keepAddress(rewrite);
    navigator.clipboard?.writeText(location.href).then(
      () => announce("Link copied"),
      () => {},
    );
    moment.parentElement.classList.add("done");
    setTimeout(() => moment.parentElement?.classList.remove("done"), 900);
  }

  function keepAddress(keep) {
    const words = state.modality === "text" ? { u: state.index } : {};
    keep(["video", id], { t: Number(player.seconds.toFixed(1)), ...words });
  }

  /** A person chose a frame or an utterance: the player goes there, and the walk starts from it. */
  function choose(modality, index) {
    if (index < 0) return;
    Object.assign(state, { modality, index });
    const time = modality === "text" ? video.utterances[index].start : video.frames.times[index];
    player.seek(time);
    timeline.reveal(time);
    transcript.mark("picked", modality === "text" ? index : -1);
    if (modality === "text") transcript.focusable(index);
    showWords();
    keepAddress(rewriteSoon);
    walk();
  }

  /** Scroll the narration to what is said now, or was said last. */
  function showWords() {
    transcript.reveal(video.utterances.findLastIndex(({ start }) => start <= player.seconds + 0.01));
  }

  let running;
  signal.addEventListener("abort", () => running?.abort());

  /** Ask for the walks of the present choice. A newer question cancels an older one. */
  async function walk() {
    if (state.index === null || !video.frames.count) return;
    next.href = link(["next"], { video: id, frame: timeline.frameAt(player.seconds) });
    running?.abort();
    const mine = (running = new AbortController());
    const values = {
      modality: state.modality,
      index: state.index,
      model: app.model,
      direction: "both",
      ...controls.values,
    };
    let progress;
    const slow = setTimeout(() => timeline.element.setAttribute("aria-busy", "true"), 250);
    try {
      const answer = await whenEmbedded(
        id,
        app.model,
        mine.signal,
        (share) => {
          progress ??= loading(message, "", true);
          progress(share, `The model looks at this video for the first time: ${percent(share)}`);
        },
        () => api.cycle(id, values, mine.signal),
      );
      if (progress || message.querySelector(".failed")) replace(message);
      drawWalks(answer);
    } catch (failure) {
      failed(message, failure, walk, true);
    } finally {
      clearTimeout(slow);
      if (running === mine) timeline.element.removeAttribute("aria-busy");
    }
  }

  function drawWalks({ forward, backward, settings, warning }) {
    caution.textContent = warning ?? "";
    caution.hidden = !warning;
    controls.learned(settings);
    timeline.setWalks({ upper: forward, lower: backward, unimodal: settings.unimodal });
    if (forward) drawStory(after, video, "What comes after", forward, "forward", choose);
    if (backward) drawStory(before, video, "What came before", backward, "backward", choose);
    announce(
      [forward && `After: ${verdict(forward)}`, backward && `Before: ${verdict(backward)}`].filter(Boolean).join(". "),
    );
  }

  const step = (by) => () => {
    const { times } = video.frames;
    const at = state.modality === "vision" && state.index !== null ? state.index : timeline.frameAt(player.seconds);
    choose("vision", Math.min(Math.max(at + by, 0), times.length - 1));
  };
  const utterance = (by) => () => {
    const { utterances } = video;
    const near = utterances.findLastIndex(({ start }) => start <= player.seconds + 0.01);
    const at = state.modality === "text" && state.index !== null ? state.index : near - (by > 0 ? 0 : -1);
    if (utterances.length) choose("text", Math.min(Math.max(at + by, 0), utterances.length - 1));
  };
  bind(
    [
      { keys: [" "], show: ["Space"], words: "Play or pause", run: () => player.playOrPause() },
      {
        keys: ["ArrowRight"],
        shift: false,
        show: ["←", "→"],
        words: "Walk from the previous or next frame",
        run: step(1),
      },
      { keys: ["ArrowLeft"], shift: false, run: step(-1) },
      { keys: ["ArrowRight"], shift: true, show: ["Shift", "←", "→"], words: "Ten frames at once", run: step(10) },
      { keys: ["ArrowLeft"], shift: true, run: step(-10) },
      { keys: ["ArrowDown"], show: ["↑", "↓"], words: "Walk from the previous or next utterance", run: utterance(1) },
      { keys: ["ArrowUp"], run: utterance(-1) },
      {
        keys: ["Enter"],
        show: ["Enter"],
        words: "Walk from the moment that the player shows",
        run: () => choose("vision", timeline.frameAt(player.seconds)),
      },
      {
        keys: ["+", "="],
        show: ["+", "−"],
        words: "Zoom the timeline",
        run: () => timeline.zoom(timeline.scale.zoom * 1.5),
      },
      { keys: ["-", "_"], run: () => timeline.zoom(timeline.scale.zoom / 1.5) },
    ],
    signal,
  );

  if (!video.frames.count)
    throw new Failure(422, {
      cause: "This video has no frames to look at.",
      remedy: "It may be a corpus of captions alone.",
    });
  begin();

  /** From ?t= or ?u=; else from the middle of a labelled step, or of the video: at its edges little happens. */
  function begin() {
    const t = Number.parseFloat(query.get("t"));
    const u = Number.parseInt(query.get("u"), 10);
    const inside = video.steps[Math.floor(video.steps.length / 3)] ?? { start: 0, end: video.duration * 0.8 };
    const time = Number.isFinite(t) ? t : (inside.start + inside.end) / 2;
    if (video.utterances[u]) choose("text", u);
    else {
      Object.assign(state, { modality: "vision", index: timeline.frameAt(time) });
      player.seek(Number.isFinite(t) ? t : video.frames.times[state.index]);
      showWords();
      walk();
    }
  }
}
