/** The lane of pictures: as many frames as fit side by side, and only those in sight have images. */

import { api } from "../api.js";
import { h, setVars } from "../dom.js";
import { centre, nearest } from "./scale.js";

const BESIDE = 1; // views to the left and right that are kept ready for scrolling

export class Filmstrip {
  constructor(video, scale) {
    Object.assign(this, { video, scale, tiles: new Map(), pins: [] });
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

  /** The frames that a walk visits, each at its own moment and above the rest: a tile next to it may show another.
   * `pins`: [{index, kind}]; the last lies on top. */
  pin(pins) {
    this.pins.forEach(({ image }) => image.remove());
    this.pins = pins.map(({ index, kind }) => ({
      index,
      image: h("img", { class: `pin ${kind}`, alt: "", src: api.frame(this.video.id, index, 96), draggable: "false" }),
    }));
    this.element.append(...this.pins.map(({ image }) => image));
    this.drawPins();
  }

  drawPins() {
    const { scale, tile } = this;
    for (const { index, image } of this.pins) {
      const middle = scale.x(centre(this.video, "vision", index)) - tile / 2;
      setVars(image, { x: `${Math.min(Math.max(middle, 0), scale.width - tile)}px`, w: `${tile}px` });
    }
  }

  place(i, frame) {
    const image = h("img", {
      class: "tile",
      alt: "",
      decoding: "async",
      src: api.frame(this.video.id, frame, 96),
      draggable: "false",
    });
    image.frame = frame;
    this.tiles.set(i, image);
    this.element.prepend(image); // below the pins
    return image;
  }
}
