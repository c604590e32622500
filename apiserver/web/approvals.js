// The page: log in, show what waits and what was decided, and keep both fresh.

import { get, gns3Token, logIn, logOut, reuse, token } from "./api.js";
import { Card, keyOf } from "./card.js";
import { el, reveal } from "./dom.js";
import { entry } from "./history.js";

const $ = (id) => document.getElementById(id);

// How long until the next look, in ms: soon after something has changed, later when nothing does, and with more patience when it fails.
const soonest = 4_000, latest = 30_000, patience = 60_000;

const state = {
  user: null,
  token: "", // the login that user belongs to
  cards: new Map(), // by keyOf, in the order of their deadlines
  projects: new Map(),
  shown: 20, // entries of the history
  pause: soonest,
  timer: 0,
  seen: "", // the calls that waited at the last look, and the newest decision
  looking: null,
  target: "", // the hitl_session_id that the address names, until it was found
  first: true,
};

const names = {
  project: (id) => reveal(state.projects.get(id) || id),
  asker: (item) => (item.user_id === state.user?.user_id ? el("span", {}, reveal(state.user.username), " (you)") : reveal(item.user_name || "user " + item.user_id)),
};

/** look reads what waits and what was decided, one look at a time. */
function look() {
  clearTimeout(state.timer);
  state.looking ??= lookOnce().finally(() => {
    state.looking = null;
    if (token() && !document.hidden) state.timer = setTimeout(look, state.pause);
  });
  return state.looking;
}

/** soon looks again, and often for a while: something has happened, or somebody has come back. */
async function soon() {
  if (state.looking) await state.looking;
  state.pause = soonest;
  await look();
}

async function lookOnce() {
  const used = token();
  if (!used) return askLogin("");
  try {
    if (state.token !== used) await identify(); // GNS3's page may have logged in, or somebody else
    const [waiting, decided] = await Promise.all([get("v3/copilot/approvals"), get("v3/copilot/approvals/history?limit=" + (state.shown + 1))]);
    if (token() === used) await learnProjects([...waiting, ...decided]);
    if (token() !== used) return; // who asked has left: it isn't for whoever is here now
    $("main").hidden = false;
    $("login").close();
    banner("");
    drawWaiting(waiting, decided);
    drawHistory(decided);
    goToTarget();
    pace(waiting, decided);
  } catch (failure) {
    if (token() !== used) return;
    if (failure.status === 401) {
      state.token = "";
      return askLogin(state.user ? "Your login has ended. What you typed is still there." : "");
    }
    state.pause = Math.min(patience, state.pause * 2);
    if (!("text" in failure)) throw failure;
    banner(failure.text + ` Trying again in ${Math.round(state.pause / 1000)} s.`);
  }
}

/** pace waits longer when nothing has changed. */
function pace(waiting, decided) {
  const seen = waiting.map((i) => keyOf(i) + i.confirmations).join() + "|" + (decided[0]?.decided_at ?? "");
  state.pause = seen === state.seen ? Math.min(latest, state.pause * 1.5) : soonest;
  state.seen = seen;
}

async function identify() {
  const used = token();
  const user = await get("v3/access/users/me");
  if (token() !== used) return;
  if (state.user && state.user.user_id !== user.user_id) forget();
  Object.assign(state, { user, token: used });
  $("user").replaceChildren(reveal(user.username));
  $("who").hidden = false;
}

/** forget drops what another user has seen. */
function forget() {
  state.cards.clear();
  state.projects.clear();
  $("cards").replaceChildren();
  $("history").replaceChildren();
  delete $("history").dataset.key;
  $("main").hidden = true;
  Object.assign(state, { user: null, token: "", seen: "", first: true, pause: soonest });
}

/** learnProjects asks, once, what projects are called. One that is gone stays an id. */
async function learnProjects(items) {
  const unknown = () => [...new Set(items.map((i) => i.project_id))].filter((id) => !state.projects.has(id));
  if (!unknown().length) return;
  const known = (p) => state.projects.set(p.project_id, p.name);
  (await get("v3/projects").catch(() => [])).forEach(known);
  // GNS3 leaves out those that one has a right to by themselves.
  await Promise.all(unknown().map((id) => get("v3/projects/" + id).catch(() => ({ project_id: id, name: id })).then(known)));
}

function drawWaiting(waiting, decided) {
  const now = new Map(waiting.map((i) => [keyOf(i), i]));
  for (const [key, card] of state.cards) {
    if (now.has(key) || card.over) continue;
    card.end(decided.find((i) => keyOf(i) === key) || { state: "decided" });
    if (card.keep) continue;
    drop(card);
    say("Waits no longer: " + card.item.description);
  }
  const fresh = [];
  for (const [key, item] of now) {
    const card = state.cards.get(key);
    if (card?.over) continue; // the list is older than the answer to the decision
    if (card) card.update(item);
    else {
      const added = new Card(item, names, { changed, dropped: drop });
      state.cards.set(key, added);
      $("cards").append(added.element);
      fresh.push(item);
    }
  }
  if (fresh.length && !state.first) say(fresh.length === 1 ? "New: " + fresh[0].description : fresh.length + " new calls wait.");
  state.first = false;
  counts();
}

