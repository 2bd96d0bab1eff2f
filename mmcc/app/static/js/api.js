/** The documented HTTP API and nothing else. Every failure becomes a `Failure` with a cause and, often, a remedy. */

const ROOT = "/api/v1";

export class Failure extends Error {
  constructor(status, { cause, remedy = null, code = "unknown" }) {
    super(cause);
    Object.assign(this, { status, cause, remedy, code });
  }
}

async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(ROOT + path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, {
      cause: "The server does not answer.",
      remedy: "Is mmcc serve still running? Start it again, then retry.",
      code: "offline",
    });
  }
  const body = await response.json().catch(() => null);
  if (response.ok && body !== null) return body;
  if (response.status === 401) {
    throw new Failure(401, {
      cause: "This page needs the token.",
      remedy: "Open the link that mmcc serve printed.",
      code: "token",
    });
  }
  throw new Failure(
    response.status,
    body?.error ?? {
      cause: `The server answered ${response.status}.`,
      remedy: "The terminal of mmcc serve may say more.",
    },
  );
}

function query(values) {
  const pairs = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
}

const id = encodeURIComponent;
const json = (method, body, more = {}) => ({
  method,
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
  ...more,
});

export const api = {
  about: () => ask("/about"),
  videos: (values, signal) => ask(`/videos${query(values)}`, { signal }),
  video: (video, signal) => ask(`/videos/${id(video)}`, { signal }),
  status: (video, model, signal) => ask(`/videos/${id(video)}/status${query({ model })}`, { signal }),
  embed: (video, model, signal) => ask(`/videos/${id(video)}/status${query({ model })}`, { method: "POST", signal }),
  cycle: (video, values, signal) => ask(`/videos/${id(video)}/cycle${query(values)}`, { signal }),
  compare: (values, signal) => ask(`/compare${query(values)}`, { signal }),
  transitions: (video, values, signal) =>
    ask(`${video ? `/videos/${id(video)}` : ""}/transitions${query(values)}`, { signal }),
  next: (body, signal) =>
    ask("/next", body instanceof FormData ? { method: "POST", body, signal } : json("POST", body, { signal })),
  unshuffle: (form, signal) => ask("/unshuffle", { method: "POST", body: form, signal }),
  marks: (video, signal) => ask(`/videos/${id(video)}/marks`, { signal }),
  saveMarks: (video, body, more) => ask(`/videos/${id(video)}/marks`, json("PUT", body, more)),

  frame: (video, number, width) => `${ROOT}/videos/${id(video)}/frames/${number}.jpg${query({ width })}`,
  /** A file to keep: chapters.txt, chapters.vtt, chapters.ffmetadata or guide.html. */
  exported: async (video, file, model) => {
    const response = await fetch(`${ROOT}/videos/${id(video)}/export/${file}${query({ model })}`);
    if (response.ok) return response.blob();
    const body = await response.json().catch(() => null);
    throw new Failure(response.status, body?.error ?? { cause: "This could not be exported." });
  },
};

/** Resolves when a video is embedded; `progress` hears the share that is done. */
export async function embedded(video, model, signal, progress = () => {}) {
  let status = await api.embed(video, model, signal);
  while (status.state !== "ready") {
    if (status.state === "failed")
      throw new Failure(422, { cause: status.reason ?? "This video could not be embedded.", code: "failed" });
    progress(status.done ?? 0);
    await pause(250, signal);
    status = await api.status(video, model, signal);
  }
}

const ready = new Set(); // what was embedded once stays so: its questions need no further look at the status

/** Ask about a video, after it has been embedded. */
export async function whenEmbedded(video, model, signal, progress, request) {
  const key = `${video} ${model}`;
  if (!ready.has(key)) await embedded(video, model, signal, progress);
  ready.add(key);
  return request();
}

/** Ask about the library again and again while it is being embedded: `hear(answer)` gets each answer. */
export async function untilReady(signal, request, hear) {
  for (;;) {
    const answer = await request();
    hear(answer);
    if (answer.library?.state === "failed")
      throw new Failure(422, { cause: answer.library.reason ?? "The library could not be embedded.", code: "failed" });
    if (!answer.library || answer.library.state === "ready") return;
    await pause(1500, signal);
  }
}

export function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(new DOMException("left", "AbortError"));
      },
      { once: true },
    );
  });
}
