// @ts-check
/* Words that say nothing of what a criterion is about. Nothing here uses the page. */

/* Articles, prepositions, pronouns and auxiliaries, and the verbs with which criteria begin. */
const ENGLISH = new Set(
  (
    "a about after all an and any are as at be because been before being both but by can could do does for from had " +
    "has have he her his how i if in instead into is it its may me might more most must my no nor not of on or other " +
    "our patient patients response she should so some such than that the their them then there these they this those " +
    "to too up use used uses using was we were what when where whether which who why will with without would you " +
    "your advise advised advises ask asked asks explain explains make makes mention mentions name names recommend " +
    "recommends say said says state stated states take taken takes tell tells warn warns"
  ).split(" "),
);
const CHINESE =
  /建议|告知|提醒|询问|说明|指出|解释|患者|应该|应当|需要|可以|不要|如果|以及|或者|并且|[的了和与或在是应并对等及将把被让给于]/gu;
const WORD = /[\p{sc=Latin}\p{M}]+/gu;

/**
 * A text without its function words.
 * @param {string} text
 * @returns {string}
 */
export function contentOf(text) {
  return text.replace(WORD, (word) => (ENGLISH.has(word.toLowerCase()) ? " " : word)).replace(CHINESE, " ");
}