function counts() {
  const n = [...state.cards.values()].filter((c) => !c.over).length;
  $("waiting").textContent = n ? `Waiting (${n})` : "Waiting";
  $("none").hidden = state.cards.size > 0;
  document.title = (n ? `(${n}) ` : "") + "Approvals · GNS3 Copilot";
}

/** drop takes a card off the page, and leaves the focus at a place that makes sense. */
function drop(card) {
  const had = card.element.contains(document.activeElement);
  state.cards.delete(keyOf(card.item));
  card.element.remove();
  if (had) $("waiting").focus();
  counts();
}

/** changed is what a card calls when a decision was sent, or was refused. */
function changed(card, failure) {
  counts();
  if (failure?.status === 401) return askLogin("Your login has ended. Log in and decide again; what you typed is still there.");
  soon();
}

function drawHistory(decided) {
  const key = decided.map((i) => keyOf(i) + i.state + (i.devices || []).map((d) => d.state + d.acknowledged)).join() + state.shown;
  $("never").hidden = decided.length > 0;
  $("more").hidden = decided.length <= state.shown || state.shown >= 960;
  if ($("history").dataset.key === key) return; // what somebody has opened stays open
  const open = new Set([...$("history").querySelectorAll("details[open]")].map(placeOf));
  const focus = document.activeElement?.closest?.("#history li")?.id;
  $("history").dataset.key = key;
  $("history").replaceChildren(...decided.slice(0, state.shown).map((i) => entry(i, names)));
  for (const d of $("history").querySelectorAll("details")) d.open = open.has(placeOf(d));
  if (focus) $(focus)?.focus({ preventScroll: true });
}

function placeOf(details) {
  const entry = details.closest("li");
  return entry.id + [...entry.querySelectorAll("details")].indexOf(details);
}

/** readTarget takes the call that a link leads to out of the address: #/project/session/hitl. */
function readTarget() {
  state.target = location.hash.split("/")[3] || "";
}

/** goToTarget shows the call that a link leads to, once. */
function goToTarget() {
  if (!state.target) return;
  const of = (id) => id.startsWith(state.target + "/");
  const cards = [...state.cards].filter(([key]) => of(key)).map(([, card]) => card.element);
  const past = cards.length ? [] : [...$("history").children].filter((e) => e.id.startsWith("past-" + state.target + "-"));
  const found = [...cards, ...past];
  state.target = "";
  document.querySelectorAll(".target").forEach((e) => e.classList.remove("target"));
  if (!found.length) return say("The link leads to a call that isn't in your projects, or was decided long ago.");
  found.forEach((e) => e.classList.add("target"));
  found[0].scrollIntoView({ block: "start" });
  found[0].focus({ preventScroll: true });
}

function say(text) {
  $("status").textContent = text;
}

function banner(text) {
  $("banner").hidden = text === "";
  if ($("banner").textContent !== text) $("banner").textContent = text;
}

function askLogin(why) {
  clearTimeout(state.timer);
  $("login-why").textContent = why || "With your GNS3 user.";
  $("reuse").hidden = !gns3Token() || token() === gns3Token();
  if (!$("login").open) $("login").showModal();
}

async function submitLogin(event) {
  event.preventDefault();
  const form = event.target;
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    await logIn(form.username.value, form.password.value);
    form.reset();
    await entered();
  } catch (failure) {
    loginError(failure.status === 401 ? "GNS3 doesn't accept this user and password." : failure.text || String(failure));
    form.password.select();
  } finally {
    button.disabled = false;
  }
}

function loginError(text) {
  $("login-error").hidden = text === "";
  $("login-error").textContent = text;
}

/** entered goes on with a new login. */
async function entered() {
  await identify();
  loginError("");
  $("login").close();
  await soon();
}

function leave() {
  logOut();
  forget();
  $("who").hidden = true;
  banner("");
  say("");
  counts();
  askLogin("You are logged out here. The login of GNS3's own page is another.");
}

$("login-form").addEventListener("submit", submitLogin);
$("login").addEventListener("cancel", (e) => e.preventDefault());
$("login").addEventListener("close", () => { // a browser lets a second Escape through
  if (!token() || state.token !== token()) askLogin("");
});
$("reuse").addEventListener("click", () => {
  reuse();
  entered().catch((failure) => loginError(failure.text || String(failure)));
});
// Who has come by a link in GNS3's page may want to go back to it.
$("back").hidden = !document.referrer.startsWith(location.origin + "/");
$("back").addEventListener("click", () => history.back());
$("logout").addEventListener("click", leave);
$("skip").addEventListener("click", (e) => {
  e.preventDefault();
  $("waiting").focus();
});
$("more").addEventListener("click", () => {
  state.shown = Math.min(960, state.shown * 2);
  soon();
});
addEventListener("hashchange", () => {
  readTarget();
  soon();
});
addEventListener("focus", soon);
addEventListener("online", soon);
document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(state.timer) : soon()));
setInterval(() => {
  if ([...state.cards.values()].map((card) => card.tick()).includes(true)) soon();
}, 1000);
readTarget();
look();
