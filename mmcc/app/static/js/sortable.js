/** A list of cards that people put in order by dragging or by keyboard, with moves that can be followed by eye. */

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const LIFT = 6; // pixels before a press becomes a drag
const EDGE = 70; // pixels: a card held nearer to the edge of the window scrolls it

/** Let every card of `list` glide from where it was before `change` to where it is after. */
export function glide(list, change) {
  const before = new Map([...list.children].map((card) => [card, card.getBoundingClientRect()]));
  change();
  if (calm.matches) return;
  for (const card of list.children) {
    const old = before.get(card);
    if (!old || card.classList.contains("lifted")) continue;
    const now = card.getBoundingClientRect();
    const [x, y] = [old.left - now.left, old.top - now.top];
    if (x || y)
      card.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], {
        duration: 420,
        easing: "cubic-bezier(0.2, 0, 0, 1)",
      });
  }
}

/** `move(card, to)` changes the order; it is called inside a glide. */
export function sortable(list, move, signal) {
  let held = null;

  list.addEventListener(
    "pointerdown",
    (event) => {
      const card = event.target.closest("li");
      if (!card || event.button !== 0 || event.target.closest("[data-still]")) return;
      held = { card, x: event.clientX, y: event.clientY, id: event.pointerId, lifted: false };
    },
    { signal },
  );

  addEventListener(
    "pointermove",
    (event) => {
      if (!held || event.pointerId !== held.id) return;
      const [x, y] = [event.clientX - held.x, event.clientY - held.y];
      if (!held.lifted) {
        if (Math.hypot(x, y) < LIFT) return;
        lift(event);
      }
      held.at = [event.clientX, event.clientY];
      settle();
      scrollAlong();
    },
    { signal },
  );

  function settle() {
    follow();
    const to = over(...held.at);
    if (to !== null && list.children[to] !== held.card) {
      glide(list, () => move(held.card, to));
      follow();
    }
  }

  /** Near the upper or lower edge of the window the page moves on, as long as the card is held there. */
  function scrollAlong() {
    if (held?.scrolling) return;
    const step = () => {
      if (!held?.lifted) return;
      const y = held.at[1];
      const by = y < EDGE ? y - EDGE : Math.max(0, y - (innerHeight - EDGE));
      held.scrolling = by !== 0;
      if (!by) return;
      scrollBy(0, by / 5);
      settle();
      requestAnimationFrame(step);
    };
    step();
  }

  /** The card stays under the finger: where the list now wants it, plus the rest of the way. */
  function follow() {
    const { card, at, grip } = held;
    card.style.transform = "none";
    const home = card.getBoundingClientRect();
    card.style.transform = `translate(${at[0] - grip[0] - home.left}px, ${at[1] - grip[1] - home.top}px) scale(1.03)`;
  }

  function lift(event) {
    const box = held.card.getBoundingClientRect();
    Object.assign(held, { lifted: true, grip: [held.x - box.left, held.y - box.top] });
    held.card.classList.add("lifted");
    list.setPointerCapture?.(event.pointerId);
  }

  function over(x, y) {
    const cards = [...list.children];
    const index = cards.findIndex((card) => {
      if (card === held.card) return false;
      const animated = card.getAnimations().length > 0; // one that glides is not where it looks
      const box = card.getBoundingClientRect();
      return (
        !animated &&
        x > box.left &&
        x < box.right &&
        y > box.top &&
        y < box.bottom
      );
    });
    return index < 0 ? null : index;
  }

  function drop() {
    if (held?.lifted) {
      held.card.classList.remove("lifted");
      held.card.style.transform = "";
    }
    held = null;
  }
  addEventListener("pointerup", drop, { signal });
  addEventListener("pointercancel", drop, { signal });
  list.addEventListener("dragstart", (event) => event.preventDefault(), { signal }); // the browser's own dragging of images

  list.addEventListener(
    "keydown",
    (event) => {
      const card = event.target.closest("li");
      const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (!card || !by) return;
      event.preventDefault();
      const to = [...list.children].indexOf(card) + by;
      if (to < 0 || to >= list.children.length) return;
      if (event.shiftKey) {
        const focused = document.activeElement;
        glide(list, () => move(card, to));
        focused.focus();
      } else list.children[to].querySelector("button").focus();
    },
    { signal },
  );
}
