/**
 * The first half of a QR code (ISO/IEC 18004): text becomes codewords in byte mode, with those that
 * repair errors. Level L repairs 7 % of them, which is enough for a screen.
 */

const REPAIR_PER_BLOCK = [
  ...[7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28],
  ...[28, 28, 30, 30, 26, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30],
];
const BLOCK_COUNTS = [
  ...[1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8],
  ...[8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25],
];
const LARGEST = 40;
const PADDING = [0xec, 0x11];

/** @param {number} version */
export const listAlignments = (version) => {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = 2 * Math.floor((8 * version + 3 * count + 5) / (4 * count - 4));
  const last = 4 * version + 10;
  return [6, ...Array.from({ length: count - 1 }, (_, i) => last - (count - 2 - i) * step)];
};

/**
 * Counts the codewords that a symbol of this version holds.
 * @param {number} version
 */
function countCodewords(version) {
  const side = 4 * version + 17;
  const patterns = listAlignments(version).length;
  // Three corners have finders; alignment patterns in the row or column of a timing pattern share
  // five modules with it.
  const finders = 3 * 64 + 2 * 15 + 1 + 2 * (side - 16);
  const alignments = patterns ? 25 * (patterns ** 2 - 3) - 10 * (patterns - 2) : 0;
  return Math.floor((side ** 2 - finders - alignments - (version < 7 ? 0 : 36)) / 8);
}

/**
 * Finds the smallest version that holds this many bytes; undefined if none does.
 * @param {number} length
 */
function findVersion(length) {
  for (let version = 1; version <= LARGEST; version += 1) {
    const room = countCodewords(version) -
      REPAIR_PER_BLOCK[version - 1] * BLOCK_COUNTS[version - 1];
    const header = version < 10 ? 12 : 20; // bits for the mode and the count of bytes
    if (8 * length + header <= 8 * room) return { version, room, countBits: header - 4 };
  }
  return undefined;
}

/**
 * Multiplies in the field of 256 elements that the standard names.
 * @param {number} a
 * @param {number} b
 */
function multiply(a, b) {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >> 7) * 0x11d);
    product ^= ((b >> bit) & 1) * a;
  }
  return product;
}

/**
 * Divides by the generator of the Reed–Solomon code; the remainder repairs errors.
 * @param {number[]} block
 * @param {number} count
 */
function findRepair(block, count) {
  let root = 1;
  /** @type {number[]} */
  let generator = [...Array(count - 1).fill(0), 1];
  for (let i = 0; i < count; i += 1) {
    const factor = root;
    generator = generator.map((one, j) => multiply(one, factor) ^ (generator[j + 1] ?? 0));
    root = multiply(root, 2);
  }
  return block.reduce((rest, byte) => {
    const lead = byte ^ rest[0];
    return generator.map((one, i) => multiply(one, lead) ^ (rest[i + 1] ?? 0));
  }, /** @type {number[]} */ (Array(count).fill(0)));
}

/**
 * Takes one codeword of each block in turn, so that damage in one place is spread over all of them.
 * @param {number[][]} blocks
 */
function interleave(blocks) {
  const longest = blocks[blocks.length - 1].length;
  return Array.from({ length: longest }).flatMap((_, i) =>
    blocks.flatMap((block) => block.length > i ? [block[i]] : [])
  );
}

/**
 * Returns undefined if the text is too long for any QR code.
 * @param {string} text
 */
export function writeCodewords(text) {
  const bytes = [...new TextEncoder().encode(text)];
  const found = findVersion(bytes.length);
  if (!found) return undefined;
  const { version, room, countBits } = found;
  const fields = [[4, 4], [bytes.length, countBits], ...bytes.map((byte) => [byte, 8])];
  const bits = fields.map(([value, size]) => value.toString(2).padStart(size, "0")).join("");
  const whole = bits.padEnd(Math.min(8 * room, bits.length + 4), "0");
  const data = whole.match(/.{1,8}/g)?.map((one) => parseInt(one.padEnd(8, "0"), 2)) ?? [];
  for (let i = 0; data.length < room; i += 1) data.push(PADDING[i % 2]);
  // The first blocks may be one codeword shorter.
  const count = BLOCK_COUNTS[version - 1];
  const size = Math.floor(room / count);
  const short = count - (room % count);
  /** @type {number[][]} */
  const blocks = [];
  for (let i = 0; i < count; i += 1) {
    const start = i * size + Math.max(0, i - short);
    blocks.push(data.slice(start, start + size + Number(i >= short)));
  }
  const repairs = blocks.map((block) => findRepair(block, REPAIR_PER_BLOCK[version - 1]));
  return { version, codewords: [...interleave(blocks), ...interleave(repairs)] };
}
