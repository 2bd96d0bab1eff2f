/** Seconds to pixels and back: one scale that all lanes of a timeline share. */

export class Scale {
  constructor(duration) {
    this.duration = Math.max(duration, 0.1);
    this.view = 800; // visible pixels
    this.zoom = 1; // 1 shows the whole video
  }

  get width() {
    return this.view * this.zoom;
  }

  x(seconds) {
    return (seconds / this.duration) * this.width;
  }

  seconds(x) {
    return Math.min(Math.max((x / this.width) * this.duration, 0), this.duration);
  }

  /** The zoom at which one frame per tile fits, and at least something to zoom into. */
  most(frames, tile) {
    return Math.max(1, Math.min(60, (frames * tile) / this.view));
  }

  /** Round moments for the axis, at least `room` pixels apart. */
  ticks(room = 72) {
    const least = (room / this.width) * this.duration;
    const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600].find((each) => each >= least) ?? 7200;
    return Array.from({ length: Math.floor(this.duration / step) + 1 }, (_, i) => i * step);
  }
}

/** The index of the number nearest to `value` in a sorted list. */
export function nearest(sorted, value) {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low > 0 && value - sorted[low - 1] <= sorted[low] - value ? low - 1 : low;
}

/** Where a node begins and ends: a frame lasts until the next one, an utterance as long as it is spoken. */
export function spans(video, modality) {
  if (modality === "text") return video.utterances.map(({ start, end }) => [start, Math.max(end, start + 0.2)]);
  const { times } = video.frames;
  return times.map((time, i) => [time, times[i + 1] ?? Math.max(video.duration, time + 0.2)]);
}

/** Where arcs begin and land: the middle of the node. */
export function centre(video, modality, index) {
  if (modality === "text") {
    const { start, end } = video.utterances[index];
    return (start + end) / 2;
  }
  const { times } = video.frames;
  return (times[index] + (times[index + 1] ?? Math.max(video.duration, times[index]))) / 2;
}
