/** Numbers as people read them. Only some types of questions need it. */

/**
 * Writes a number with a minus sign instead of a hyphen.
 * @param {string | number} value
 */
export const writeNumber = (value) => `${value}`.replace("-", "−");
