/** The lane of pictures: as many frames as fit side by side, and only those in sight have images. */

import { api } from "../api.js";
import { h, setVars } from "../dom.js";
import { nearest } from "./scale.js";

const BESIDE = 1; // views to the left and right that are kept ready for scrolling

export class Filmstrip {
  constructor(video, scale) {
    Object.assign(this, { video, scale, tiles: new Map() });
    this.element = h("div", { class: "film", "aria-hidden": "true" });
  }

  /** Tiles keep the frame's shape; a tile shows the frame at its left edge. */
  get tile() {
    const { width, height } = this.video.frames;
    return Math.max(28, Math.round(this.element.clientHeight * Math.min(width / height || 1, 1.8)));
  }

  draw(left) {
    const { scale, video, tile } = this;
    const { times } = video.frames;
    const wanted = new Map();
    const first = Math.max(0, Math.floor((left - BESIDE * scale.view) / tile));
    const last = Math.min(Math.ceil(scale.width / tile) - 1, Math.ceil((left + (1 + BESIDE) * scale.view) / tile));
    for (let i = first; i <= last && times.length; i++) wanted.set(i, nearest(times, scale.seconds((i + 0.25) * tile)));
    for (const [i, image] of this.tiles) {
      if (wanted.get(i) === image.frame) continue;
      image.remove();
      this.tiles.delete(i);
    }
    for (const [i, frame] of wanted) {
      const image = this.tiles.get(i) ?? this.place(i, frame);
      setVars(image, { x: `${i * tile}px`, w: `${tile}px` });
    }
  }

  place(i, frame) {
    const image = h("img", { class: "tile", alt: "", decoding: "async", src: api.frame(this.video.id, frame, 96), draggable: "false" });
    image.frame = frame;
    this.tiles.set(i, image);
    this.element.append(image);
    return image;
  }
}
