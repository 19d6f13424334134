// @ts-check
/* The tags of a case in its editor, as chips by field. */
import { nearest, sameWord } from "../../core/nearest.js";
import { enterWord, isAnswer, questionTaken } from "../../core/new_word.js";
import { find, findAll, targetWithin } from "../../core/page.js";
import { splitTags, TAG_KINDS, tagsOfKind } from "./case_content.js";
import { form } from "./case_state.js";

/** @param {() => void} changed is called after every change */
export function startTags(changed) {
  /** @returns {string[]} */
  function read() {
    return Object.entries(TAG_KINDS).flatMap(([kind, prefix]) =>
      findAll(form, `[data-tags="${kind}"] .chip:not(.new) input`, HTMLInputElement)
        .map((input) => input.value.trim())
        .filter(Boolean)
        .map((tag) => prefix + tag),
    );
  }

  /** @param {string[]} tags */
  function show(tags) {
    for (const field of findAll(form, "[data-tags]", HTMLElement)) {
      const kind = field.dataset.tags ?? "";
      for (const chip of findAll(field, ".chip:not(.new)", HTMLElement)) chip.remove();
      for (const tag of tagsOfKind(tags, kind)) addChip(field, tag.slice(TAG_KINDS[kind].length));
    }
  }

  /**
   * @param {Element} field
   * @param {string} value
   */
  function addChip(field, value) {
    const blank = find(field, ".chip.new", HTMLElement);
    const chip = blank.cloneNode(true);
    if (!(chip instanceof HTMLElement)) return;
    chip.classList.remove("new");
    const input = find(chip, "input", HTMLInputElement);
    input.value = value;
    input.removeAttribute("placeholder");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    button.dataset.chipRemove = "";
    button.textContent = "×";
    button.setAttribute("aria-label", `× ${value}`);
    chip.append(button);
    blank.before(chip);
  }

  /**
   * Make chips of what is typed into the empty one.
   * @param {EventTarget | null} input
   */
  function finish(input) {
    if (!(input instanceof HTMLInputElement) || !input.closest(".chip.new") || !input.value.trim()) return;
    const field = input.closest("[data-tags]");
    if (!field) return;
    const known = knownFor(input);
    const tags = splitTags(input.value, known.includes(input.value.trim()));
    for (const tag of tags) addChip(field, sameWord(tag, known) ?? tag);
    input.value = "";
    changed();
    const typed = tags.find((tag) => sameWord(tag, known) === undefined && nearest(tag, known).length);
    if (typed) questionTaken(input, typed, known, find(field, ".chips", HTMLElement), waysFor(field, input));
  }

  /**
   * Enter asks first where a tag is new and a known one is near.
   * @param {EventTarget | null} input
   */
  function enter(input) {
    if (!(input instanceof HTMLInputElement) || !input.closest(".chip.new")) return;
    const field = input.closest("[data-tags]");
    const known = knownFor(input);
    if (!field || splitTags(input.value, known.includes(input.value.trim())).length > 1) finish(input);
    else enterWord(input, known, find(field, ".chips", HTMLElement), waysFor(field, input));
  }

  /** @param {HTMLInputElement} input */
  function knownFor(input) {
    return [...(input.list?.options ?? [])].map((option) => option.value);
  }

  /**
   * @param {Element} field
   * @param {HTMLInputElement} input
   */
  function waysFor(field, input) {
    return {
      /** @param {string} word */
      take: (word) => {
        addChip(field, word);
        input.value = "";
        changed();
      },
      /**
       * @param {string} typed
       * @param {string} word
       */
      replace: (typed, word) => {
        const chips = findAll(field, ".chip:not(.new) input", HTMLInputElement);
        const chip = chips.find(({ value }) => value === typed);
        if (!chip) return;
        chip.closest(".chip")?.remove();
        if (!chips.some(({ value }) => value === word)) addChip(field, word);
        changed();
      },
    };
  }

  form.addEventListener("click", (event) => {
    const button = targetWithin(event, "[data-chip-remove]");
    const field = button?.closest("[data-tags]");
    if (!button || !field) return;
    button.closest(".chip")?.remove();
    find(field, ".chip.new input", HTMLInputElement).focus();
    changed();
  });

  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !targetWithin(event, "[data-tags]") || event.isComposing) return;
    event.preventDefault();
    enter(event.target);
  });

  form.addEventListener("focusout", (event) => {
    if (!isAnswer(event.relatedTarget)) finish(event.target);
  });

  // A suggestion that was picked is complete at once.
  form.addEventListener("input", (event) => {
    const input = event.target;
    if (!(input instanceof HTMLInputElement) || !input.closest(".chip.new")) return;
    const isPicked = !(event instanceof InputEvent) || event.inputType === "insertReplacementText";
    if (isPicked || (!event.isComposing && /[;；,，、]$/.test(input.value))) finish(input);
  });

  /** Take a tag that is still being typed. */
  function finishAll() {
    findAll(form, ".chip.new input", HTMLInputElement).forEach(finish);
  }

  return { read, show, finishAll };
}
