/** Walks as arcs.
 *
 * Space carries the meaning: arcs above the lanes belong to one walk (what comes after, or model A), arcs below to
 * the other (what came before, or model B), and the threads between pictures and narration join what the model takes
 * for the same thing. Colour says where an arc lands: on a picture or on words. Out is solid, the way back dashed.
 * Fainter arcs lead to the nodes with the next most weight: attention is soft, one arc alone would feign certainty.
 */

import { svg } from "../dom.js";
import { apart, clock, percent } from "../format.js";
import { centre } from "./scale.js";

const narrow = matchMedia("(max-width: 720px)");
const FAINT = 5; // further arcs per edge
const LEAST = 0.02; // of the weight, to be drawn at all

export const ROLES = {
  forward: { counterpart: "its words", future: "after", future_counterpart: "words then", back: "way back" },
  backward: { counterpart: "its words", future: "before", future_counterpart: "words then", back: "way back" },
};

/** What an edge is called; the counterpart of an utterance is a picture. */
export function roleName(role, direction, modality) {
  const name = ROLES[direction][role] ?? role;
  return modality === "vision" ? name.replace("words", "picture") : name;
}

export function station(walk, role) {
  return walk?.stations.find((each) => each.role === role) ?? null;
}

export function edge(walk, role) {
  return walk?.edges.find((each) => each.role === role) ?? null;
}

export function weightOf(walk, role) {
  const at = station(walk, role);
  return at && edge(walk, role) ? (edge(walk, role).weights[at.index] ?? null) : null;
}

export class Arcs {
  /** `side`: 1 draws above its ground, -1 below. */
  constructor(video, scale, side) {
    Object.assign(this, { video, scale, side, walk: null, direction: "forward" });
    this.element = svg("svg", { class: "arcs", "aria-hidden": "true" });
  }

  set(walk, direction) {
    Object.assign(this, { walk, direction });
  }

  draw() {
    const { element, walk, scale } = this;
    const height = (this.height = element.parentElement.clientHeight);
    element.setAttribute("width", scale.width);
    element.setAttribute("height", height);
    element.replaceChildren();
    this.labels = [];
    const start = station(walk, "start");
    const future = station(walk, "future");
    if (!start || !future) return;
    const from = this.x(start);
    const there = this.x(future);
    this.far = this.longest(from, there);
    this.faint(edge(walk, "future"), from, future.index, 1);
    this.arc(
      from,
      there,
      "out",
      future.modality,
      1,
      weightOf(walk, "future"),
      `${roleName("future", this.direction)} ${percent(weightOf(walk, "future"))} · ${apart(start.time, future.time)}`,
    );
    const back = station(walk, "back");
    if (back) {
      const landing = this.x(back);
      this.faint(edge(walk, "back"), there, back.index, 0.55);
      this.arc(
        there,
        landing,
        "return",
        back.modality,
        0.55,
        weightOf(walk, "back"),
        walk.returns ? "" : `back at ${clock(back.time)}`,
      );
      this.dot(landing, back.modality, walk.returns ? "home" : "astray");
    }
    this.dot(there, future.modality, "there");
    this.dot(from, start.modality, "start");
  }

  x(node) {
    return this.scale.x(centre(this.video, node.modality, node.index));
  }

  /** The longest way of this walk, or a fifth of the view if that is more: it gets all the height there is. */
  longest(from, there) {
    const ways = [
      ...this.others(edge(this.walk, "future"), -1).map(
        ([, i]) => this.x({ modality: edge(this.walk, "future").modality, index: i }) - from,
      ),
      there - from,
    ];
    const back = station(this.walk, "back");
    if (back) ways.push(this.x(back) - there);
    return Math.max(this.scale.view / 5, ...ways.map(Math.abs));
  }

  /** Farther is higher. */
  path(from, to, share) {
    const reach = Math.min(1, Math.abs(to - from) / this.far);
    const room = this.height - (narrow.matches ? 40 : 22); // on a phone the name of the walk stands there, too
    const rise = (26 + (room - 26) * Math.sqrt(reach)) * share;
    const ground = this.side > 0 ? this.height : 0;
    const top = ground - this.side * rise * (4 / 3);
    const bow = from === to ? 14 : 0; // a walk that stays where it is still shows as a loop
    return {
      d: `M${from} ${ground} C${from - bow} ${top} ${to + bow} ${top} ${to} ${ground}`,
      apex: [(from + to) / 2, ground - this.side * rise],
    };
  }

