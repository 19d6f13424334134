// @ts-check
/* The words that a page's scripts show: `{% script_words "words" %}` writes them as JSON, in the reader's language. */

/**
 * @param {string} id of the JSON script tag
 * @returns {(key: string) => string} throws where the template has no such word
 */
export function wordsOf(id) {
  /** @type {Record<string, string>} */
  const words = JSON.parse(document.getElementById(id)?.textContent ?? "{}");
  return (key) => {
    const text = words[key];
    if (text === undefined) throw new Error(`The page has no word "${key}" in "${id}".`);
    return text;
  };
}
