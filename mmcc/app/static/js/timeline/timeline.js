/** The timeline: pictures, narration and steps along one axis, with walks as arcs and attention as heat.
 *
 *   axis
 *   arcs of the upper walk
 *   heat of its edges
 *   filmstrip            ← click: a walk from this picture
 *   threads
 *   narration            ← click: a walk from this utterance
 *   heat of the first counterpart
 *   steps
 *   heat of the lower walk's edges
 *   arcs of the lower walk
 */

import { api } from "../api.js";
import { h, replace, setVars, svg } from "../dom.js";
import { clock, percent } from "../format.js";
import { onTheme } from "../theme.js";
import { Arcs, Threads, edge, roleName, station, weightOf } from "./arcs.js";
import { Blocks } from "./blocks.js";
import { Filmstrip } from "./filmstrip.js";
import { Heat } from "./heat.js";
import { Scale, centre, nearest } from "./scale.js";

const LATER = ["future", "future_counterpart", "back"];
const DRAG = 4; // pixels before a press becomes a drag

export class Timeline {
  /** `names` are the headings of the two walks; `pick(modality, index)` hears clicks, `seek(time)` the axis. */
  constructor(video, { signal, names, pick, seek }) {
    Object.assign(this, { video, names, pick, seek, walks: {}, start: null });
    const scale = (this.scale = new Scale(video.duration));
    this.axis = svg("svg", { class: "axis", "aria-hidden": "true" });
    this.upper = new Arcs(video, scale, 1);
    this.lower = new Arcs(video, scale, -1);
    this.later = video.utterances.length ? LATER : LATER.filter((role) => role !== "future_counterpart");
    this.heats = {
      upper: new Heat(video, scale, this.later.length),
      first: new Heat(video, scale, 1),
      lower: new Heat(video, scale, this.later.length),
    };
    this.film = new Filmstrip(video, scale);
    this.threads = new Threads(video, scale);
    this.words = new Blocks("words", scale, 2);
    this.steps = new Blocks("steps", scale, 2);
    this.head = h("div", { class: "playhead", "aria-hidden": "true" });
    this.guide = h("div", { class: "start-line", "aria-hidden": "true", hidden: true });
    this.build();
    this.listen(signal);
    this.words.set(video.utterances);
    this.steps.set(video.steps);
  }

  build() {
    const lane = (name, ...children) => h("div", { class: `lane lane-${name}` }, ...children);
    this.content = h(
      "div",
      { class: "tl-content" },
      lane("axis", this.axis),
      lane("upper", this.upper.element),
      lane("heat3", this.heats.upper.element),
      lane("film", this.film.element),
      lane("threads", this.threads.element),
      lane("words", this.words.element),
      lane("heat1", this.heats.first.element),
      lane("steps", this.steps.element),
      lane("heat3", this.heats.lower.element),
      lane("lower", this.lower.element),
      this.guide,
      this.head,
    );
    this.scroller = h("div", { class: "tl-scroll" }, this.content);
    this.labels = h("div", { class: "tl-labels" });
    this.loupe = h("div", { class: "loupe", "aria-hidden": "true", hidden: true });
    this.slider = h("div", {
      class: "tl-slider",
      role: "slider",
      tabindex: "0",
      "aria-label": "Start of the walk",
      "aria-valuemin": "0",
      "aria-valuemax": Math.round(this.video.duration),
      "aria-valuenow": "0",
    });
    this.element = h(
      "section",
      { class: "timeline", "aria-label": "Timeline" },
      this.labels,
      this.slider,
      this.scroller,
      this.loupe,
    );
    this.element.classList.toggle("no-steps", !this.video.steps.length);
    this.element.classList.toggle("no-words", !this.video.utterances.length);
    this.label();
  }

