/** Numbers as people read them. */

const COUNT = new Intl.NumberFormat("en-US");

/** 83.5 → "1:23"; with tenths where the difference matters: "1:23.5". */
export function clock(seconds, tenths = false) {
  const total = tenths ? Math.round(Math.max(0, seconds) * 10) / 10 : Math.floor(Math.max(0, seconds) + 1e-6);
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor(total / 60) % 60;
  const rest = tenths ? (total % 60).toFixed(1).padStart(4, "0") : String(total % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** Shares as in our tables: "31 %", and below one percent "0.4 %". */
export function percent(share) {
  if (share === null || share === undefined) return "–";
  const value = share * 100;
  return `${value >= 10 || value === 0 ? Math.round(value) : value.toFixed(value >= 1 ? 0 : 1)} %`;
}

export function count(number, one, many = `${one}s`) {
  return `${COUNT.format(number)} ${number === 1 ? one : many}`;
}

/** log10 of "times chance" as a factor with two digits: 3.7 → "5,000". */
export function factor(log10) {
  const value = 10 ** log10;
  if (value >= 1e7) return "10⁷+";
  return value < 10 ? value.toFixed(1) : COUNT.format(Number(value.toPrecision(2)));
}

/** "30 s later", "12 s earlier", "at the same time". */
export function apart(from, to) {
  const seconds = Math.round(to - from);
  if (!seconds) return "same moment";
  const size = Math.abs(seconds);
  const words = size < 120 ? `${size} s` : clock(size);
  return `${words} ${seconds > 0 ? "later" : "earlier"}`;
}

/** A file's size in the unit that people expect. */
export function bytes(number) {
  return number >= 1e6 ? `${Math.round(number / 1e6)} MB` : `${Math.round(number / 1e3)} kB`;
}

/** A model is named by the folder of its run; the path before it tells little and takes much room. */
export function modelName({ name }) {
  return name.split(/[/\\]/).filter(Boolean).at(-1) ?? name;
}
