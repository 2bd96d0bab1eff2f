/** Temperature, unimodal, constraint and zoom: every change asks again at once. */

import { h, svg } from "./dom.js";

const COLD = 0.01;
const HOT = 1;

export class WalkControls {
  constructor(timeline, ask) {
    Object.assign(this, { timeline, ask });
    this.warmth = null; // the model's own, until someone moves the slider
    this.heat = h("input", {
      type: "range",
      id: "temperature",
      min: "0",
      max: "100",
      value: "50",
      oninput: () => this.warm(),
    });
    this.degree = h("output", { for: "temperature" }, "");
    this.alone = null; // likewise
    this.unimodal = h("input", {
      type: "checkbox",
      id: "unimodal",
      onchange: () => {
        this.alone = this.unimodal.checked ? 1 : 0;
        ask();
      },
    });
    this.constrain = h("input", {
      type: "checkbox",
      id: "constrain",
      checked: true,
      "aria-describedby": "direction",
      onchange: () => {
        this.explain();
        ask();
      },
    });
    this.direction = h("p", { class: "quiet small", id: "direction" });
    this.zoom = h("input", {
      type: "range",
      id: "zoom",
      min: "0",
      max: "100",
      value: "0",
      oninput: () => timeline.zoom(timeline.mostZoom ** (this.zoom.value / 100)),
    });
    timeline.onzoom = (zoom) => {
      this.zoom.value = String(timeline.mostZoom > 1 ? (100 * Math.log(zoom)) / Math.log(timeline.mostZoom) : 0);
    };
    this.element = h(
      "div",
      { class: "controls" },
      h(
        "div",
        { class: "controls-head" },
        h("h2", {}, "Where a moment leads"),
        this.direction,
      ),
      h(
        "label",
        { class: "slider", title: "Cold: all attention on the best node. Hot: spread over many." },
        "Temperature",
        this.heat,
        this.degree,
      ),
      h(
        "label",
        {
          class: "check",
          title: "Predict from the start alone. Its counterparts are shown, but not used.",
          hidden: !timeline.video.utterances.length, // there is but one
        },
        this.unimodal,
        "One modality",
      ),
      h(
        "label",
        {
          class: "check",
          title:
            "On: what comes after is looked for among later moments only, and what came before among earlier ones, as in training. Off: among all, as in mmcc cycles.",
        },
        this.constrain,
        "Respect time",
      ),
      h("label", { class: "slider", title: "Also: Ctrl and the wheel, or + and −" }, "Zoom", this.zoom),
    );
    this.explain();
  }

  /** A start among later moments only looks surer than the model is: the page says which of the two is shown. */
  explain() {
    const words = this.timeline.video.utterances.length ? "a picture or an utterance" : "a picture";
    this.direction.textContent = this.constrain.checked
      ? `Choose ${words}. What comes after is looked for among later moments only, as in training.`
      : `Choose ${words}. All moments are looked at, as in mmcc cycles: the model has to know by itself what is later.`;
  }

  get values() {
    return { temperature: this.warmth, unimodal: this.alone, constrain: this.constrain.checked ? 1 : 0 };
  }

  warm() {
    this.warmth = Number((COLD * (HOT / COLD) ** (this.heat.value / 100)).toPrecision(2));
    this.degree.textContent = String(this.warmth);
    this.ask();
  }

  /** The first answer says how the model was trained: the controls start there. */
  learned(settings) {
    if (this.alone === null) this.unimodal.checked = Boolean(settings?.unimodal);
    if (this.warmth !== null || !settings?.temperature) return;
    this.heat.value = String((100 * Math.log(settings.temperature / COLD)) / Math.log(HOT / COLD));
    this.degree.textContent = String(Number(settings.temperature.toPrecision(2)));
  }
}

/** What the marks mean, in a line below the timeline. */
export function legend() {
  const sample = (kind, words) =>
    h(
      "span",
      {},
      svg(
        "svg",
        { viewBox: "0 0 26 10", "aria-hidden": "true" },
        svg("path", { d: "M2 9 C2 -2 24 -2 24 9", class: `arc ${kind}`, "stroke-width": "2" }),
      ),
      words,
    );
  return h(
    "p",
    { class: "legend" },
    sample("vision", "lands on a picture"),
    sample("text", "lands on words"),
    sample("return vision", "the way back"),
    sample("faint vision legend-faint", "further candidates"),
    h(
      "span",
      {},
      "Strips: attention along the video, in full colour where it is most; the figure is that of the chosen moment.",
    ),
  );
}
