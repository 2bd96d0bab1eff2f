/** Marks of a video that survive whatever happens to the tab.
 *
 * Every change goes into the browser's storage at once and to the server a moment later. What the server has not
 * confirmed is found again when the page is opened next time. The server counts revisions: if somebody else saved in
 * between, it refuses (409), and the person decides.
 */

import { api } from "./api.js";

const WAIT = 500; // milliseconds: typing a name should not save every letter
const BLANK = { task: { title: "", steps: [] }, marks: [] };

/** What a file can hold: a task has a title and steps, or there is none. */
function complete({ task, marks }, name) {
  return task.steps.length ? { task: { ...task, title: task.title || name }, marks } : { task: null, marks: [] };
}

export class MarksStore {
  /** `changed()` hears new marks, `said(state, failure)` one of saved, saving, waiting, offline, conflict. */
  constructor({ id: video, title }, { changed, said, signal }) {
    Object.assign(this, {
      video,
      name: title.slice(0, 120),
      changed,
      said,
      past: [],
      ahead: [],
      revision: 0,
      current: BLANK,
    });
    this.key = `mmcc-marks-${video}`;
    addEventListener("pagehide", () => this.flush(), { signal });
    document.addEventListener(
      "visibilitychange",
      () => {
        if (document.hidden) this.flush();
      },
      { signal },
    );
    signal.addEventListener("abort", () => this.flush());
  }

  /** What is on the server, or the draft where the last visit ended before it was saved. */
  async open(signal) {
    const { task, marks, revision } = await api.marks(this.video, signal);
    const theirs = { task: task ?? BLANK.task, marks };
    const draft = this.draft();
    this.revision = revision;
    this.current = draft?.content ?? theirs;
    this.dirty = Boolean(draft);
    if (draft && this.same(theirs, draft.content)) {
      // what was sent while the tab closed has arrived
      this.dirty = false;
      this.forget();
    }
    if (!this.dirty) this.said("saved");
    else if (draft.revision === revision) this.save();
    else {
      this.theirs = { ...theirs, revision };
      this.said("conflict");
    }
    this.changed();
    return Boolean(draft);
  }

  /** Whether two states come to the same in the file. */
  same(one, other) {
    const [a, b] = [one, other].map((each) => {
      const { task, marks } = complete(each, this.name);
      return JSON.stringify([task?.title, task?.steps, marks.map(({ step, start, end }) => [start, end, step]).sort()]);
    });
    return a === b;
  }

  draft() {
    try {
      return JSON.parse(localStorage.getItem(this.key));
    } catch {
      return null;
    }
  }

  keep() {
    try {
      localStorage.setItem(this.key, JSON.stringify({ content: this.current, revision: this.revision }));
    } catch {
      /* full or refused: the server still hears it */
    }
  }

  forget() {
    try {
      localStorage.removeItem(this.key);
    } catch {
      /* nothing was kept */
    }
  }

  /** A change by the person: the former state can be had back. */
  edit(content) {
    this.past.push(this.current);
    this.ahead = [];
    this.put(content);
  }

  undo() {
    if (!this.past.length) return false;
    this.ahead.push(this.current);
    this.put(this.past.pop());
    return true;
  }

  redo() {
    if (!this.ahead.length) return false;
    this.past.push(this.current);
    this.put(this.ahead.pop());
    return true;
  }

  put(content) {
    this.current = content;
    this.dirty = true;
    this.keep();
    this.changed();
    clearTimeout(this.timer);
    if (this.theirs) return; // saving waits for the decision
    this.said("waiting");
    this.timer = setTimeout(() => this.save(), WAIT);
  }

  /** One request at a time, else an older one could arrive after a newer one. */
  async save(more = {}) {
    clearTimeout(this.timer);
    if (this.saving) {
      this.again = true;
      return;
    }
    this.saving = true;
    const sent = this.current;
    this.said("saving");
    try {
      const { revision } = await api.saveMarks(
        this.video,
        { ...complete(sent, this.name), revision: this.revision },
        more,
      );
      this.revision = revision ?? this.revision + 1;
      if (this.current === sent) {
        this.dirty = false;
        this.forget();
        this.said("saved");
      } else {
        this.keep();
        this.again = true;
      }
    } catch (failure) {
      if (failure.status === 409) await this.conflict();
      else if (failure.status >= 400 && failure.status < 500) this.said("refused", failure);
      else {
        this.said("offline", failure);
        this.timer = setTimeout(() => this.save(), 5000);
      }
    } finally {
      this.saving = false;
    }
    if (this.again) {
      this.again = false;
      await this.save();
    }
  }

  async conflict() {
    const { task, marks, revision } = await api.marks(this.video);
    const theirs = { task: task ?? BLANK.task, marks };
    if (this.same(theirs, this.current)) {
      // it was this very tab, as it was being hidden
      Object.assign(this, { revision, dirty: false });
      this.forget();
      this.said("saved");
      return;
    }
    this.theirs = { ...theirs, revision };
    this.said("conflict");
  }

  /** After a conflict: mine replaces theirs, or theirs mine; either can be undone. */
  decide(mine) {
    const { revision, ...content } = this.theirs;
    this.theirs = null;
    this.revision = revision;
    if (mine) this.put(this.current);
    else this.edit(content);
  }

  /** The tab closes: a request that may outlive it. The draft stays until the server has answered. */
  flush() {
    if (this.dirty && !this.theirs && !this.saving) this.save({ keepalive: true }).catch(() => {});
  }
}
