// The HTTP side: whose login the page uses, and requests.

/** root is where the server is, also below a path of a proxy's. */
const root = new URL("../../", import.meta.url);

const ownToken = "gns3-copilot-token";
const loggedOut = "gns3-copilot-logged-out";

/** Failure is an error that can be shown. code is the API's, or "network". */
export class Failure extends Error {
  constructor(status, body) {
    super(body.message || `The server answered with status ${status}.`);
    this.status = status;
    this.code = body.code || "";
    this.hint = body.hint || "";
    this.request = body.request_id || "";
  }

  /** text is all that there is to read. */
  get text() {
    const request = this.status >= 500 && this.request ? `(Request ${this.request}.)` : "";
    return [this.message, this.hint, request].filter(Boolean).join(" ");
  }
}

// A browser may be set to keep nothing: then a login lasts as long as the page.
const memory = new Map();
const session = {
  get(key) {
    try { return sessionStorage.getItem(key); } catch { return memory.get(key) ?? null; }
  },
  set(key, value) {
    try { sessionStorage.setItem(key, value); } catch { memory.set(key, value); }
  },
  remove(key) {
    memory.delete(key);
    try { sessionStorage.removeItem(key); } catch { /* it was kept nowhere else */ }
  },
};

/** gns3Token is the login of GNS3's own web UI in this browser, if it is one to this very server: others' are none of our business. */
export function gns3Token() {
  try {
    for (const key of (localStorage.getItem("controllerIds") || "").split(",")) {
      const c = key && JSON.parse(localStorage.getItem(key) || "null");
      if (c && c.authToken && !c.tokenExpired && here(c)) return String(c.authToken);
    }
  } catch { /* nothing there that could be read */ }
  return "";
}

function here(controller) {
  const standard = { "http:": "80", "https:": "443" };
  const protocol = controller.protocol || location.protocol;
  const port = String(controller.port || standard[protocol] || "");
  return protocol === location.protocol && port === (location.port || standard[location.protocol]) &&
    String(controller.host || "").toLowerCase() === location.hostname.toLowerCase();
}

/** token is the login in use, "" without one. */
export function token() {
  return session.get(ownToken) || (session.get(loggedOut) ? "" : gns3Token());
}

/** logOut forgets the login of this page. That of GNS3's page stays, and isn't used any more unless somebody says so. */
export function logOut() {
  session.remove(ownToken);
  session.set(loggedOut, "yes");
}

/** reuse takes the login of GNS3's page again. */
export function reuse() {
  session.remove(ownToken);
  session.remove(loggedOut);
}

/** logIn asks the GNS3 server for a login. */
export async function logIn(username, password) {
  const answer = await send("POST", "v3/access/users/authenticate", { username, password }, {});
  session.set(ownToken, answer.access_token);
  session.remove(loggedOut);
}

/** get reads something as the user. It fails with a Failure. */
export function get(path) {
  return send("GET", path, undefined, { Authorization: "Bearer " + token() });
}

/** decide sends a decision on a call. The key makes a repeated one harmless. */
export function decide(item, action, body, key) {
  const path = `v3/copilot/projects/${encodeURIComponent(item.project_id)}/chat/sessions/${encodeURIComponent(item.session_id)}/hitl/${action}`;
  return send("POST", path, { ...body, hitl_session_id: item.hitl_session_id }, { Authorization: "Bearer " + token(), "Idempotency-Key": key });
}

/** newKey names a decision. */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

async function send(method, path, body, headers) {
  const options = { method, headers: { Accept: "application/json", ...headers }, cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  options.signal = AbortSignal.timeout(30_000);
  let answer, text;
  try {
    answer = await fetch(new URL(path, root), options);
    text = await answer.text();
  } catch {
    throw new Failure(0, { code: "network", message: "The server can't be reached." });
  }
  let read = {};
  try {
    read = text === "" ? {} : JSON.parse(text);
  } catch {
    if (answer.ok) throw new Failure(answer.status, { message: "The server's answer can't be read." });
  }
  if (!answer.ok) throw new Failure(answer.status, read);
  return read;
}
