/**
 * Looks at short text sixteen bytes at a time, in WebAssembly with SIMD (`scan.wat`): where JSON's signs are, whether a string is
 * valid, and where a secret may begin. There is one memory: what a look has found is there until the next one.
 */
import { join } from "node:path";
import { exportsOf } from "../wasm.ts";

/** The most bytes that are looked at. */
export const MOST_SCANNED = 65_536;

/** Flags of {@link scanSigns}. */
export const ESCAPE = 1;
export const CONTROL_IN_STRING = 2;
export const OPEN_STRING = 4;
export const LOOSE_BACKSLASH = 8;
export const BYTE_BEYOND_ASCII = 16;
/** Flags of {@link scanMarks}. */
export const BEYOND_ASCII = 1;
export const BACKSLASH = 2;
export const LONG_NUMERIC = 4;
export const AT_SIGN = 8;

const TEXT_AT = 16;
const PAIRS_AT = 81_920;
const COUNT_AT = 131_064;
const FLAGS_AT = 131_068;
const POSITIONS_AT = 131_072;
const SHAPES_AT = 393_216;
const LEAVES_AT = 651_264;
/** The most leaves of a shape. */
export const MOST_LEAVES = 1_024;

interface Scanning {
  readonly memory: { readonly buffer: ArrayBuffer };
  signs(length: number): number;
  string(length: number): number;
  marks(length: number): number;
  fits(run: number, leaves: number, length: number): number;
}

const { memory, signs, string, marks, fits } = exportsOf<Scanning>(join(import.meta.dirname, "scan.wasm"));
const input = new Uint8Array(memory.buffer, TEXT_AT, MOST_SCANNED);
const flags = new Int32Array(memory.buffer, FLAGS_AT, 1);
const count = new Int32Array(memory.buffer, COUNT_AT, 1);

/**
 * Which pairs of characters {@link scanMarks} looks for, by the lower seven bits of the first and those of the second: 1 two before a hyphen,
 * 2 two before an underscore, 4 another mark and the character before it, 8 one and that behind it.
 */
export const markPairs = new Uint8Array(memory.buffer, PAIRS_AT, 1 << 14);

/** Byte offsets that the last look has found, in order; only as many as it returned are of it. */
export const positions = new Int32Array(memory.buffer, POSITIONS_AT, MOST_SCANNED);

/** How many marks the last look has passed, in pairs or not. */
export const lastCount = (): number => count[0] as number;

/** The flags of the last look. */
export const lastFlags = (): number => flags[0] as number;

/**
 * Finds braces, brackets and commas outside of strings, and the quotes around strings. Flags: whether there is a backslash, whether a
 * string has a control character, whether the last string is open, whether a backslash is outside of strings: then a quote behind it counts
 * as escaped, and what follows may be read otherwise elsewhere; whether there is a byte beyond ASCII.
 * @param text at most {@link MOST_SCANNED} bytes
 * @returns the number of positions
 */
export function scanSigns(text: Uint8Array): number {
  input.set(text);
  return signs(text.length);
}

/**
 * How many bytes of a text are the inside of a JSON string: those before its first control character, or before an escape that is none or
 * that the end of the text cuts. Positions and flags of the last look stay.
 * @param text at most {@link MOST_SCANNED} bytes
 */
export function scanString(text: Uint8Array): number {
  input.set(text);
  return string(text.length);
}

/**
 * Finds those of the marks `-`, `_`, `A`, `B`, `J`, `P` and `S` that stand in one of {@link markPairs}. Flags: whether there is a byte beyond ASCII, a backslash,
 * twelve of digits, spaces and hyphens in a row, an at sign.
 * @param text at most {@link MOST_SCANNED} bytes
 * @returns the number of positions
 */
export function scanMarks(text: Uint8Array): number {
  input.set(text);
  return marks(text.length);
}

/** Numbers of 32 bits that all shapes may take. A run is four of them ({@link fitsShape}), and its bytes, padded to sixteen. */
export const shapes = new Int32Array(memory.buffer, SHAPES_AT, (LEAVES_AT - SHAPES_AT) / 4);

/** Where the leaves of the shape begin that was found last. */
export const leafStarts = new Int32Array(memory.buffer, LEAVES_AT, MOST_LEAVES);

/**
 * Whether the text in which signs were found last has a shape: runs of bytes, with leaves between them. Before the bytes of each run are
 * its length, the index of the sign that ends the leaf behind it, the number of bytes between the leaf and that sign, and whether the leaf
 * is a string, which then has no sign within. Behind the last run is none.
 * @param run the index of its first run in {@link shapes} @param length of the text
 */
export const fitsShape = (run: number, leaves: number, length: number): boolean =>
  fits(SHAPES_AT + 4 * run, leaves, length) === 1;
