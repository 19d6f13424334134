// @ts-check
/* Requests of scripts that save by themselves. They always return an answer, also where the server gave none. */
import { element } from "./page.js";

const TIMEOUT_MS = 15_000;
const MAX_KEPT_ALIVE = 60_000; // bytes: browsers send no more when a page is left

/**
 * @typedef {{ status: number, body: any }} Answer `status` 0: no connection, or no whole answer in time; `body` is
 *   null where the answer was not JSON
 * @typedef {{ signed_in: boolean, who: string, csrf_token: string, second_step_missing: boolean }} Session
 */

/** @returns {string} the CSRF token of the page */
export function token() {
  return JSON.parse(document.body.getAttribute("hx-headers") ?? "{}")["X-CSRFToken"] ?? "";
}

/**
 * Signing in changes the CSRF token; the page's old one would be refused.
 * @param {string} value
 */
export function renewToken(value) {
  document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": value }));
  for (const input of document.querySelectorAll("input[name=csrfmiddlewaretoken]")) {
    if (input instanceof HTMLInputElement) input.value = value;
  }
}

/**
 * @param {string} method
 * @param {string} url
 * @param {unknown} [body] sent as JSON
 * @param {RequestInit} [options]
 * @returns {Promise<Answer>}
 */
export async function ask(method, url, body, options = {}) {
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
      signal: AbortSignal.timeout?.(TIMEOUT_MS),
      ...options,
    });
    const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
    return { status: answer.status, body: isJson ? await answer.json() : null };
  } catch {
    return { status: 0, body: null };
  }
}

/**
 * Send what was written, also from a page that is being left.
 * @param {string | undefined} url
 * @param {unknown} body sent as JSON
 * @param {{ timeout?: number }} [options] in milliseconds
 * @returns {Promise<Answer>}
 */
export function save(url, body, { timeout = TIMEOUT_MS } = {}) {
  const size = new TextEncoder().encode(JSON.stringify(body)).length;
  return ask("POST", url ?? "", body, { keepalive: size < MAX_KEPT_ALIVE, signal: AbortSignal.timeout?.(timeout) });
}

/**
 * Who is signed in to this browser now; null where the server cannot be asked. The page's token is renewed, since
 * signing in again in another tab changes it.
 * @returns {Promise<Session | null>}
 */
export async function session() {
  const { status, body } = await ask("GET", element("session-ended", HTMLDialogElement).dataset.session ?? "");
  if (status !== 200 || !body) return null;
  renewToken(body.csrf_token);
  return body;
}
