/* Asking the server, for scripts that save by themselves: an answer always comes back, if only that there was none. */
(() => {
  "use strict";
  const PATIENCE_MS = 15_000;

  function newId() {
    if (crypto.randomUUID) return crypto.randomUUID();
    // Not there on plain http in the house's network.
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 15) | 64;
    bytes[8] = (bytes[8] & 63) | 128;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  }
  const token = () => JSON.parse(document.body.getAttribute("hx-headers") ?? "{}")["X-CSRFToken"] ?? "";
  /* Status 0: no connection, or no whole answer in time. */
  async function ask(method, url, body, options = {}) {
    try {
      const answer = await fetch(url, {
        method,
        credentials: "same-origin",
        headers: {
          "Content-Type": "application/json",
          Accept: "application/json",
          "X-CSRFToken": token(),
          "HX-Request": "true",
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.timeout?.(PATIENCE_MS),
        ...options,
      });
      const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
      return { status: answer.status, body: isJson ? await answer.json() : null };
    } catch {
      return { status: 0, body: null };
    }
  }
  /* Who is signed in to this browser by now, null where nobody can tell; the page's token is brought up to date, since
     signing in again in another tab changes it. */
  async function session() {
    const { status, body } = await ask("GET", document.getElementById("session-ended").dataset.session);
    if (status !== 200) return null;
    window.consilium.renewToken(body.csrf_token);
    return body;
  }

  window.consilium = Object.assign(window.consilium ?? {}, { server: { newId, token, ask, session } });
})();
