/** Lanes of blocks: utterances, labelled steps, and the marks of a person. Overlapping blocks go into rows. */

import { foreign, h, setVars } from "../dom.js";
import { clock } from "../format.js";

const READABLE = 34; // pixels: a narrower block shows no text

/** Rows such that no two blocks of a row overlap, as long as there are enough rows. */
export function rows(blocks, most) {
  const ends = [];
  return blocks.map(({ start, end }) => {
    let row = ends.findIndex((each) => each <= start + 0.05);
    if (row < 0) row = ends.length < most ? ends.length : ends.indexOf(Math.min(...ends));
    ends[row] = Math.max(end, ends[row] ?? 0);
    return row;
  });
}

export class Blocks {
  /** `kind` is a class; `blocks` have start, end and text. */
  constructor(kind, scale, most = 2) {
    Object.assign(this, { scale, most, blocks: [], elements: [] });
    this.element = h("div", { class: `blocks ${kind}`, "aria-hidden": "true" });
  }

  set(blocks) {
    this.blocks = blocks;
    const row = rows(blocks, this.most);
    const count = Math.max(1, ...row.map((each) => each + 1));
    setVars(this.element, { rows: count });
    this.element.classList.toggle("single", count === 1); // room for more than one line
    this.elements = blocks.map((block, i) => {
      const element = foreign("div", block.text, {
        class: "block",
        title: `${clock(block.start)}  ${block.text}`,
        dataset: { index: i },
      });
      setVars(element, { row: row[i] });
      return element;
    });
    this.element.replaceChildren(...this.elements);
    this.draw();
  }

  draw() {
    this.elements.forEach((element, i) => {
      const { start, end } = this.blocks[i];
      const width = Math.max(this.scale.x(end) - this.scale.x(start) - 1, 2);
      setVars(element, { x: `${this.scale.x(start)}px`, w: `${width}px` });
      element.classList.toggle("narrow", width < READABLE);
    });
  }

  /** Mark one block, of the playhead or of the selection. */
  light(name, index) {
    this.elements.forEach((element, i) => element.classList.toggle(name, i === index));
  }

  /** The block under an event, or the nearest in time: thin blocks are hard to hit. */
  at(event, seconds) {
    const hit = event.target.closest?.(".block");
    if (hit) return Number(hit.dataset.index);
    const distance = ({ start, end }) => Math.max(start - seconds, seconds - end, 0);
    return this.blocks.reduce(
      (best, block, i) => (best < 0 || distance(block) < distance(this.blocks[best]) ? i : best),
      -1,
    );
  }
}
