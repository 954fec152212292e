/** The second half of a QR code (ISO/IEC 18004): codewords become dark and light modules. */
import { listAlignments, writeCodewords } from "./codewords.js";

/** @typedef {(number | undefined)[][]} Modules 1 is dark, 0 is light; undefined is not drawn yet. */

/** @type {((x: number, y: number) => number)[]} A place is swapped where its mask is 0. */
const MASKS = [
  (x, y) => (x + y) % 2,
  (_x, y) => y % 2,
  (x) => x % 3,
  (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];
const LEVEL_L = 1;
const LIGHT = "0000"; // what stands around the symbol, or next to a false finder

/**
 * Draws what every symbol of a version has: finders, alignment and timing patterns, the version.
 * @param {number} version
 * @returns {Modules}
 */
function drawPatterns(version) {
  const side = 4 * version + 17;
  const modules = Array.from({ length: side }, () => Array(side));
  /** @type {(x: number, y: number, rings: number, reach: number) => void} */
  const drawRings = (x, y, rings, reach) => {
    for (let down = -reach; down <= reach; down += 1) {
      for (let right = -reach; right <= reach; right += 1) {
        const distance = Math.max(Math.abs(down), Math.abs(right));
        const row = modules[y + down];
        if (row && x + right >= 0 && x + right < side) {
          row[x + right] = Number(distance !== rings && distance !== rings + 2);
        }
      }
    }
  };
  for (let i = 0; i < side; i += 1) modules[6][i] = modules[i][6] = (i + 1) % 2;
  for (const [x, y] of [[3, 3], [side - 4, 3], [3, side - 4]]) drawRings(x, y, 2, 4);
  const places = listAlignments(version);
  const last = places.length - 1;
  places.forEach((y, i) =>
    places.forEach((x, j) => {
      const isFinder = (!i && (!j || j === last)) || (i === last && !j);
      if (!isFinder) drawRings(x, y, 1, 2);
    })
  );
  if (version > 6) {
    const bits = protect(version, 12, 0x1f25);
    for (let i = 0; i < 18; i += 1) {
      const [near, far] = [Math.floor(i / 3), side - 11 + (i % 3)];
      modules[near][far] = modules[far][near] = (bits >> i) & 1;
    }
  }
  return modules;
}

/**
 * Appends the remainder of a division, which repairs errors in a few bits.
 * @param {number} value
 * @param {number} count
 * @param {number} divisor
 */
function protect(value, count, divisor) {
  let rest = value;
  for (let i = 0; i < count; i += 1) rest = (rest << 1) ^ ((rest >> (count - 1)) * divisor);
  return (value << count) | rest;
}

/**
 * Draws the two copies of the level and the mask.
 * @param {Modules} modules
 * @param {number} mask
 */
function drawFormat(modules, mask) {
  const side = modules.length;
  const bits = protect((LEVEL_L << 3) | mask, 10, 0x537) ^ 0x5412;
  for (let i = 0; i < 15; i += 1) {
    const bit = (bits >> i) & 1;
    const near = i < 6 ? i : i < 8 ? i + 1 : 14 - i + Number(i === 8);
    if (i < 8) {
      modules[near][8] = modules[8][side - 1 - i] = bit;
    } else {
      modules[8][near] = modules[side - 15 + i][8] = bit;
    }
  }
  modules[side - 8][8] = 1;
}

/**
 * Lists the free places in the order of the bits: up and down in columns of two, from the right.
 * @param {Modules} modules
 */
function listFree(modules) {
  const side = modules.length;
  /** @type {[x: number, y: number][]} */
  const free = [];
  for (let right = side - 1, turn = 0; right > 0; right -= 2, turn += 1) {
    if (right === 6) right = 5; // the timing pattern
    for (let i = 0; i < side; i += 1) {
      const y = turn % 2 ? i : side - 1 - i;
      for (const x of [right, right - 1]) if (modules[y][x] === undefined) free.push([x, y]);
    }
  }
  return free;
}

/**
 * Counts what makes a symbol hard to read: long lines, blocks, false finders, uneven darkness.
 * @param {Modules} modules
 */
function findPenalty(modules) {
  const side = modules.length;
  const rows = modules.map((row) => row.join(""));
  const columns = modules.map((_, x) => modules.map((row) => row[x]).join(""));
  let penalty = 0;
  for (const line of [...rows, ...columns]) {
    for (const run of line.match(/0{5,}|1{5,}/g) ?? []) penalty += run.length - 2;
    const framed = `${LIGHT}${line}${LIGHT}`;
    for (const { index } of framed.matchAll(/(?=1011101)/g)) {
      const sides = [framed.slice(index - 4, index), framed.slice(index + 7, index + 11)];
      if (sides.includes(LIGHT)) penalty += 40;
    }
  }
  for (let y = 1; y < side; y += 1) {
    for (let x = 1; x < side; x += 1) {
      const square = rows[y - 1].slice(x - 1, x + 1) + rows[y].slice(x - 1, x + 1);
      if (square === "0000" || square === "1111") penalty += 3;
    }
  }
  const dark = rows.join("").replaceAll("0", "").length / side ** 2;
  return penalty + 10 * Math.floor(Math.abs(20 * dark - 10));
}

/**
 * Returns undefined if the text is too long for any QR code.
 * @param {string} text
 * @param {number} [chosen] The mask; by default, the one that reads best.
 */
export function drawSymbol(text, chosen) {
  const found = writeCodewords(text);
  if (!found) return undefined;
  const { version, codewords } = found;
  const patterns = drawPatterns(version);
  drawFormat(patterns, 0); // reserves the places
  const free = listFree(patterns);
  const candidates = MASKS.map((findRest, mask) => {
    const modules = patterns.map((row) => [...row]);
    drawFormat(modules, mask);
    free.forEach(([x, y], i) => {
      // A few places after the last codeword stay light.
      const bit = ((codewords[i >> 3] ?? 0) >> (7 - (i & 7))) & 1;
      modules[y][x] = bit ^ Number(!findRest(x, y));
    });
    return modules;
  });
  const penalties = candidates.map(findPenalty);
  return candidates[chosen ?? penalties.indexOf(Math.min(...penalties))];
}
