/**
 * An upstream's answer as a value in which JSON that is only carried is a string: its own text behind a sign. So readers need
 * no table of what was taken out, and an event of a stream costs nothing more where it has none.
 */
import { randomBytes } from "node:crypto";
import { EACH, type Holder, type OpaquePaths, opaqueSpans } from "../json/opaque.ts";
import { valueEnd } from "../json/scan.ts";

/** No upstream can guess it, and no client sees it. */
const SIGN = `<weir-carried:${randomBytes(12).toString("hex")}>`;

/**
 * As `JSON.parse`, but objects and lists at the paths are strings for {@link carriedIn}.
 * @throws where the text is no JSON
 */
export function parseCarrying(text: string, paths: OpaquePaths): unknown {
  const value: unknown = JSON.parse(text);
  const count = countCarried(value, paths);
  if (count === 0) return value;
  const starts = soleStarts(text, paths, count);
  if (starts !== undefined) placeInOrder(value, paths, text, starts);
  else placeByWalk(value, paths, text);
  return value;
}

/** How many objects and lists a value has at the paths. */
function countCarried(value: unknown, paths: OpaquePaths): number {
  if (typeof value !== "object" || value === null) return 0;
  if (paths.isLeaf) return 1;
  let count = 0;
  for (const { name, paths: inner } of paths.within) {
    if (name !== EACH) count += countCarried((value as Holder)[name], inner);
    else if (Array.isArray(value)) for (const element of value) count += countCarried(element, inner);
  }
  return count;
}

/**
 * Where the texts of `count` values begin, the last one first; undefined where that cannot be told. Each text is behind the path's last
 * name. So if that name is before `count` objects and lists in all, these are the texts; and with one path alone they are in the order
 * of the values.
 */
function soleStarts(text: string, { isSole, signs }: OpaquePaths, count: number): number[] | undefined {
  if (!isSole) return undefined;
  const starts: number[] = [];
  signs.lastIndex = 0;
  for (let found = signs.exec(text); found !== null; found = signs.exec(text)) {
    if (starts.push(signs.lastIndex - 1) > count) return undefined;
  }
  return starts.length === count ? starts.reverse() : undefined;
}

/** Replaces the values at the paths. @param starts where their texts begin, the last one first; each start that was used is removed */
function placeInOrder(value: unknown, { within }: OpaquePaths, text: string, starts: number[]): void {
  if (typeof value !== "object" || value === null) return;
  for (const { name, paths } of within) {
    if (name === EACH && !Array.isArray(value)) continue;
    const keys = name === EACH ? (value as unknown[]).keys() : [name];
    for (const key of keys) {
      const inner = (value as Holder)[key];
      if (!paths.isLeaf) placeInOrder(inner, paths, text, starts);
      else if (typeof inner === "object" && inner !== null) {
        const start = starts.pop() as number;
        (value as Holder)[key] = SIGN + text.slice(start, valueEnd(text, start));
      }
    }
  }
}

function placeByWalk(value: unknown, paths: OpaquePaths, text: string): void {
  const bytes = Buffer.from(text);
  for (const { start, end, holder, key } of opaqueSpans(bytes, 0, paths, value)) {
    // Where a name comes twice, readers see the last value: its text comes last, too, or it is neither an object nor a list.
    const made = holder?.[key];
    const isObject = (typeof made === "object" && made !== null) || carriedIn(made) !== undefined;
    if (holder !== undefined && isObject) holder[key] = SIGN + bytes.toString("utf8", start, end);
  }
}

/** The text of an object or a list that is carried; undefined of any other value. */
export const carriedIn = (value: unknown): string | undefined =>
  typeof value === "string" && value.startsWith(SIGN) ? value.slice(SIGN.length) : undefined;
