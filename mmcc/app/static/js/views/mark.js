/** Mark steps: name the steps, then mark their spans with the number keys while the video plays. */

import { Failure, api } from "../api.js";
import { announce, foreign, h, icon, replace, toast } from "../dom.js";
import { clock, count } from "../format.js";
import { bind } from "../keys.js";
import { MarksStore } from "../marks_store.js";
import { Player } from "../player.js";
import { link } from "../router.js";
import { Timeline } from "../timeline/timeline.js";

const SHORTEST = 0.2; // seconds: less is a slip of the finger
const SAID = {
  saved: "Saved",
  saving: "Saving…",
  waiting: "Saving…",
  offline: "Kept in this browser; the server does not answer",
  refused: "Not saved",
  conflict: "Changed elsewhere",
};

export async function show(main, { app, id, signal, title }) {
  if (!app.about.can.mark)
    throw new Failure(403, {
      cause: "This library cannot be marked.",
      remedy: "Marks are written beside a corpus; serve a corpus in a folder that can be written to.",
    });
  const video = await api.video(id, signal);
  title(`Mark steps of ${video.title}`);
  let open = null; // {step, start}: a span whose end is still to come
  const saved = h("span", { class: "saved small", role: "status" });
  const conflict = h("div", {});
  const stepList = h("ol", { class: "steps-list" });
  const markList = h("ol", { class: "marks-list" });
  const undo = h("button", { class: "button", type: "button", onclick: () => back() }, icon("undo"), "Undo");
  const task = h("input", {
    class: "field",
    id: "task",
    dir: "auto",
    maxlength: "120",
    placeholder: "Make pancakes",
    onchange: () => edit({ task: { ...store.current.task, title: task.value.trim() } }),
  });
  const fresh = h("input", {
    class: "field",
    dir: "auto",
    maxlength: "120",
    placeholder: "Add a step, then Enter",
    "aria-label": "New step",
    onkeydown: (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        addStep();
      }
    },
  });
  const store = new MarksStore(video, { changed: draw, said: say, signal });
  const timeline = new Timeline(video, {
    signal,
    names: [
      ["", ""],
      ["", ""],
    ],
    pick: (modality, index) =>
      player.seek(modality === "text" ? video.utterances[index].start : video.frames.times[index]),
    seek: (time) => player.seek(time),
  });
  timeline.element.classList.add("marking");
  timeline.slider.remove(); // no walk starts here; the player has a slider of its own
  const player = new Player(video, {
    signal,
    tick: (time, playing) => {
      timeline.setTime(time);
      if (playing) timeline.reveal(time);
      if (open) drawMarks();
    },
  });

  replace(
    main,
    h(
      "div",
      { class: "head" },
      h(
        "div",
        {},
        h("h1", {}, "Mark steps"),
        h("p", { class: "lead" }, foreign("a", video.title, { href: link(["video", id]) })),
      ),
      h("div", { class: "actions" }, saved, undo),
    ),
    conflict,
    h(
      "div",
      { class: "stage tall" },
      player.element,
      h(
        "section",
        { class: "steps-panel", "aria-label": "Steps" },
        h("label", { class: "small task-label" }, "Task", task),
        h(
          "p",
          { class: "small quiet steps-help" },
          "Press a step's number when it begins and again when it ends; another number ends one step and begins the next.",
        ),
        stepList,
        fresh,
      ),
    ),
    timeline.element,
    h(
      "section",
      { class: "section", "aria-labelledby": "marks-title" },
      h("h2", { id: "marks-title" }, "Marks"),
      markList,
    ),
  );

  function edit(change) {
    store.edit({ ...store.current, ...change });
  }

  function say(state, failure) {
    saved.textContent = SAID[state];
    saved.className = `saved small ${state}`;
    if (state === "refused") toast(failure.cause);
    replace(
      conflict,
      state === "conflict" &&
        h(
          "div",
          { class: "note conflict", role: "alert" },
          "These marks were changed in another window since you began. ",
          h("button", { class: "button", type: "button", onclick: () => store.decide(true) }, "Keep mine"),
          " ",
          h("button", { class: "button", type: "button", onclick: () => store.decide(false) }, "Take theirs"),
        ),
    );
  }

  /** The file separates steps by commas, so a name cannot have any. */
  function plain(words) {
    if (words.includes(",")) toast("Commas separate steps in the file; they became semicolons.");
    return words.replaceAll(",", ";").replace(/\s+/g, " ").trim();
  }

  function addStep() {
    const text = plain(fresh.value);
    if (!text) return;
    fresh.value = "";
    const { task: now } = store.current;
    edit({ task: { ...now, steps: [...now.steps, text] } });
    announce(`Step ${store.current.task.steps.length}: ${text}`);
  }

  function removeStep(number) {
    const { task: now, marks } = store.current;
    if (open?.step === number) open = null;
    edit({
      task: { ...now, steps: now.steps.filter((_, i) => i !== number - 1) },
      marks: marks
        .filter((mark) => mark.step !== number)
        .map((mark) => (mark.step > number ? { ...mark, step: mark.step - 1 } : mark)),
    });
  }

  /** A step's key: begins it, ends it, or ends the one that runs and begins this one. */
  function press(number) {
    const { task: now } = store.current;
    if (number < 1 || number > now.steps.length) return;
    const time = round(player.seconds);
    const before = open;
    if (open) finish(time);
    open = before?.step === number ? null : { step: number, start: time };
    announce(
      open ? `${now.steps[number - 1]} begins at ${clock(time)}` : `${now.steps[number - 1]} ends at ${clock(time)}`,
    );
    draw();
  }

  function finish(time) {
    const [start, end] = [Math.min(open.start, time), Math.max(open.start, time)];
    if (end - start >= SHORTEST)
      edit({ marks: [...store.current.marks, { step: open.step, start, end }].sort((a, b) => a.start - b.start) });
  }

  const round = (seconds) => Math.round(seconds * 100) / 100;

  function back() {
    if (open) {
      open = null;
      draw();
      announce("Begun step cancelled");
      return;
    }
    announce(store.undo() ? "Undone" : "Nothing to undo");
  }

  function draw() {
    const { task: now, marks } = store.current;
    if (document.activeElement !== task) task.value = now.title;
    undo.disabled = !store.past.length && !open;
    replace(
      stepList,
      now.steps.map((text, i) => {
        const number = i + 1;
        const done = marks.filter((mark) => mark.step === number).length;
        const name = h("input", {
          class: "field step-name",
          value: text,
          maxlength: "120",
          dir: "auto",
          "aria-label": `Name of step ${number}`,
          onchange: () =>
            edit({ task: { ...now, steps: now.steps.map((each, j) => (j === i ? plain(name.value) || each : each)) } }),
        });
        return h(
          "li",
          { class: open?.step === number ? "running" : "" },
          h(
            "button",
            {
              class: "step-key num",
              type: "button",
              "aria-label": `${open?.step === number ? "End" : "Begin"} step ${number}: ${text}`,
              "aria-pressed": String(open?.step === number),
              onclick: () => press(number),
            },
            String(number),
          ),
          name,
          h("span", { class: "small quiet num" }, done ? `${done} ×` : ""),
          h(
            "button",
            {
              class: "icon-button",
              type: "button",
              "aria-label": `Remove step ${number}: ${text}`,
              onclick: () => removeStep(number),
            },
            icon("close"),
          ),
        );
      }),
    );
    drawMarks();
    drawList();
  }

  function drawMarks() {
    const { task: now, marks } = store.current;
    const running = open && {
      step: open.step,
      start: Math.min(open.start, player.seconds),
      end: Math.max(open.start + 0.1, player.seconds),
    };
    const shown = running ? [...marks, running].sort((a, b) => a.start - b.start) : marks;
    timeline.steps.set(
      shown.map(({ step, start, end }) => ({ start, end, text: `${step}  ${now.steps[step - 1] ?? ""}` })),
    );
    timeline.steps.light("running", shown.indexOf(running));
  }

  function drawList() {
    const { task: now, marks } = store.current;
    if (!marks.length) {
      replace(
        markList,
        h(
          "li",
          { class: "quiet small" },
          now.steps.length
            ? "None yet. Play the video and press a step's number."
            : "Add the steps first; then play the video and press their numbers.",
        ),
      );
      return;
    }
    const change = (i, values) =>
      edit({
        marks: marks.map((mark, j) => (j === i ? { ...mark, ...values } : mark)).sort((a, b) => a.start - b.start),
      });
    replace(
      markList,
      marks.map((mark, i) =>
        h(
          "li",
          {},
          h(
            "button",
            { class: "mark-go", type: "button", onclick: () => player.seek(mark.start) },
            h("span", { class: "num mark-time" }, `${clock(mark.start, true)} – ${clock(mark.end, true)}`),
            foreign("span", `${mark.step}. ${now.steps[mark.step - 1] ?? ""}`),
          ),
          h(
            "button",
            {
              class: "button plain",
              type: "button",
              title: "Begin where the player is",
              onclick: () => {
                if (player.seconds < mark.end) change(i, { start: round(player.seconds) });
              },
            },
            "Begin here",
          ),
          h(
            "button",
            {
              class: "button plain",
              type: "button",
              title: "End where the player is",
              onclick: () => {
                if (player.seconds > mark.start) change(i, { end: round(player.seconds) });
              },
            },
            "End here",
          ),
          h(
            "button",
            {
              class: "icon-button",
              type: "button",
              "aria-label": `Delete the mark of step ${mark.step} at ${clock(mark.start)}`,
              onclick: () => edit({ marks: marks.filter((_, j) => j !== i) }),
            },
            icon("close"),
          ),
        ),
      ),
    );
  }

  bind(
    [
      { keys: [" "], show: ["Space"], words: "Play or pause", run: () => player.playOrPause() },
      {
        keys: [..."123456789"],
        show: ["1", "…", "9"],
        words: "Begin or end a step",
        run: (event) => press(Number(event.key)),
      },
      { keys: ["z"], command: true, shift: false, show: ["Ctrl", "Z"], words: "Undo", run: back },
      { keys: ["u"], show: ["u"], words: "Undo", run: back },
      {
        keys: ["Z", "z"],
        command: true,
        shift: true,
        show: ["Ctrl", "Shift", "Z"],
        words: "Redo",
        run: () => store.redo(),
      },
      {
        keys: ["Escape"],
        show: ["Esc"],
        words: "Cancel the step that has begun",
        run: () => {
          open = null;
          draw();
        },
      },
      {
        keys: ["ArrowRight"],
        shift: false,
        show: ["←", "→"],
        words: "One second back or on",
        run: () => player.seek(player.seconds + 1),
      },
      { keys: ["ArrowLeft"], shift: false, run: () => player.seek(player.seconds - 1) },
      {
        keys: ["ArrowRight"],
        shift: true,
        show: ["Shift", "←", "→"],
        words: "Five seconds",
        run: () => player.seek(player.seconds + 5),
      },
      { keys: ["ArrowLeft"], shift: true, run: () => player.seek(player.seconds - 5) },
    ],
    signal,
  );

  if (await store.open(signal)) toast(`Your last changes are back: ${count(store.current.marks.length, "mark")}.`);
}
