// One call that waits, with all that is needed to decide about it.

import { decide, newKey } from "./api.js";
import { editable } from "./arguments.js";
import { clock, el, reveal } from "./dom.js";
import { outcome } from "./history.js";

/** keyOf tells calls apart. */
export function keyOf(item) {
  return item.hitl_session_id + "/" + item.tool_call_id;
}

/** Card shows a call. What people type in it stays, whatever becomes of the call meanwhile. */
export class Card {
  /** names gives project(id) and asker(item); changed is called when a decision was sent, dropped when the card is no longer wanted. */
  constructor(item, names, { changed, dropped }) {
    this.item = item;
    this.changed = changed;
    this.dropped = dropped;
    this.panel = el("div", { class: "panel" });
    this.message = el("p", { class: "message", role: "alert", hidden: true });
    this.time = el("strong", { class: "time" });
    const title = el("h3", { id: "call-" + item.tool_call_id }, reveal(item.description));
    this.buttons = el("div", { class: "buttons" },
      this.button("Confirm", "main", () => this.confirm()), this.button("Modify…", "", () => this.edit()), this.button("Reject…", "", () => this.refuse()));
    this.element = el("article", { class: "card danger-" + item.danger_level, tabIndex: -1, "aria-labelledby": title.id },
      el("div", { class: "top" }, title, el("p", { class: "deadline" }, "expires in ", this.time)),
      el("p", { class: "badges" }, el("span", { class: "badge" }, "Danger: " + item.danger_level), el("code", {}, reveal(item.tool_name))),
      facts([["Asked by", names.asker(item)], ["Project", names.project(item.project_id)], ["Conversation", reveal(item.session_id)]]),
      list(item.reasons), this.preview(), this.buttons, this.panel, this.message);
    this.update(item);
  }

  button(text, style, act) {
    return el("button", { type: "button", class: style, onclick: act, "aria-label": text.replace("…", "") + ": " + this.item.description }, text);
  }

  /** preview is what a confirmation sends, device by device. */
  preview() {
    const devices = this.item.preview?.devices;
    if (!devices) return el("pre", { tabIndex: 0, "aria-label": "Arguments" }, reveal(JSON.stringify(this.item.tool_args, null, 2), false));
    return el("div", { class: "devices" }, ...devices.map((d) => el("section", { class: "device" },
      el("h4", {}, reveal(d.name)),
      d.problem ? el("p", { class: "problem" }, reveal(d.problem)) : null,
      el("pre", { tabIndex: 0, "aria-label": "What is sent to " + d.name }, ...d.lines.flatMap((line) => [reveal(line), "\n"])))));
  }

  /** update takes the call as the server has it now: what it does can't have changed, its time and confirmations can. */
  update(item) {
    this.item = item;
    this.deadline = performance.now() + item.remaining * 1000;
    this.tick();
    if (item.confirmations > 0 && !this.shown && !this.over) this.second(); // never in place of what somebody is typing
  }

  /** tick shows the time that is left, and tells when it has just run out. */
  tick() {
    if (this.over) return false;
    const left = this.deadline - performance.now();
    this.time.textContent = clock(left);
    this.element.classList.toggle("soon", left < 60_000);
    const late = left < -1000; // by then the turn has noticed, too
    const just = late && !this.late;
    this.late = late;
    return just;
  }

  /** draft tells whether somebody has typed something that must not be lost. */
  get draft() {
    return [...this.panel.querySelectorAll("textarea")].some((t) => t.value !== t.defaultValue);
  }

  confirm() {
    this.send("confirm", { tool_call_ids: [this.item.tool_call_id], expected_sha256: { [this.item.tool_call_id]: this.item.args_sha256 } });
  }

  /** second asks once more, at another place and in two movements: a double click isn't two words. */
  second() {
    const sure = el("input", { type: "checkbox", onchange: () => { go.disabled = !sure.checked; } });
    const go = el("button", { type: "submit", class: "danger", disabled: true }, "Confirm for the second time");
    this.buttons.firstChild.disabled = true;
    this.open("second", el("form", { class: "second", onsubmit: (e) => {
      e.preventDefault();
      this.send("confirm", { tool_call_ids: [this.item.tool_call_id], second_confirmation: true, expected_sha256: { [this.item.tool_call_id]: this.item.args_sha256 } });
    } },
      el("p", {}, el("strong", {}, "High danger: this needs a second confirmation."), " Nothing has been sent yet. Look at the lines once more."),
      el("label", { class: "check" }, sure, " I have looked at every line, and want it to be sent."), el("div", { class: "buttons" }, go)));
  }

  refuse() {
    if (this.shown === "reject") return this.close();
    const reason = el("textarea", { rows: 3, maxLength: 2000 });
    this.open("reject", el("form", { onsubmit: (e) => {
      e.preventDefault();
      this.send("reject", { tool_call_ids: [this.item.tool_call_id], reason: reason.value, expected_sha256: { [this.item.tool_call_id]: this.item.args_sha256 } });
    } },
      el("label", {}, "Why? The assistant is told, and looks for another way.", reason),
      el("div", { class: "buttons" }, el("button", { type: "submit", class: "danger" }, "Reject"), this.cancel())));
    reason.focus();
  }

