/** Attention as strips: one row per edge, along the whole video; the stronger the colour, the more attention.
 *
 * A canvas, because a slider of the temperature redraws thousands of cells; as wide as the view, because a canvas as
 * wide as a long video at full zoom would be beyond what browsers allow.
 */

import { h } from "../dom.js";
import { token } from "../theme.js";
import { spans } from "./scale.js";

const ROW = 14;
const SPACE = 3;

/** How strong a cell is: faint up to an even share, full at the row's peak. So a row without a preference stays pale,
 * though its largest weight is, by a hair, larger than the rest. */
function shade(weight, { most, weights }) {
  const even = 1 / weights.length;
  const above = Math.max(0, weight - even) / Math.max(most - even, 2 * even);
  return 0.1 * Math.min(1, weight / even) + 0.9 * Math.min(1, above);
}

export class Heat {
  constructor(video, scale, count) {
    Object.assign(this, { video, scale, count, edges: [] });
    this.element = h("canvas", { class: "heat", "aria-hidden": "true" });
  }

  /** Edges, first on top; null leaves its row empty. */
  set(edges) {
    this.edges = edges.map(
      (edge) => edge && { ...edge, spans: spans(this.video, edge.modality), most: Math.max(...edge.weights, 1e-9) },
    );
  }

  draw(left) {
    const ratio = devicePixelRatio || 1;
    const { element, scale } = this;
    const height = this.count * ROW;
    element.width = Math.round(scale.view * ratio);
    element.height = Math.round(height * ratio);
    const context = element.getContext("2d");
    context.scale(ratio, ratio);
    const ground = token("sunken");
    for (let row = 0; row < this.count; row++) {
      const y = row * ROW + SPACE / 2;
      context.globalAlpha = 1;
      context.fillStyle = ground;
      context.fillRect(0, y, scale.view, ROW - SPACE);
      const edge = this.edges[row];
      if (!edge) continue;
      context.fillStyle = token(edge.modality);
      edge.weights.forEach((weight, i) => {
        const from = scale.x(edge.spans[i]?.[0] ?? 0) - left;
        const to = scale.x(edge.spans[i]?.[1] ?? 0) - left;
        if (to < 0 || from > scale.view) return;
        context.globalAlpha = shade(weight, edge);
        context.fillRect(from, y, Math.max(to - from - (to - from > 4 ? 0.75 : 0), 1), ROW - SPACE);
      });
    }
  }

  /** The edge and node under a point of the canvas, to tell its weight. */
  at(y, seconds) {
    const edge = this.edges[Math.floor(y / ROW)];
    const index = edge ? edge.spans.findIndex(([from, to]) => seconds >= from && seconds < to) : -1;
    return index < 0 ? null : { role: edge.role, modality: edge.modality, index, weight: edge.weights[index] };
  }
}
