// @ts-check
/* Between pressing a button and letting it go nothing may move, or the click would hit something else and be lost:
   what folds and unfolds rows waits until the button is up. */

let pressed = false;
/** @type {EventTarget | null} */
let pressTarget = null;
/** @type {(() => unknown)[]} */
let deferred = [];

export function isPressed() {
  return pressed;
}

/**
 * Safari on a phone does not focus the button that is tapped: a field that loses the focus does not learn where to.
 * @param {Element} element
 * @returns {boolean} whether a button or a finger is down on it or within it
 */
export function isPressedWithin(element) {
  return pressed && pressTarget instanceof Node && element.contains(pressTarget);
}

export function endPress() {
  pressed = false;
  pressTarget = null;
  const waiting = deferred;
  deferred = [];
  for (const work of waiting) work();
}

/** @param {() => unknown} work */
export function afterPress(work) {
  if (pressed) deferred.push(work);
  else work();
}

// A tap of a finger ends its pointer before its mouse events come, and it is those that move the focus and click.
for (const name of ["pointerdown", "mousedown"]) {
  document.addEventListener(
    name,
    ({ target }) => {
      pressed = true;
      pressTarget = target;
    },
    true,
  );
}
// A click has its target: what it does may move things at once.
document.addEventListener("click", () => pressed && endPress(), true);
for (const name of ["pointerup", "mouseup", "pointercancel", "dragend"]) {
  document.addEventListener(name, () => pressed && setTimeout(endPress), true);
}
// A button that went up outside the window gives no event; whoever types has let it go.
document.addEventListener("keydown", () => pressed && endPress(), true);
window.addEventListener("blur", () => pressed && endPress());
