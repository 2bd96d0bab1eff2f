/** The narration as a list. One tab stop; arrows move within; the current utterance follows the video. */

import { foreign, h } from "./dom.js";
import { clock } from "./format.js";

export class Transcript {
  constructor(utterances, pick) {
    this.items = utterances.map(({ start, text }, i) =>
      h(
        "li",
        {},
        h(
          "button",
          { type: "button", tabindex: i ? "-1" : "0", onclick: () => pick(i) },
          h("time", {}, clock(start)),
          foreign("span", text),
        ),
      ),
    );
    this.list = h("ol", { class: "transcript-list", onkeydown: (event) => this.move(event) }, this.items);
    this.element = h(
      "section",
      { class: "transcript", "aria-label": "Narration" },
      utterances.length
        ? this.list
        : h(
            "p",
            { class: "quiet small transcript-none" },
            "No captions, so walks use pictures alone. Captions are read from a .vtt or .srt file of the same name beside the video.",
          ),
    );
  }

  button(i) {
    return this.items[i]?.firstChild;
  }

  move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const at = this.items.findIndex((item) => item.contains(event.target));
    const next = step && this.button(at + step);
    if (!next) return;
    event.preventDefault();
    this.focusable(at + step);
    next.focus();
  }

  focusable(index) {
    this.items.forEach((item, i) => {
      item.firstChild.tabIndex = i === index ? 0 : -1;
    });
  }

  mark(name, index) {
    this.items.forEach((item, i) => item.classList.toggle(name, i === index));
  }

  /** Scroll the list itself, never the page. */
  reveal(index) {
    const item = this.items[index];
    if (!item || this.list.contains(document.activeElement)) return;
    const { list } = this;
    const top = item.offsetTop; // the list is its own frame of reference
    if (top < list.scrollTop || top + item.offsetHeight > list.scrollTop + list.clientHeight)
      list.scrollTop = top - list.clientHeight / 3;
  }
}
