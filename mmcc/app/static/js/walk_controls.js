/** Temperature, unimodal, constraint and zoom: every change asks again at once. */

import { h } from "./dom.js";

const COLD = 0.01;
const HOT = 1;

export class WalkControls {
  constructor(timeline, ask) {
    this.ask = ask;
    this.warmth = null; // the model's own, until someone moves the slider
    this.heat = h("input", { type: "range", id: "temperature", min: "0", max: "100", value: "50", oninput: () => this.warm() });
    this.degree = h("output", { for: "temperature" }, "");
    this.unimodal = h("input", { type: "checkbox", id: "unimodal", onchange: ask });
    this.constrain = h("input", { type: "checkbox", id: "constrain", onchange: ask });
    this.zoom = h("input", { type: "range", id: "zoom", min: "0", max: "100", value: "0", oninput: () => timeline.zoom(timeline.mostZoom ** (this.zoom.value / 100)) });
    timeline.onzoom = (zoom) => { this.zoom.value = String(timeline.mostZoom > 1 ? (100 * Math.log(zoom)) / Math.log(timeline.mostZoom) : 0); };
    this.element = h("div", { class: "controls" },
      h("h2", {}, "Where a moment leads"),
      h("label", { class: "slider", title: "Cold: all attention on the best node. Hot: spread over many." }, "Temperature", this.heat, this.degree),
      h("label", { class: "check", title: "Skip the counterparts: pictures lead to pictures, words to words." }, this.unimodal, "One modality"),
      h("label", { class: "check", title: "Allow only nodes after the start on the way out, and before on the way back, as in training." }, this.constrain, "Respect time"),
      h("label", { class: "slider", title: "Also: Ctrl and the wheel, or + and −" }, "Zoom", this.zoom));
  }

  get values() {
    return { temperature: this.warmth, unimodal: this.unimodal.checked ? 1 : 0, constrain: this.constrain.checked ? 1 : 0 };
  }

  warm() {
    this.warmth = Number((COLD * (HOT / COLD) ** (this.heat.value / 100)).toPrecision(2));
    this.degree.textContent = String(this.warmth);
    this.ask();
  }

  /** The first answer says at which temperature the model was trained: the slider starts there. */
  learned(settings) {
    if (this.warmth !== null || !settings?.temperature) return;
    this.heat.value = String((100 * Math.log(settings.temperature / COLD)) / Math.log(HOT / COLD));
    this.degree.textContent = String(Number(settings.temperature.toPrecision(2)));
  }
}