  edit() {
    if (this.shown === "modify") return this.close();
    const form = editable(this.item.tool_args);
    const areas = form.texts.map(({ text }) => el("textarea", { rows: Math.min(20, Math.max(3, text.split("\n").length + 1)), defaultValue: text, value: text, spellcheck: false, class: "code" }));
    this.open("modify", el("form", { onsubmit: (e) => {
      e.preventDefault();
      if (!this.draft) return this.say("Nothing is changed yet. To let it run as it is, confirm it.", true);
      try {
        const args = form.read(areas.map((a) => a.value));
        this.send("modify", { tool_call_id: this.item.tool_call_id, modified_args: args, expected_sha256: this.item.args_sha256 });
      } catch (error) {
        this.say(error.message, true);
      }
    } },
      el("p", {}, form.json ? "Change the arguments. " : "Change the lines, one command on each. ",
        this.item.danger_level === "high" ? "The assistant is told and asks again." : "The assistant is told, and may then do just this without asking again."),
      ...form.texts.map(({ name }, i) => el("label", {}, reveal(name), areas[i])),
      el("div", { class: "buttons" }, el("button", { type: "submit", class: "main" }, "Send the modification"), this.cancel())));
    areas[0].focus();
  }

  cancel() {
    return el("button", { type: "button", class: "quiet", onclick: () => this.close() }, "Cancel");
  }

  open(what, form) {
    this.shown = what;
    form.addEventListener("keydown", (e) => { if (e.key === "Escape" && what !== "second") this.close(); });
    this.panel.replaceChildren(form);
    this.say("");
  }

  close() {
    const from = this.shown;
    this.shown = "";
    this.panel.replaceChildren();
    this.say("");
    if (this.item.confirmations > 0) this.second();
    this.buttons.children[from === "modify" ? 1 : 2].focus();
  }

  say(text, bad = false) {
    this.message.hidden = text === "";
    this.message.className = bad ? "message error" : "message";
    this.message.replaceChildren(reveal(text, false));
  }

  busy(is) {
    this.element.setAttribute("aria-busy", String(is));
    for (const b of this.element.querySelectorAll("button, input, textarea")) b.disabled = is;
    if (is) return;
    this.buttons.firstChild.disabled = this.item.confirmations > 0;
    if (this.shown === "second") this.panel.querySelector("button").disabled = !this.panel.querySelector("input").checked;
  }

  /** send sends a decision. Whatever goes wrong, what was typed stays. */
  async send(action, body) {
    const text = action + JSON.stringify(body);
    if (this.sent?.text !== text) this.sent = { text, key: newKey() }; // the same again, after a lost answer, is one decision
    this.say("");
    this.busy(true);
    try {
      const reply = await decide(this.item, action, body, this.sent.key);
      this.busy(false);
      this.replied(action, reply);
    } catch (failure) {
      this.busy(false);
      if (failure.code !== "network") this.sent = undefined;
      this.say(failure.text, true);
      this.changed(this, failure);
    }
  }

  replied(action, reply) {
    if (reply.status === "pending") {
      this.item.confirmations = 1;
      this.second();
      this.panel.querySelector("input").focus();
    } else if (reply.status === "accepted") {
      this.say(reply.message);
    } else {
      this.end({ state: reply.status, decided_by: "you", modification_summary: reply.modification_summary });
    }
    this.changed(this);
  }

  /** end shows what became of the call in place of what could be done with it. What was typed can still be read and copied. */
  end(decided) {
    const typed = this.shown !== "second" && this.draft && decided.decided_by !== "you";
    this.over = true;
    this.keep = typed || decided.decided_by === "you";
    this.element.classList.remove("soon");
    this.element.classList.add("over");
    this.time.parentElement.replaceChildren("waits no longer");
    this.buttons.remove();
    if (!typed) this.panel.replaceChildren();
    for (const b of this.panel.querySelectorAll("button")) b.remove();
    for (const t of this.panel.querySelectorAll("textarea")) {
      t.disabled = false;
      t.readOnly = true;
    }
    const had = this.element.contains(document.activeElement) || document.activeElement === document.body;
    this.message.hidden = false;
    this.message.className = "message";
    this.message.replaceChildren(...outcome(decided), typed ? el("span", {}, " What you typed was not sent; it stays here until you dismiss it.") : "",
      el("button", { type: "button", class: "quiet", onclick: () => this.dropped(this) }, "Dismiss"));
    if (had) this.element.focus();
  }
}

function facts(pairs) {
  return el("dl", { class: "facts" }, ...pairs.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function list(reasons) {
  return reasons?.length ? el("ul", { class: "reasons" }, ...reasons.map((r) => el("li", {}, reveal(r)))) : null;
}
