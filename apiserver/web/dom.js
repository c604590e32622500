// What the page is drawn with. Nothing here, or anywhere in the page, makes markup of text.

/** el makes an element. Properties are set as such, attributes when their name has a dash or is role; children are elements and text. */
export function el(tag, properties = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "for") e.setAttribute(name, value);
    else if (name === "class") e.className = value;
    else e[name] = value;
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== ""));
  return e;
}

// Controls, and characters that can't be seen or turn the direction of text: one command could look like another.
const unseen = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\u2028\u2029\u115f\u1160\u3164\uffa0]/gu;

/** reveal shows text with what can't be seen in it, but for tabs and, unless it is one line, line ends. */
export function reveal(text, oneLine = true) {
  const parts = [];
  let from = 0;
  const s = String(text);
  for (const m of s.matchAll(unseen)) {
    if (m[0] === "\t" || (!oneLine && m[0] === "\n")) continue;
    if (!oneLine && m[0] === "\r") { // which devices send before a line end
      parts.push(s.slice(from, m.index));
      from = m.index + 1;
      continue;
    }
    parts.push(s.slice(from, m.index), el("span", { class: "unseen" }, "U+" + m[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0")));
    from = m.index + m[0].length;
  }
  parts.push(s.slice(from));
  const e = el("span", { class: "text" });
  e.append(...parts.filter((p) => p !== ""));
  return e;
}

/** count words a number of things. */
export function count(n, one, many = one + "s") {
  return `${n} ${n === 1 ? one : many}`;
}

/** clock words a time to a deadline, in milliseconds. */
export function clock(ms) {
  const s = Math.max(0, Math.ceil(ms / 1000));
  const two = (n) => String(n).padStart(2, "0");
  return s >= 3600 ? `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
}

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** when shows a time of the API's in the reader's zone. */
export function when(iso) {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? el("span", {}, String(iso)) : el("time", { dateTime: iso }, moment.format(at));
}
