/** Photos that a person drops, pastes or picks. They stay in the browser until a question sends them. */

import { h, toast } from "./dom.js";
import { bytes, count } from "./format.js";

/** A place to drop photos; `take(files)` hears those that are images within the limits, `refuse(words)` why not. */
export function dropPlace({ words, hint, many, limits, take, refuse, signal }) {
  const input = h("input", {
    type: "file",
    accept: "image/*,.heic,.heif",
    multiple: many,
    class: "visually-hidden",
    onchange: () => {
      offer(input.files);
      input.value = "";
    },
  });
  const place = h(
    "label",
    { class: "drop" },
    input,
    h("span", { class: "drop-words" }, words),
    h("span", { class: "quiet small" }, hint),
  );

  function offer(list) {
    const files = [...list].filter(isImage);
    const others = list.length - files.length;
    const large = files.find((file) => limits.bytes && file.size > limits.bytes);
    if (!files.length) refuse("Only images can be used here.");
    else if (large) refuse(`${large.name} is larger than ${bytes(limits.bytes)}.`);
    else {
      if (others) toast(`${count(others, "file")} left out: only images can be used here.`);
      take(many ? files : files.slice(0, 1));
    }
  }

  // The whole page catches the drop: a photo that misses the place would else replace the page.
  const over = (event) => {
    event.preventDefault();
    place.classList.toggle("over", event.type === "dragover");
  };
  addEventListener("dragover", over, { signal });
  addEventListener("dragleave", over, { signal });
  addEventListener(
    "drop",
    (event) => {
      over(event);
      if (event.dataTransfer?.files.length) offer(event.dataTransfer.files);
    },
    { signal },
  );
  addEventListener(
    "paste",
    (event) => {
      if (event.clipboardData?.files.length) offer(event.clipboardData.files);
    },
    { signal },
  );
  return place;
}

/** By its type; most browsers know none for the photos of an iPhone. */
function isImage({ type, name }) {
  return type.startsWith("image/") || (!type && /\.hei[cf]$/i.test(name));
}

/** An address for an image in memory, given back when the view is left. */
export function objectUrl(file, signal) {
  const url = URL.createObjectURL(file);
  signal.addEventListener("abort", () => URL.revokeObjectURL(url), { once: true });
  return url;
}
