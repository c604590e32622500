// What was decided, and what came of it.

import { count, el, reveal, when } from "./dom.js";

const words = { confirmed: "Confirmed", rejected: "Rejected", modified: "Modified", expired: "Expired", aborted: "Aborted" };

/** outcome words what became of a call: who, why, and what was changed. */
export function outcome(item) {
  const parts = [el("strong", { class: "state " + item.state }, words[item.state] || "Waits no longer")];
  if (item.decided_by) parts.push(" by ", item.decided_by === "you" ? "you" : reveal(item.decided_by));
  if (item.state === "expired") parts.push(": nobody decided in time");
  parts.push(item.state in words && item.state !== "confirmed" ? ". Nothing was sent or changed." : ".");
  if (item.reason) parts.push(" Reason: ", reveal(item.reason));
  if (item.modification_summary) parts.push(el("pre", { class: "summary", tabIndex: 0, "aria-label": "What was changed" }, ...diff(item.modification_summary)));
  return parts;
}

/** diff colours lines that begin with - and +. */
export function diff(text) {
  return text.split("\n").map((line) => {
    const mark = line.trimStart()[0];
    return el("span", { class: mark === "+" ? "added" : mark === "-" ? "removed" : "" }, reveal(line), "\n");
  });
}

/** entry shows a call that no longer waits. */
export function entry(item, names) {
  const id = "past-" + item.hitl_session_id + "-" + item.tool_call_id;
  return el("li", { class: "entry", id, tabIndex: -1 },
    el("p", { class: "head" }, el("strong", {}, reveal(item.description)), " ", el("span", { class: "where" }, names.project(item.project_id))),
    el("p", {}, ...outcome(item)),
    el("p", { class: "when" }, "asked by ", names.asker(item), ", ", when(item.created_at), ...(item.decided_at ? ["; decided ", when(item.decided_at)] : [])),
    lines(item), ...(item.devices || []).map(device));
}

function lines(item) {
  const devices = item.preview?.devices;
  if (!devices?.length) return null;
  return el("details", {}, el("summary", {}, "What was proposed"), ...devices.map((d) => el("div", {},
    el("h4", {}, reveal(d.name)), el("pre", { tabIndex: 0, "aria-label": "Proposed for " + d.name }, ...d.lines.flatMap((line) => [reveal(line), "\n"])))));
}

const results = {
  running: "is being sent", done: "sent", failed: "failed", unknown: "unknown: its sender was lost, and it isn't sent again", nothing: "nothing was sent",
};

const labResults = {
  running: "is being changed", done: "changed", failed: "failed", unknown: "unknown: whether it was changed isn't known, and it isn't changed again", nothing: "nothing was changed",
};

/** device shows what a device was sent, and what it said, or what was changed in the lab. */
function device(d) {
  const n = d.kind === "lab" ? 0 : d.lines?.length ?? 0;
  const result = (d.kind === "lab" ? labResults : results)[d.state] || d.state;
  const sum = el("summary", {}, reveal(d.device_name), ": " + result + (n ? `, ${d.acknowledged} of ${count(n, "line")} acknowledged` : ""));
  return el("details", { class: "result " + d.state }, sum, d.error ? el("p", { class: "problem" }, reveal(d.error)) : null,
    d.diff ? el("pre", { tabIndex: 0, "aria-label": "Difference on " + d.device_name }, ...diff(d.diff)) : null,
    d.output ? el("pre", { tabIndex: 0, "aria-label": "Output of " + d.device_name }, reveal(d.output, false)) : null);
}