  listen(signal) {
    const resize = new ResizeObserver(() => this.resize());
    resize.observe(this.scroller);
    signal.addEventListener("abort", () => resize.disconnect());
    onTheme(() => this.draw(), signal);
    this.scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.content.addEventListener("click", (event) => this.clicked(event));
    this.content.addEventListener("pointermove", (event) => this.hover(event));
    this.content.addEventListener("pointerdown", (event) => this.grab(event));
    this.content.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel"])
      this.content.addEventListener(end, () => {
        this.held = null;
      });
    this.content.addEventListener("pointerleave", () => {
      this.loupe.hidden = true;
    });
    this.scroller.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(this.scale.zoom * Math.exp(-event.deltaY / 300), this.secondsAt(event));
      },
      { passive: false },
    );
  }

  resize() {
    const { scale, scroller } = this;
    const view = scroller.clientWidth;
    if (!view || view === this.drawn) return;
    this.drawn = scale.view = view;
    setVars(this.content, { view: `${view}px` });
    this.draw();
  }

  get mostZoom() {
    return this.scale.most(this.video.frames.count, this.film.tile);
  }

  /** Zoom about a moment, which stays where it is. */
  zoom(value, about = this.start ? this.start.time : this.secondsInView()) {
    const { scale, scroller } = this;
    const offset = scale.x(about) - scroller.scrollLeft;
    scale.zoom = Math.min(Math.max(value, 1), this.mostZoom);
    this.element.classList.toggle("zoomed", scale.zoom > 1);
    this.draw();
    scroller.scrollLeft = scale.x(about) - Math.min(Math.max(offset, 0), scale.view);
    this.onzoom?.(scale.zoom);
  }

  secondsInView() {
    return this.scale.seconds(this.scroller.scrollLeft + this.scale.view / 2);
  }

  scrolled() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      this.drawMoving();
    });
  }

  drawMoving() {
    const left = this.scroller.scrollLeft;
    this.film.draw(left);
    Object.values(this.heats).forEach((heat) => heat.draw(left));
  }

  draw() {
    if (!this.drawn) return;
    setVars(this.content, { width: `${this.scale.width}px` });
    this.drawAxis();
    this.words.draw();
    this.steps.draw();
    this.film.drawPins();
    this.drawWalks();
    this.drawMoving();
    this.setTime(this.time ?? 0);
  }

  drawWalks() {
    this.upper.draw();
    this.lower.draw();
    this.threads.draw();
    this.guide.hidden = !this.start;
    if (this.start)
      setVars(this.guide, {
        start: `var(--${this.start.modality})`,
        x: `${this.scale.x(centre(this.video, this.start.modality, this.start.index))}px`,
      });
  }

  drawAxis() {
    this.axis.setAttribute("width", this.scale.width);
    replace(
      this.axis,
      this.scale.ticks().map((time) => {
        const x = this.scale.x(time);
        const late = x > this.scale.width - 30;
        return [
          svg("line", { x1: x, x2: x, y1: 19, y2: 26, class: "tick" }),
          svg("text", { x: late ? x - 3 : x + 3, y: 16, class: late ? "tick-label late" : "tick-label" }, clock(time)),
        ];
      }),
    );
  }

  /** Show walks: {upper: WALK, lower: WALK, directions: ["forward", "backward"]}. */
  setWalks({ upper = null, lower = null, directions = ["forward", "backward"], unimodal = false }) {
    this.walks = { upper, lower, directions };
    this.start = station(upper ?? lower, "start");
    this.upper.set(upper, directions[0]);
    this.lower.set(lower, directions[1]);
    this.threads.set([upper, lower], unimodal);
    this.heats.upper.set(this.later.map((role) => edge(upper, role)));
    this.heats.lower.set(this.later.map((role) => edge(lower, role)));
    this.heats.first.set([edge(upper ?? lower, "counterpart")]);
    this.film.pin(
      [station(lower, "future"), station(upper, "future"), this.start]
        .filter((each) => each?.modality === "vision")
        .map((each) => ({ index: each.index, kind: each.role })),
    );
    this.words.light("picked", this.start?.modality === "text" ? this.start.index : -1);
    this.label();
    if (this.start) this.describe(this.start);
    if (!this.drawn) return;
    this.drawWalks();
    this.drawMoving();
  }

  describe({ modality, index, time, text }) {
    this.slider.setAttribute("aria-valuenow", String(Math.round(time)));
    this.slider.setAttribute(
      "aria-valuetext",
      `${modality === "text" ? `utterance ${index + 1}` : `frame ${index + 1}`} at ${clock(time)}${text ? `: ${text}` : ""}`,
    );
  }

  /** The names beside the lanes, with the weight of the node that each edge chose. */
  label() {
    const { upper, lower, directions = ["forward", "backward"] } = this.walks;
    const strip = (walk, role, direction) => {
      const over = edge(walk, role);
      return h(
        "div",
        { class: "strip-label" },
        roleName(role, direction, over?.modality ?? "text"),
        h("span", { class: `num ${over?.modality ?? ""}` }, over ? percent(weightOf(walk, role)) : ""),
      );
    };
    const strips = (walk, direction) =>
      h(
        "div",
        { class: "strip-labels" },
        this.later.map((role) => strip(walk, role, direction)),
      );
    const name = ([words, more], kind) => h("div", { class: kind, dir: "auto" }, words, h("small", {}, more));
    replace(
      this.labels,
      h("div", {}),
      name(this.names[0], "walk-label"),
      strips(upper, directions[0]),
      h("div", { class: "lane-label vision" }, "Pictures"),
      h("div", {}),
      h("div", { class: "lane-label text" }, "Narration"),
      h("div", { class: "strip-labels" }, strip(upper ?? lower, "counterpart", directions[0])),
      h("div", { class: "lane-label" }, "Steps"),
      strips(lower, directions[1]),
      name(this.names[1], "walk-label low"),
    );
  }

  setTime(seconds) {
    this.time = seconds;
    setVars(this.head, { x: `${this.scale.x(seconds)}px` });
    const now = this.video.utterances.findLastIndex(({ start, end }) => start <= seconds && seconds < end);
    if (now !== this.saying) this.words.light("now", (this.saying = now));
    return now;
  }

  /** Keep a moment in sight while the video plays or the keyboard moves on. */
  reveal(seconds) {
    const { scroller, scale } = this;
    const x = scale.x(seconds) - scroller.scrollLeft;
    if (scale.zoom > 1 && (x < 24 || x > scale.view - 24)) scroller.scrollLeft = scale.x(seconds) - scale.view / 3;
  }

  secondsAt(event) {
    return this.scale.seconds(event.clientX - this.content.getBoundingClientRect().left);
  }

  frameAt(seconds) {
    // the frame on screen then, as its tile shows it
    const { times } = this.video.frames;
    const index = nearest(times, seconds);
    return times[index] > seconds && index > 0 ? index - 1 : index;
  }

  clicked(event) {
    if (this.dragged) return;
    const seconds = this.secondsAt(event);
    if (event.target.closest(".lane-words")) {
      const index = this.words.at(event, seconds);
      if (index >= 0) this.pick("text", index);
    } else if (event.target.closest(".lane-axis, .lane-steps")) this.seek(seconds);
    else if (this.video.frames.count) this.pick("vision", this.frameAt(seconds));
  }

  /** Along the axis a drag scrubs; along the pictures the walk follows. A finger pans a timeline that is zoomed. */
  grab(event) {
    this.dragged = false;
    const axis = event.target.closest(".lane-axis");
    const pans = event.pointerType === "touch" && this.scale.zoom > 1;
    if (event.button !== 0 || !(axis || (!pans && event.target.closest(".lane-film")))) return;
    this.held = { axis, pointer: event.pointerId, x: event.clientX };
  }

  drag(event) {
    const { held } = this;
    if (held?.pointer !== event.pointerId || (!this.dragged && Math.abs(event.clientX - held.x) < DRAG)) return;
    if (!this.dragged) this.content.setPointerCapture(event.pointerId);
    this.dragged = true; // the click at its end is none
    const seconds = this.secondsAt(event);
    const frame = this.frameAt(seconds);
    if (held.axis) this.seek(seconds);
    else if (this.video.frames.count && frame !== held.frame) this.pick("vision", (held.frame = frame));
  }

  /** Under the pointer: the picture and what is said, or how much attention this cell has. */
  hover(event) {
    if (event.pointerType === "touch" || !this.video.frames.count) return;
    const seconds = this.secondsAt(event);
    const canvas = event.target.closest("canvas");
    const heat = canvas && Object.values(this.heats).find((each) => each.element === canvas);
    const cell = heat?.at(event.offsetY, seconds);
    const frame = this.frameAt(seconds);
    if (this.shown !== frame || !this.loupe.firstChild) {
      this.shown = frame;
      replace(
        this.loupe,
        h("img", { src: api.frame(this.video.id, frame, 192), alt: "" }),
        h("div", { class: "loupe-words" }),
      );
    }
    const spoken = event.target.closest(".words .block");
    const said = spoken
      ? this.video.utterances[spoken.dataset.index]
      : this.video.utterances.find(({ start, end }) => start <= seconds && seconds < end);
    this.loupe.lastChild.replaceChildren(
      h(
        "div",
        { class: "num loupe-time" },
        clock(seconds, true),
        cell ? h("b", { class: cell.modality }, ` ${percent(cell.weight)}`) : "",
      ),
      h(
        "div",
        { dir: "auto", class: "clamp" },
        cell?.modality === "text" ? this.video.utterances[cell.index].text : (said?.text ?? ""),
      ),
    );
    const box = this.element.getBoundingClientRect();
    const x = Math.min(Math.max(event.clientX - box.left, 92), box.width - 92);
    setVars(this.loupe, {
      x: `${x}px`,
      y: `${(canvas ?? this.film.element).getBoundingClientRect().top - box.top - 8}px`,
    });
    this.loupe.hidden = Boolean(event.target.closest(".lane-steps, .lane-axis"));
  }
}
