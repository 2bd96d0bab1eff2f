/** What comes next: from a frame of the library or a dropped photo to likely futures, likely pasts, and own steps. */

import { api, untilReady } from "../api.js";
import { foreign, h, replace, setVars } from "../dom.js";
import { clock, percent } from "../format.js";
import { dropPlace, objectUrl } from "../photos.js";
import { link, rewrite } from "../router.js";
import { failed, loading } from "../states.js";

const EXAMPLE = "whisk the eggs\npour the batter into the pan\nflip the pancake\nserve";

export async function show(main, { app, query, signal }) {
  const state = { photo: null, video: null, frame: null };
  const given = h("div", { class: "given" });
  const answer = h("div", { class: "answer", "aria-live": "polite" });
  const steps = h("textarea", {
    class: "field",
    id: "own-steps",
    rows: "6",
    placeholder: EXAMPLE,
    dir: "auto",
    spellcheck: "false",
    oninput: () => {
      keep();
      later();
    },
  });
  steps.value = remembered();
  const ranked = h("div", { "aria-live": "polite" });
  let timer;
  let running;
  let progress = null;
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    running?.abort();
  });

  replace(
    main,
    h(
      "div",
      { class: "head" },
      h(
        "div",
        {},
        h("h1", {}, "What comes next"),
        h(
          "p",
          { class: "lead" },
          "Give the model one picture. It looks through the library for what is likely to follow, and for what is likely to have come before.",
        ),
      ),
    ),
    h(
      "div",
      { class: "ask" },
      h(
        "section",
        { class: "panel", "aria-labelledby": "given-title" },
        h("h2", { id: "given-title" }, "This moment"),
        given,
        app.about.can.upload &&
          dropPlace({
            words: "Drop a photo, or choose one",
            hint: "The server keeps it only while the model looks at it.",
            many: false,
            limits: app.about.limits,
            signal,
            take: ([file]) => {
              Object.assign(state, { photo: file, video: null });
              rewrite(["next"], {});
              ask();
            },
            refuse: (words) => failed(answer, { cause: words }),
          }),
      ),
      h(
        "section",
        { class: "panel", "aria-labelledby": "steps-title" },
        h("h2", { id: "steps-title" }, h("label", { for: "own-steps" }, "Your own steps")),
        h("p", { class: "quiet small" }, "One per line. The model says how likely each of them is still to come."),
        steps,
        ranked,
      ),
    ),
    answer,
  );

  if (query.get("video")) await fromVideo(query.get("video"), Number.parseInt(query.get("frame") ?? "", 10));
  else drawGiven();

  async function fromVideo(id, frame) {
    state.video = await api.video(id, signal);
    state.photo = null;
    state.frame = Math.min(Math.max(Number.isFinite(frame) ? frame : 0, 0), state.video.frames.count - 1);
    await ask();
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (state.photo || state.video) ask(Boolean(answer.querySelector(".hits")));
    }, 400);
  }
  function lines() {
    return steps.value
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
  }
  function keep() {
    try {
      localStorage.setItem("mmcc-steps", steps.value);
    } catch {
      /* not kept then */
    }
  }
  function remembered() {
    try {
      return localStorage.getItem("mmcc-steps") ?? "";
    } catch {
      return "";
    }
  }

  function drawGiven() {
    const { photo, video, frame } = state;
    if (photo) {
      replace(
        given,
        h(
          "figure",
          { class: "given-figure" },
          h("img", { src: objectUrl(photo, signal), alt: "Your photo" }),
          foreign("figcaption", photo.name, { class: "small quiet" }),
        ),
      );
    } else if (video) {
      const time = video.frames.times[frame];
      const slider = h("input", {
        type: "range",
        min: "0",
        max: String(video.frames.count - 1),
        value: String(frame),
        "aria-label": "Frame",
        oninput: () => {
          state.frame = Number(slider.value);
          image.src = api.frame(video.id, state.frame, 480);
          place.textContent = clock(video.frames.times[state.frame]);
          clearTimeout(timer);
          timer = setTimeout(() => ask(), 150);
        },
      });
      const image = h("img", { src: api.frame(video.id, frame, 480), alt: `Frame at ${clock(time)}` });
      const place = h("span", { class: "num" }, clock(time));
      replace(
        given,
        h(
          "figure",
          { class: "given-figure" },
          image,
          h(
            "figcaption",
            { class: "small" },
            h("span", { class: "given-seek" }, slider, place),
            foreign("a", video.title, { href: link(["video", video.id], { t: time }) }),
          ),
        ),
      );
    } else {
      replace(
        given,
        h(
          "p",
          { class: "quiet small" },
          "Nothing chosen yet. Drop a photo below, or open a ",
          h("a", { href: "#/" }, "video"),
          " and choose “What comes next” at one of its moments.",
        ),
      );
    }
  }

  /** Ask; `onlySteps` leaves the gallery as it is while the person types. */
  async function ask(onlySteps = false) {
    running?.abort();
    const { signal: mine } = (running = new AbortController());
    if (!onlySteps && !given.contains(document.activeElement)) drawGiven();
    if (state.video) rewrite(["next"], { video: state.video.id, frame: state.frame });
    if (!answer.querySelector(".hits")) loading(answer, "Looking through the library…");
    answer.setAttribute("aria-busy", "true");
    try {
      await untilReady(
        mine,
        () => api.next(body(), mine),
        (found) => {
          drawSteps(found);
          if (!onlySteps) drawHits(found);
        },
      );
    } catch (failure) {
      failed(answer, failure, () => ask());
    }
    if (running.signal === mine) answer.removeAttribute("aria-busy");
  }

  function body() {
    const { photo, video, frame } = state;
    if (!photo) return { video: video.id, frame, steps: lines(), model: app.model };
    const form = new FormData();
    form.append("photo", photo, photo.name);
    if (lines().length) form.append("steps", lines().join("\n"));
    form.append("model", app.model);
    return form;
  }

  function drawHits({ futures, pasts, warning, library }) {
    if (library?.state === "embedding") {
      progress ??= loading(answer, "");
      progress(
        library.done,
        `The model looks at the library for the first time: ${library.videos} of ${library.total} videos`,
      );
      return;
    }
    progress = null;
    replace(
      answer,
      warning && h("p", { class: "note" }, warning),
      rail("Likely afterwards", futures),
      rail("Likely before", pasts),
    );
  }

  function rail(title, hits) {
    return h(
      "section",
      { class: "section" },
      h("h2", {}, title),
      hits.length
        ? h(
            "ol",
            { class: "hits" },
            hits.map((hit) =>
              h(
                "li",
                { class: "hit" },
                h(
                  "a",
                  { href: link(["video", hit.video.id], { t: hit.time }) },
                  h("img", { src: api.frame(hit.video.id, hit.frame, 240), alt: "", loading: "lazy" }),
                  h(
                    "span",
                    { class: "hit-about" },
                    foreign("span", hit.video.title, { class: "hit-title" }),
                    h("span", { class: "num quiet" }, clock(hit.time)),
                  ),
                  hit.text && foreign("span", `“${hit.text}”`, { class: "hit-words clamp" }),
                ),
              ),
            ),
          )
        : h("p", { class: "quiet" }, "Nothing in this library."),
    );
  }

  function drawSteps({ steps: found, none }) {
    if (!found) {
      replace(ranked);
      return;
    }
    const left = lines().filter((line) => !found.some((step) => step.text === line)); // the model knows none of its words
    const row = (text, probability, kind = "") => {
      const bar = h("span", { class: "bar-fill", "aria-hidden": "true" });
      setVars(bar, { share: probability });
      return h(
        "li",
        { class: `ranked ${kind}` },
        bar,
        foreign("span", text, { class: "ranked-text" }),
        h("span", { class: "num" }, percent(probability)),
      );
    };
    replace(
      ranked,
      h(
        "ol",
        { class: "ranking" },
        found.map((step) => row(step.text, step.probability)),
        none !== null && none !== undefined && row("none of these", none, "none"),
        left.map((text) =>
          h(
            "li",
            { class: "ranked none" },
            foreign("span", text, { class: "ranked-text" }),
            h("span", {}, "unknown words"),
          ),
        ),
      ),
    );
  }
}
