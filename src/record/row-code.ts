/**
 * Functions that write objects as RowBinary, generated as one line per value, as if written by hand: loops over the fields, and a call
 * for each value, take several times as long. The code is made from declared keys only, never from data.
 *
 * A generated function has the writer's bytes `b`, their view `v` and the place `at` in variables, and may write this many bytes
 * without a look at the space left: what may be longer looks for itself.
 */
import { clamped, LAST_MS, LAST_SECOND, type RowBinaryWriter } from "./row-binary.ts";

const FREE_BYTES = 1024;

/** Statements that write a value. `value` is an expression; `bind` gives a thing a name in the generated function. */
export type Code = (value: string, bind: Bind) => string;
type Bind = (thing: unknown) => string;
export type Write = (to: RowBinaryWriter, value: never) => void;

const AGAIN = "at = to.at; b = to.bytes; v = to.view;";
/** Before something of this many bytes. */
const ensure = (bytes: string): string =>
  `if (at + ${bytes} + ${FREE_BYTES} > b.length) { to.at = at; to.ensure(${bytes} + ${FREE_BYTES}); ${AGAIN} }`;

/** A number that most values are within: no more than a comparison for those. */
const limited = (value: string, most: number, bind: Bind): string =>
  `n = ${value}; if (!(n >>> 0 === n && n <= ${most})) n = ${bind(clamped)}(n, ${most});`;

export const boolCode: Code = (value) => `b[at++] = ${value} === true ? 1 : 0;`;

export const uint8Code: Code = (value, bind) => `${limited(value, 0xff, bind)} b[at++] = n;`;

export const uint16Code: Code = (value, bind) =>
  `${limited(value, 0xffff, bind)} v.setUint16(at, n, true); at += 2;`;

export const uint32Code: Code = (value, bind) =>
  `${limited(value, LAST_SECOND, bind)} v.setUint32(at, n, true); at += 4;`;

const TWO_32 = 0x1_0000_0000;

/** A number of eight bytes; `most` is a safe integer. */
const uint64 =
  (most: number): Code =>
  (value, bind) =>
    `n = ${value}; if (n >>> 0 === n) { v.setUint32(at, n, true); v.setUint32(at + 4, 0, true); } else {
       if (!(n >= 0 && n <= ${most} && n === Math.floor(n))) n = ${bind(clamped)}(n, ${most});
       v.setUint32(at, n >>> 0, true); v.setUint32(at + 4, (n / ${TWO_32}) >>> 0, true); } at += 8;`;

export const uint64Code = uint64(Number.MAX_SAFE_INTEGER);
export const timeCode = uint64(LAST_MS);

export const float64Code: Code = (value) =>
  `n = Number(${value}); v.setFloat64(at, n > 0 && n < Infinity ? n : 0, true); at += 8;`;

/** Longer texts are left to an encoder. */
const LONGEST_LOOPED = 48;

/** Taken once: see `row-binary.ts`. */
const { charCodeAt } = String.prototype;

/** Writes a short text of ASCII with its length before it. @returns the place behind it; -1 where it is another text */
function shortText(bytes: Uint8Array, from: number, text: string): number {
  const { length } = text;
  if (length > LONGEST_LOOPED || from + length + FREE_BYTES > bytes.length) return -1;
  bytes[from] = length;
  const at = from + 1;
  for (let i = 0; i < length; i++) {
    const code = charCodeAt.call(text, i);
    if (code > 0x7f) return -1;
    bytes[at + i] = code;
  }
  return at + length;
}

/** What a template makes is known to be a string: its length is not looked up anew. Most texts are short, and many empty. */
export const textCode: Code = (value, bind) =>
  `s = ${value}; if (s === "") b[at++] = 0; else {
     n = typeof s === "string" ? ${bind(shortText)}(b, at, \`\${s}\`) : -1;
     if (n >= 0) at = n; else { to.at = at; to.text(s); to.ensure(${FREE_BYTES}); ${AGAIN} } }`;

/** Writes with a function of the writer. */
export const outside =
  (write: Write): Code =>
  (value, bind) =>
    `to.at = at; ${bind(write)}(to, ${value}); to.ensure(${FREE_BYTES}); ${AGAIN}`;

