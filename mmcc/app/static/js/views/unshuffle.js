/** Unshuffle: drop photos of something being made; they move into the order that the model finds most likely. */

import { api } from "../api.js";
import { announce, foreign, h, icon, replace, setVars, toast } from "../dom.js";
import { count, percent } from "../format.js";
import { dropPlace, objectUrl } from "../photos.js";
import { glide, sortable } from "../sortable.js";
import { failed, loading } from "../states.js";
import { download, zip } from "../zip.js";

const LEAST = 3;
const finger = matchMedia("(pointer: coarse)");

export async function show(main, { app, signal }) {
  const { limits } = app.about;
  let photos = []; // {file, url, card}, in the order shown
  let links = new Map(); // "a>b": the probability that b follows a, of the order that the model found
  let found = null; // the model's order
  let running = null; // the question that the model has yet to answer
  signal.addEventListener("abort", () => running?.abort());

  const tray = h("ol", { class: "tray", "aria-label": "Photos in order", "aria-describedby": "tray-help" });
  const message = h("div", { "aria-live": "polite" });
  const help = h(
    "p",
    { class: "quiet small", id: "tray-help", hidden: true },
    `Drag a photo ${finger.matches ? "by its handle " : ""}to correct the order, or focus it and press `,
    h("kbd", {}, "Shift"),
    " with an arrow key; ",
    h("kbd", {}, "Delete"),
    " removes it.",
  );
  const again = h("button", { class: "button", type: "button", onclick: () => solve() }, "Order them again");
  const reset = h(
    "button",
    { class: "button", type: "button", onclick: () => restore() },
    icon("undo"),
    "The model's order",
  );
  const save = h(
    "button",
    { class: "button primary", type: "button", onclick: () => copies() },
    icon("down"),
    "Numbered copies",
  );
  const clear = h(
    "button",
    {
      class: "button plain",
      type: "button",
      onclick: () => {
        running?.abort(); // its answer would bring them back
        photos = [];
        found = null;
        links = new Map();
        draw();
      },
    },
    "Clear",
  );
  const actions = h("div", { class: "actions", hidden: true }, clear, again, reset, save);

  replace(
    main,
    h(
      "div",
      { class: "head" },
      h(
        "div",
        {},
        h("h1", {}, "Unshuffle"),
        h(
          "p",
          { class: "lead" },
          "Drop photos of something being made, in any order. The model puts them into the most likely order and says how sure it is of every link.",
        ),
      ),
      actions,
    ),
    app.about.can.upload
      ? dropPlace({
          words: `Drop ${LEAST} to ${limits.photos} photos, or choose them`,
          hint: "The server keeps them only while the model looks at them.",
          many: true,
          limits,
          signal,
          take: add,
          refuse: toast,
        })
      : h("p", { class: "note" }, "This server takes no photos: it was started without uploads."),
    message,
    help,
    tray,
  );
  sortable(tray, move, signal);
  tray.addEventListener("keydown", (event) => {
    const photo = photos.find(({ card }) => card.contains(event.target));
    if (event.key === "Delete" && photo) remove(photo);
  });

  function add(files) {
    const room = limits.photos - photos.length;
    if (files.length > room)
      toast(`At most ${limits.photos} photos: ${count(files.length - Math.max(room, 0), "photo")} left out.`);
    for (const file of files.slice(0, Math.max(room, 0))) {
      const photo = { file, url: objectUrl(file, signal) };
      photo.card = card(photo);
      photos.push(photo);
    }
    draw();
    if (photos.length >= LEAST) solve();
    else announce(`${count(photos.length, "photo")}; ${LEAST} are needed.`);
  }

  function card(photo) {
    const image = h("img", { src: photo.url, alt: "", draggable: "false" });
    image.addEventListener(
      "error",
      () => {
        image.alt = "This image cannot be shown here";
      },
      { once: true },
    );
    photo.number = h("span", { class: "photo-number num" });
    photo.button = h("button", { class: "photo", type: "button" }, image, photo.number);
    photo.link = h("span", { class: "photo-link num" });
    return h(
      "li",
      {},
      photo.button,
      h("span", { class: "grip", "aria-hidden": "true" }, icon("grip")),
      h(
        "div",
        { class: "photo-foot", "data-still": true },
        foreign("span", photo.file.name, { class: "photo-name small" }),
        h(
          "button",
          {
            class: "icon-button photo-remove",
            type: "button",
            "aria-label": `Remove ${photo.file.name}`,
            title: "Remove (Delete)",
            onclick: () => remove(photo),
          },
          icon("close"),
        ),
      ),
      photo.link,
    );
  }

  function remove(photo) {
    const at = photos.indexOf(photo);
    photos.splice(at, 1);
    found = found?.filter((each) => each !== photo) ?? null;
    glide(tray, draw);
    if (running && photos.length >= LEAST) solve();
    else running?.abort();
    (photos[at] ?? photos[at - 1])?.button.focus();
    announce(`Removed. ${count(photos.length, "photo")} left.`);
  }

  function move(card, to) {
    const from = photos.findIndex((photo) => photo.card === card);
    const [photo] = photos.splice(from, 1);
    photos.splice(to, 0, photo);
    draw();
    announce(`Photo ${to + 1} of ${photos.length}`);
  }

  const key = (a, b) => `${photoId(a)}>${photoId(b)}`;
  const ids = new Map();
  function photoId(photo) {
    if (!ids.has(photo)) ids.set(photo, ids.size);
    return ids.get(photo);
  }

  function draw() {
    const held = document.activeElement;
    if ([...tray.children].some((each, i) => each !== photos[i]?.card) || tray.children.length !== photos.length)
      replace(
        tray,
        photos.map((photo) => photo.card),
      );
    if (tray.contains(held)) held.focus();
    photos.forEach((photo, i) => {
      photo.number.textContent = String(i + 1);
      photo.button.setAttribute("aria-label", `${i + 1} of ${photos.length}: ${photo.file.name}`);
      const next = photos[i + 1];
      const sure = next && links.get(key(photo, next));
      photo.link.hidden = !next || !found;
      photo.link.textContent = sure === undefined ? "yours" : percent(sure);
      photo.link.classList.toggle("yours", sure === undefined);
      photo.link.title =
        sure === undefined ? "You put these two together" : "How likely it is that the next photo comes after this one";
      setVars(photo.link, { sure: sure ?? 0 });
    });
    actions.hidden = !photos.length;
    help.hidden = !found;
    again.disabled = photos.length < LEAST;
    reset.disabled = !found || found.every((photo, i) => photo === photos[i]);
    save.disabled = !photos.length;
    if (photos.length && photos.length < LEAST)
      replace(message, h("p", { class: "quiet" }, `${count(LEAST - photos.length, "more photo")} needed.`));
    else if (!photos.length) replace(message);
  }

  function restore() {
    photos = [...found];
    glide(tray, draw);
    announce("The model's order again");
  }

  /** Ask for the order of what is shown, then let the cards glide into it. */
  async function solve() {
    running?.abort();
    const mine = (running = new AbortController());
    const asked = [...photos];
    const form = new FormData();
    asked.forEach(({ file }) => form.append("photos", file, file.name));
    form.append("model", app.model);
    loading(message, `The model looks at ${count(asked.length, "photo")}…`, true);
    try {
      const answer = await api.unshuffle(form, mine.signal);
      found = answer.order.map((i) => asked[i]);
      links = new Map(answer.links.map((sure, i) => [key(found[i], found[i + 1]), sure]));
      photos = [...found];
      say(answer);
      glide(tray, draw);
    } catch (failure) {
      failed(message, failure, solve, true);
    }
    if (running === mine) running = null;
  }

  function say({ confidence, guess, warning }) {
    const words = guess
      ? "This order is no better than a guess."
      : `Confidence ${confidence.toFixed(2)}, where 0.5 is a guess and 1 is certain.`;
    replace(
      message,
      (warning || guess) && h("p", { class: "note" }, [guess && words, warning].filter(Boolean).join(" ")),
      !guess && h("p", { class: "order-words num" }, words),
    );
    announce(words);
  }

  /** A name that every system can store, and that shows what it is: no folders, no invisible letters. */
  function plain(name) {
    return name.replace(/[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|]/gu, "_").slice(-120);
  }

  async function copies() {
    const digits = Math.max(2, String(photos.length).length);
    const entries = await Promise.all(
      photos.map(async ({ file }, i) => ({
        name: `${String(i + 1).padStart(digits, "0")}-${plain(file.name.replace(/^\d+[-_ ]+/, ""))}`,
        bytes: new Uint8Array(await file.arrayBuffer()),
      })),
    );
    download(zip(entries), "in-order.zip");
    announce("Download of numbered copies begins");
  }

  draw();
}
