/** A walk as a row of pictures and quotes: the same five stations that the arcs join, to read instead of to trace. */

import { api } from "../api.js";
import { foreign, h, icon, replace } from "../dom.js";
import { apart, clock, percent } from "../format.js";
import { roleName, weightOf } from "./arcs.js";

/** The judgement in a sentence. */
export function verdict(walk) {
  const at = Object.fromEntries(walk.stations.map((each) => [each.role, each]));
  const goes = at.future ? `Goes ${apart(at.start.time, at.future.time)}` : "Goes nowhere";
  if (walk.returns) return `${goes} and returns to its start`;
  return at.back
    ? `${goes}, but comes back at ${clock(at.back.time)}, ${apart(at.start.time, at.back.time)} than it began`.replace(
        ", same moment than it began",
        "",
      )
    : goes;
}

export function drawStory(place, video, title, walk, direction, pick) {
  const summary = h(
    "p",
    { class: `verdict num${walk.returns ? " returns" : ""}` },
    walk.returns && icon("check"),
    verdict(walk),
  );
  replace(
    place,
    h("div", { class: "walk-head" }, h("h3", {}, title), summary),
    h(
      "ol",
      { class: "stations" },
      walk.stations.map((station) => {
        const { role, modality, index, time, text } = station;
        const weight = weightOf(walk, role);
        const name = role === "start" ? "start" : roleName(role, direction, modality);
        const face =
          modality === "vision"
            ? h(
                "span",
                { class: "face" },
                h("img", {
                  src: api.frame(video.id, index, 240),
                  alt: `Frame at ${clock(time)}${text ? `; said then: ${text}` : ""}`,
                }),
              )
            : h("span", { class: "face" }, foreign("span", text ? `“${text}”` : "…"));
        return h(
          "li",
          { class: `station ${modality}` },
          h(
            "button",
            { type: "button", title: "Start from here", onclick: () => pick(modality, index) },
            face,
            h(
              "span",
              { class: "about num" },
              h("span", { class: "role" }, name),
              h("span", {}, `${clock(time)}${weight === null ? "" : ` · ${percent(weight)}`}`),
            ),
          ),
        );
      }),
    ),
  );
}