  arc(from, to, kind, modality, share, weight, words) {
    const { d, apex } = this.path(from, to, share);
    const line = svg("path", {
      d,
      class: `arc ${kind} ${modality}`,
      "stroke-width": (1.5 + 3 * Math.sqrt(weight ?? 0)).toFixed(2),
    });
    this.element.append(line);
    if (!words) return;
    const half = words.length * 3.4;
    const x = Math.min(Math.max(apex[0], half), this.scale.width - half);
    const y = apex[1] + (this.side > 0 ? -7 : 16);
    const crosses = ([left, right, at]) => x - half < right && x + half > left && Math.abs(y - at) < 15;
    if (this.labels.some(crosses)) return; // the story below has the same words
    this.labels.push([x - half, x + half, y]);
    this.element.append(svg("text", { x, y, class: `arc-label ${modality}` }, words));
  }

  others(over, best) {
    const nodes = (over?.weights ?? [])
      .map((weight, i) => [weight, i])
      .filter(([weight, i]) => i !== best && weight >= LEAST);
    return nodes.sort((a, b) => b[0] - a[0]).slice(0, FAINT);
  }

  faint(over, from, best, share) {
    for (const [weight, i] of this.others(over, best)) {
      const { d } = this.path(from, this.x({ modality: over.modality, index: i }), share);
      this.element.append(
        svg("path", { d, class: `arc faint ${over.modality}`, "stroke-opacity": (0.12 + 0.6 * weight).toFixed(3) }),
      );
    }
  }

  dot(x, modality, kind) {
    const y = this.side > 0 ? this.height - 5 : 5;
    this.element.append(svg("circle", { cx: x, cy: y, r: kind === "start" ? 5 : 4, class: `dot ${kind} ${modality}` }));
  }
}

/** The threads between pictures and narration, for both walks at once. */
export class Threads {
  constructor(video, scale) {
    Object.assign(this, { video, scale, walks: [] });
    this.element = svg("svg", { class: "threads", "aria-hidden": "true" });
  }

  /** `unused`: the prediction does without these counterparts. */
  set(walks, unused) {
    this.walks = walks.filter(Boolean);
    this.element.classList.toggle("unused", unused);
  }

  draw() {
    const { element, scale } = this;
    this.height = element.parentElement.clientHeight;
    element.setAttribute("width", scale.width);
    element.setAttribute("height", this.height);
    element.replaceChildren();
    this.walks.forEach((walk, i) => {
      // Both walks begin with the same counterpart, unless two models are compared.
      if (i === 0 || station(walk, "counterpart")?.index !== station(this.walks[0], "counterpart")?.index)
        this.thread(walk, "start", "counterpart");
      this.thread(walk, "future", "future_counterpart");
    });
  }

  thread(walk, fromRole, toRole) {
    const from = station(walk, fromRole);
    const to = station(walk, toRole);
    if (!from || !to || from.modality === to.modality) return;
    const [picture, words] = from.modality === "vision" ? [from, to] : [to, from];
    const top = this.scale.x(centre(this.video, "vision", picture.index));
    const bottom = this.scale.x(centre(this.video, "text", words.index));
    const middle = this.height / 2;
    const weight = weightOf(walk, toRole) ?? 0;
    const strong = fromRole === "start" ? "first" : "later";
    this.element.append(
      svg("path", {
        d: `M${top} 0 C${top} ${middle} ${bottom} ${middle} ${bottom} ${this.height}`,
        class: `thread ${strong} ${to.modality}`,
        "stroke-width": (1.25 + 2.5 * Math.sqrt(weight)).toFixed(2),
      }),
      svg("circle", { cx: top, cy: 3, r: 3, class: "dot there vision" }),
      svg("circle", { cx: bottom, cy: this.height - 3, r: 3, class: "dot there text" }),
    );
  }
}