/** A list that is usually empty. */
export const seldom =
  (write: Write): Code =>
  (value, bind) =>
    `if (${value}.length === 0) b[at++] = 0; else { ${outside(write)(value, bind)} }`;

/** A part of an object: where it is found, and how it is written. Parts of one run are written together, see {@link runCode}. */
export interface Part {
  readonly key: string;
  readonly code: Code;
  readonly run?: object | undefined;
}

/** The parts of an object, one after another. */
export const partsCode =
  (parts: readonly Part[]): Code =>
  (value, bind) => {
    const lines: string[] = [];
    for (let at = 0; at < parts.length; ) {
      const { run } = parts[at] as Part;
      const rest = parts.slice(at);
      const end = run === undefined ? 1 : rest.findIndex((part) => part.run !== run);
      const together = end < 0 ? rest : rest.slice(0, end);
      if (run !== undefined) lines.push(runCode(together)(value, bind));
      else for (const { key, code } of together) lines.push(code(`${value}.${key}`, bind));
      at += together.length;
    }
    return lines.join("\n");
  };

/** Combinations that are kept of each run; what one wrote is a few hundred bytes. */
const KEPT = 16;

const sliceOf = (bytes: Uint8Array, from: number, to: number): Uint8Array =>
  Uint8Array.prototype.slice.call(bytes, from, to);

/** The parts of a run. A kept combination is compared value by value: most are the same strings as before. */
const runCode =
  (parts: readonly Part[]): Code =>
  (value, bind) => {
    const kept: object[] = [];
    let next = 0;
    const keep = (combination: object): void => {
      kept[next] = combination;
      next = (next + 1) % KEPT;
    };
    const list = bind(kept);
    const equal = parts.map((_, n) => `k.v${n} === v${n}`).join(" && ");
    return `{ ${parts.map(({ key }, n) => `const v${n} = ${value}.${key};`).join(" ")}
      let i = 0; const size = ${list}.length;
      for (; i < size; i++) { const k = ${list}[i]; if (${equal}) {
        const m = k.bytes; const length = k.length;
        ${ensure("length")} b.set(m, at); at += length; break; } }
      if (i === size) { const from = at;
        ${parts.map(({ code }, n) => code(`v${n}`, bind)).join("\n")}
        ${bind(keep)}({ ${parts.map((_, n) => `v${n}`).join(", ")}, bytes: ${bind(sliceOf)}(b, from, at), length: at - from }); } }`;
  };

/** A length is one byte for most lists. */
const LENGTH = `if (c < 0x80) b[at++] = c; else { to.at = at; to.varint(c); ${AGAIN} }`;

/** A list of objects, as a list for each of their parts. Most lists of attempts have one. */
export const listsCode =
  (parts: readonly Part[]): Code =>
  (value, bind) => {
    const ofOne = parts.map((part) => ({
      ...part,
      code: (one: string, other: Bind) => `b[at++] = 1; ${part.code(one, other)}`,
    }));
    const ofMany = parts.map(
      ({ key, code }) => `${ensure("10")} ${LENGTH}
        for (let i = 0; i < c; i++) { ${ensure("10")} ${code(`list[i].${key}`, bind)} }`,
    );
    return `{ const list = ${value}; const c = list.length;
      if (c === 1) { const one = list[0]; ${partsCode(ofOne)("one", bind)} } else { ${ofMany.join("\n")} } }`;
  };

/** A function of the code, for a value of any kind. */
export function compiled<T>(code: Code): (to: RowBinaryWriter, value: T) => void {
  const things: unknown[] = [];
  const bind = (thing: unknown): string => {
    const at = things.indexOf(thing);
    return `x${at < 0 ? things.push(thing) - 1 : at}`;
  };
  const lines = code("value", bind);
  const names = things.map((_, n) => `x${n}`);
  const bound = new Function(
    ...names,
    `return (to, value) => { to.ensure(${FREE_BYTES}); let n = 0, s = "", at = to.at, b = to.bytes, v = to.view;
      ${lines}
      to.at = at; };`,
  );
  return bound(...things);
}
