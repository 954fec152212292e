/**
 * Rules that decide whether a question is asked. In Python: surveys/manifest/rules.py.
 *
 * @typedef {object} Rule A leaf has `name` and `is`; any other rule has one of the others.
 * @property {Rule[]} [all]
 * @property {Rule[]} [any]
 * @property {Rule} [not]
 * @property {string} name
 * @property {number[]} is
 *
 * @typedef {Record<string, number | undefined>} Codes The codes of the answers, by symbol.
 */

/**
 * @param {Rule} rule
 * @param {Codes} codes
 * @returns {boolean}
 */
export function holds({ all, any, not, name, is }, codes) {
  if (all) return all.every((part) => holds(part, codes));
  if (any) return any.some((part) => holds(part, codes));
  return not ? !holds(not, codes) : is.some((code) => code === codes[name]);
}

/**
 * @param {Rule} rule
 * @returns {Rule[]}
 */
export function leaves(rule) {
  const parts = rule.all ?? rule.any ?? (rule.not && [rule.not]);
  return parts ? parts.flatMap(leaves) : [rule];
}
