/**
 * What a person is asked, and which codes are true: decided here and sent to nobody. Python
 * does the same in surveys/rules.py and aggregator/respondents.py.
 */

/** @param {Rule} rule @param {Codes} codes  of the answers given @returns {boolean} */
export function holds({ all, any, not, name, is }, codes) {
  if (all) return all.every((part) => holds(part, codes));
  if (any) return any.some((part) => holds(part, codes));
  return not ? !holds(not, codes) : is.some((code) => code === codes[name]);
}

/** All conditions on single answers. @param {Rule} rule @returns {Rule[]} */
export function leaves(rule) {
  const parts = rule.all ?? rule.any ?? (rule.not && [rule.not]);
  return parts ? parts.flatMap(leaves) : [rule];
}

/**
 * Says of every question whether this person can be asked it. A text goes where the questions go
 * that its rule names. @param {Question[]} questions @param {number[]} [mine]  the drawn blocks
 */
export function markDrawn(questions, mine) {
  const out = new Set();
  for (const one of questions) {
    const { name, rule, block } = one;
    const hangs = rule && leaves(rule).some((leaf) => out.has(leaf.name?.split("_")[0]));
    one.isDrawn = !mine || (block < 0 ? !hangs : mine.includes(block));
    if (!one.isDrawn) out.add(name);
  }
}

/** Each question is a page, and so is what follows a Yes. @param {Question[]} questions */
export function listPages(questions) {
  return questions.flatMap((/** @type {Question} */ question) => {
    const { name, type, follow_up: text = "" } = question;
    if (type !== "follow_up") return [question];
    const options = ["No", "Yes"].map((text, code) => ({ code, text })).reverse();
    const rule = { name, is: [1] };
    const then = { ...question, options, name: `${name}+`, text, rule, follows: name };
    return [{ ...question, options }, then];
  });
}

/**
 * The pages that are open, and the codes of their answers. Answers on others are dropped.
 * @param {Question[]} pages @param {Answers} answers
 */
export function walk(pages, answers) {
  /** @type {Codes} */
  const codes = {};
  const open = pages.filter(({ name, options = [], rule, isDrawn, follows }) => {
    if (!isDrawn || (rule && !holds(rule, codes))) {
      delete answers[name];
      return false;
    }
    const answer = answers[name];
    const code = typeof answer === "number" ? answer : undefined;
    // Of the two parts of a follow-up come the codes 0 No, 1 Yes then Yes, 2 Yes then No.
    if (follows) codes[follows] = code === undefined ? code : 2 - code;
    else codes[name] = code;
    if (Array.isArray(answer)) {
      for (const { code } of options) codes[`${name}_${code}`] = Number(answer.includes(code));
    }
    return true;
  });
  return { open, codes };
}

/**
 * The truth behind each symbol; undefined, which cannot be sent, if an answer is missing.
 * @param {Question} question @param {Codes} codes @param {boolean} isAsked
 */
export function findLatents(question, codes, isAsked) {
  const { name, type, options = [], channels, minimum = 0, rule, refusal, isDrawn } = question;
  const [first] = channels;
  if (!isDrawn || first === undefined) return channels.map(() => null);
  const isSeveral = type === "several";
  const own = codes[isSeveral ? `${name}_1` : name];
  // After the answers comes the code of a refusal, then that of a question not asked.
  const last = (first?.k ?? 0) - 1;
  const refused = refusal && own === undefined ? last - Number(!!rule) : undefined;
  const missing = isAsked ? refused : last;
  if (isSeveral) {
    const items = options.map(({ code }) => (missing ? 0 : codes[`${name}_${code}`]));
    return channels.length > items.length ? [missing ?? 0, ...items] : items;
  }
  return [first?.maximum === undefined ? (missing ?? own) : { value: own ?? minimum, missing }];
}
