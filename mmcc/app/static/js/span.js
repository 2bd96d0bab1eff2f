/** Play a span of a video in a dialog: from before to after, again and again; as two stills where it cannot play. */

import { api } from "./api.js";
import { foreign, h, icon } from "./dom.js";
import { clock } from "./format.js";
import { link } from "./router.js";

const LEAD = 1; // second before the change, to see where it starts

export async function playSpan(video, change, signal) {
  const about = await api.video(video.id, signal);
  const from = Math.max(0, change.from_time - LEAD);
  const to = Math.min(about.duration, change.to_time + LEAD);
  const screen = h("div", { class: "span-screen" });
  const place = h("span", { class: "num quiet small" });
  const dialog = h(
    "dialog",
    { class: "span-dialog", "aria-labelledby": "span-title" },
    h(
      "div",
      { class: "head" },
      foreign("h2", video.title, { id: "span-title" }),
      h(
        "button",
        { class: "icon-button", type: "button", "aria-label": "Close", onclick: () => dialog.close() },
        icon("close"),
      ),
    ),
    screen,
    h(
      "div",
      { class: "span-foot" },
      place,
      h(
        "a",
        { class: "button", href: link(["video", video.id], { t: change.from_time }), onclick: () => dialog.close() },
        "Open here",
      ),
    ),
  );
  const stop = about.playable ? playMedia(screen, about, from, to, place) : playStills(screen, video.id, change, place);
  dialog.addEventListener("close", () => {
    stop();
    dialog.remove();
  });
  signal.addEventListener("abort", () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}

function playMedia(screen, about, from, to, place) {
  const media = h("video", {
    controls: true,
    playsinline: true,
    autoplay: true,
    "aria-label": `From ${clock(from)} to ${clock(to)}`,
  });
  media.muted = true; // else browsers refuse to start by themselves
  media.addEventListener(
    "loadedmetadata",
    () => {
      media.currentTime = from;
    },
    { once: true },
  );
  media.addEventListener("timeupdate", () => {
    place.textContent = `${clock(media.currentTime)}  of  ${clock(from)} – ${clock(to)}`;
    if (media.currentTime > to) media.currentTime = from;
  });
  let stop = () => {
    media.pause();
    media.removeAttribute("src");
    media.load();
  };
  media.addEventListener("error", () => {
    if (!media.getAttribute("src")) return;
    stop = playFrames(screen, about, from, to, place);
  });
  media.src = about.playable.url;
  screen.replaceChildren(media);
  return () => stop();
}

/** The span's frames, four a second: faster than life, as a change is best seen. */
function playFrames(screen, about, from, to, place) {
  const frames = about.frames.times.map((time, i) => [time, i]).filter(([time]) => time >= from && time <= to);
  const image = h("img", { alt: "" });
  screen.replaceChildren(image);
  let at = 0;
  const show = () => {
    const [time, i] = frames[at++ % frames.length];
    image.src = api.frame(about.id, i, 480);
    place.textContent = `${clock(time)}  of  ${clock(from)} – ${clock(to)}`;
  };
  if (frames.length) show();
  const timer = setInterval(show, 250);
  return () => clearInterval(timer);
}

function playStills(screen, id, change, place) {
  screen.replaceChildren(
    ...[
      [change.from_frame, "Before"],
      [change.to_frame, "After"],
    ].map(([frame, words]) =>
      h("figure", {}, h("img", { src: api.frame(id, frame, 480), alt: words }), h("figcaption", {}, words)),
    ),
  );
  place.textContent = `${clock(change.from_time)} → ${clock(change.to_time)}`;
  return () => {};
}
