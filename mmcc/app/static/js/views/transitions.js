/** Transitions: the clearest before → after pairs, of one video or of the library, as a gallery. */

import { api, untilReady, whenEmbedded } from "../api.js";
import { foreign, h, icon, replace, toast } from "../dom.js";
import { apart, clock, count, factor, percent } from "../format.js";
import { link } from "../router.js";
import { playSpan } from "../span.js";
import { empty, failed, loading } from "../states.js";
import { download } from "../zip.js";

const TOP = 48;
const OF_ONE = 24; // of one video: further pairs are the first ones again, a little later
const MOST = 100; // that the server gives
const EACH = 3; // of one video in the gallery of all: the clearest video would else fill it

export async function show(main, { app, query, signal, title }) {
  const id = query.get("video");
  const video = id && (await api.video(id, signal));
  if (video) title(`Transitions of ${video.title}`);
  const gallery = h("div", { "aria-live": "polite" });
  const lead = video
    ? ["The clearest before → after pairs of ", foreign("a", video.title, { href: link(["video", id]) }), "."]
    : ["The clearest before → after pairs of the library."];
  replace(
    main,
    h(
      "div",
      { class: "head" },
      h("div", {}, h("h1", {}, "Transitions"), h("p", { class: "lead" }, lead)),
      video &&
        h(
          "div",
          { class: "actions" },
          h("a", { class: "button", href: link(["transitions"]) }, "All videos"),
          exporting("Chapters for YouTube", "chapters.txt"),
          exporting("Chapters for players", "chapters.vtt"),
          exporting("Step guide", "guide.html"),
        ),
    ),
    gallery,
  );
  const looking = ({ videos, total }) =>
    `The model looks at the library for the first time: ${videos} of ${count(total, "video")}. The best pairs so far:`;
  await load();

  function exporting(words, file) {
    const button = h(
      "button",
      {
        class: "button",
        type: "button",
        onclick: async () => {
          button.disabled = true;
          try {
            download(await api.exported(id, file, app.model), `${video.title.slice(0, 80)} ${file}`);
          } catch (failure) {
            toast(failure.cause ?? "This could not be exported.");
          }
          button.disabled = false;
        },
      },
      icon("down"),
      words,
    );
    return button;
  }

  async function load() {
    const progress = loading(gallery, "Looking for changes…");
    try {
      const request = () => api.transitions(id, { top: id ? OF_ONE : MOST, model: app.model }, signal);
      if (id)
        draw(
          await whenEmbedded(
            id,
            app.model,
            signal,
            (share) => progress(share, `The model looks at this video for the first time: ${percent(share)}`),
            request,
          ),
        );
      else
        await untilReady(signal, request, (answer) => {
          if (answer.changes.length || answer.library?.state === "ready") draw(answer);
          else progress(answer.library.done, looking(answer.library));
        });
    } catch (failure) {
      failed(gallery, failure, load);
    }
  }

  /** At most a few of each video, best first. */
  function chosen(changes) {
    const of = new Map();
    return changes
      .filter(({ video: { id: key } }) => of.set(key, (of.get(key) ?? 0) + 1).get(key) <= EACH)
      .slice(0, TOP);
  }

  function draw({ changes: all, warning, library }) {
    const changes = id ? all : chosen(all);
    if (!changes.length) {
      empty(
        gallery,
        "No clear change",
        `The model sees nothing in ${id ? "this video" : "these videos"} that turns into something else.`,
      );
      return;
    }
    const underWay = library?.state === "embedding";
    replace(
      gallery,
      warning && h("p", { class: "note" }, warning),
      underWay && h("p", { class: "quiet small num", role: "status" }, looking(library)),
      h(
        "p",
        { class: "quiet small num gallery-count" },
        `${count(changes.length, "pair")}, best first. × chance: how many times more likely than for a model that knows nothing.`,
      ),
      h(
        "ol",
        { class: "gallery" },
        changes.map((change) => pair(change, change.video ?? video)),
      ),
    );
  }

  function pair(change, of) {
    const side = (frame, time, text, words) =>
      h(
        "figure",
        { class: "side" },
        h("img", {
          src: api.frame(of.id, frame, 240),
          alt: `${words} at ${clock(time)}`,
          loading: "lazy",
          decoding: "async",
        }),
        h(
          "figcaption",
          {},
          h("span", { class: "num side-time" }, clock(time)),
          foreign("span", text ?? "", { class: "clamp" }),
        ),
      );
    return h(
      "li",
      { class: "pair" },
      h(
        "button",
        {
          class: "pair-play",
          type: "button",
          title: "Play this change",
          onclick: () => playSpan(of, change, signal).catch((failure) => failed(gallery, failure, load)),
        },
        h("span", { class: "visually-hidden" }, "Play the change: "),
        h(
          "span",
          { class: "sides" },
          side(change.from_frame, change.from_time, change.from_text, "Before"),
          h("span", { class: "turns" }, icon("arrow")),
          side(change.to_frame, change.to_time, change.to_text, "After"),
        ),
      ),
      h(
        "p",
        { class: "pair-about num" },
        h("strong", {}, `× ${factor(change.score)}`),
        h("span", {}, apart(change.from_time, change.to_time)),
        foreign("a", id ? "open" : of.title, {
          href: link(["video", of.id], { t: change.from_time }),
          "aria-label": `Open ${of.title} at ${clock(change.from_time)}`,
        }),
      ),
    );
  }
}
