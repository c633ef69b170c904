/** The fields that an act changed, down to the single values that differ, as words. Pure. */
import type { Format } from "../../text/format.ts";
import type { Entry } from "./audit-words.ts";

export interface ChangedValue {
  /** Where it is, in words: `settings › budget › monthly`. */
  readonly field: string;
  /** Undefined: there was none, or there is none. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Values of one row of the audit that are shown: a policy may have very many. */
export const MOST_VALUES = 60;
const DEEPEST = 6;

interface Leaf {
  readonly path: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
}

/** @returns at most `MOST_VALUES` and one more, by which one knows that there are others */
export function changedValues(changes: Entry["changes"], format: Format): readonly ChangedValue[] {
  const leaves: Leaf[] = [];
  for (const { field, before, after } of changes) addLeaves(leaves, [field], before, after);
  return leaves.slice(0, MOST_VALUES + 1).map(({ path, before, after }) => ({
    field: path.map(wordOf).join(" › "),
    before: valueText(path, before, format),
    after: valueText(path, after, format),
  }));
}

function addLeaves(leaves: Leaf[], path: readonly string[], before: unknown, after: unknown): void {
  if (leaves.length > MOST_VALUES || JSON.stringify(before) === JSON.stringify(after)) return;
  const [old, young] = [membersOf(before), membersOf(after)];
  if ((old === undefined && young === undefined) || path.length >= DEEPEST) {
    leaves.push({ path, before, after });
    return;
  }
  // Where one side is no object, such as an absent one, its whole is told of by the members of the other.
  for (const name of new Set([...Object.keys(old ?? {}), ...Object.keys(young ?? {})]))
    addLeaves(leaves, [...path, name], old?.[name], young?.[name]);
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;

/** Millionths of a dollar. */
const MONEY = /_micro(?:_usd)?$/;

const wordOf = (name: string): string => name.replace(MONEY, "").replaceAll("_", " ");

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

function valueText(path: readonly string[], value: unknown, format: Format): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number")
    return MONEY.test(path.at(-1) ?? "") ? format.money(value) : format.count(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (value === null || value === "") return "nothing";
  if (typeof value === "string") return INSTANT.test(value) ? format.time(value) : value;
  if (Array.isArray(value) && value.every((each) => typeof each === "string"))
    return value.length === 0 ? "none" : value.join(", ");
  return JSON.stringify(value);
}
