// @ts-check
/* Passkeys and security keys: says why a key did not work, and hides what this browser cannot do. The requests
   themselves are made by allauth's scripts. */
import { optionalElement } from "../core/page.js";
import { toast } from "../core/toast.js";
import { wordsOf } from "../core/words.js";

const text = wordsOf("key-words");
const isSupported = "PublicKeyCredential" in window;

document.addEventListener("allauth.error", (event) => {
  if (!(event instanceof CustomEvent)) return;
  event.preventDefault(); // else allauth writes it to the console, where nobody reads it
  const name = event.detail.exception?.name;
  if (!isSupported) toast(text("unsupported"), "error");
  else toast(text(name === "InvalidStateError" ? "known" : "failed"), "error");
});

const signIn = optionalElement("passkey_login", HTMLButtonElement);
if (signIn && isSupported) {
  signIn.hidden = false;
  const ways = signIn.closest("[data-passkeys]");
  if (ways instanceof HTMLElement) ways.hidden = false;
}
