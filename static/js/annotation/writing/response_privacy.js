// @ts-check
/* What in a response may identify a real person: a remark, which stops nobody. */
import { find } from "../../core/page.js";

/**
 * @param {HTMLElement} box with a list; hidden where there is nothing to remark
 * @param {string[]} remarks
 */
export function showPrivacy(box, remarks) {
  box.hidden = !remarks.length;
  const items = remarks.map((remark) => {
    const item = document.createElement("li");
    item.textContent = remark;
    return item;
  });
  find(box, "ul", HTMLElement).replaceChildren(...items);
}
