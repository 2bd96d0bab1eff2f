/** The player: the browser's own where it can play the file, else the frames of the corpus, a picture at a time. */

import { api } from "./api.js";
import { h, icon, replace, setVars } from "./dom.js";
import { clock } from "./format.js";
import { nearest } from "./timeline/scale.js";

export class Player {
  /** `tick(seconds)` hears where the video is, at each frame of the screen while it plays. */
  constructor(video, { signal, tick }) {
    Object.assign(this, { video, tick, seconds: 0, playing: false });
    this.element = h("div", { class: "player" });
    this.fit(video.frames.width, video.frames.height); // until the file says more: a corpus may crop frames
    if (video.playable) this.useVideo(signal);
    else this.useFrames("Shown as single frames: no browser plays this format, or the file is gone.");
    signal.addEventListener("abort", () => this.stop());
  }

  /** The stage makes room for pictures of this shape. */
  fit(width, height) {
    setVars(document.documentElement, { shape: width / height || 1.5 });
  }

  useVideo(signal) {
    const { playable, frames } = this.video;
    const media = (this.media = h("video", {
      controls: true,
      preload: "metadata",
      playsinline: true,
      "aria-label": this.video.title,
    }));
    if (frames.count) media.poster = api.frame(this.video.id, 0, 640);
    media.addEventListener(
      "error",
      () => this.useFrames("Shown as single frames: this browser cannot play the file."),
      { signal },
    );
    media.addEventListener(
      "play",
      () => {
        this.playing = true;
        this.follow();
      },
      { signal },
    );
    media.addEventListener(
      "pause",
      () => {
        this.playing = false;
      },
      { signal },
    );
    media.addEventListener("seeking", () => this.at(media.currentTime), { signal });
    media.addEventListener(
      "loadedmetadata",
      () => {
        this.fit(media.videoWidth, media.videoHeight);
        if (this.wanted !== undefined) media.currentTime = this.wanted;
      },
      { signal },
    );
    media.src = playable.url;
    replace(this.element, media);
  }

  /** The frames at their own times: silent, but every moment can be seen. */
  useFrames(reason) {
    this.media?.removeAttribute("src");
    this.media = null;
    this.playing = false;
    const image = h("img", { alt: "", class: "still" });
    this.toggle = h("button", { class: "button", type: "button", onclick: () => this.playOrPause() });
    this.place = h("span", { class: "num small" });
    this.still = image;
    replace(
      this.element,
      image,
      h("div", { class: "still-bar" }, this.toggle, this.place, h("span", { class: "quiet small" }, reason)),
    );
    this.drawToggle();
    this.at(this.wanted ?? this.seconds);
  }

  drawToggle() {
    if (!this.media) replace(this.toggle, icon(this.playing ? "pause" : "play"), this.playing ? "Pause" : "Play");
  }

  at(seconds) {
    this.seconds = seconds;
    if (!this.media && this.video.frames.count) {
      const frame = nearest(this.video.frames.times, seconds);
      if (this.frame !== frame) this.still.src = api.frame(this.video.id, frame, 640);
      this.frame = frame;
      this.place.textContent = `${clock(seconds)} / ${clock(this.video.duration)}`;
    }
    this.tick(seconds, this.playing);
  }

  seek(seconds) {
    const to = Math.min(Math.max(seconds, 0), this.video.duration);
    this.wanted = to; // a file that is still loading seeks when it can
    if (this.media) this.media.currentTime = to;
    this.at(to);
  }

  playOrPause() {
    if (this.media) {
      if (this.media.paused)
        this.media.play().catch(() => {}); // a refusal shows in the player itself
      else this.media.pause();
      return;
    }
    this.playing = !this.playing;
    this.drawToggle();
    if (this.playing) this.follow();
  }

  follow() {
    let before = performance.now();
    const step = (now) => {
      if (!this.playing) return;
      const ahead = this.media ? this.media.currentTime : this.seconds + (now - before) / 1000;
      before = now;
      this.at(Math.min(ahead, this.video.duration));
      if (!this.media && ahead >= this.video.duration) {
        this.playing = false;
        this.drawToggle();
        return;
      }
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  stop() {
    this.playing = false;
    this.media?.pause();
    this.media?.removeAttribute("src"); // closes the connection that the browser keeps for more of the file
    this.media?.load();
  }
}
