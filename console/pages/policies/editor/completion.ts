/** What can be written where the cursor stands: keys and values of the schema, and names of the catalog and the org. Pure. */
import type { Place } from "./place.ts";
import { alternatives, isMapping, isSequence, type Schema, schemasAt, stepInto, takes } from "./schema.ts";
import { ITEM, type Path } from "./yaml-reader.ts";

/** A name that a policy may use, with what it is. */
export interface KnownName {
  readonly name: string;
  readonly about: string;
}

export type NameKind = "models" | "providers" | "endpoints" | "regions" | "projects" | "keys";
/** Those that are not known yet are left out. */
export type Names = Readonly<Partial<Record<NameKind, readonly KnownName[]>>>;

export interface Completion {
  readonly label: string;
  /** What the label is, in a word: `required`, the provider's name. */
  readonly detail: string;
  readonly about: string;
  /** Takes the place of the word. */
  readonly insert: string;
  /** How many letters of `insert` stand behind the cursor afterwards. */
  readonly behind: number;
  /** What can follow is offered at once. */
  readonly goesOn: boolean;
}

/** Kinds of names by the key that takes them. */
const NAMES_OF: Readonly<Record<string, readonly NameKind[]>> = {
  model: ["models"],
  project: ["projects"],
  key: ["keys"],
  order: ["providers", "endpoints"],
  only: ["providers", "endpoints"],
  ignore: ["providers", "endpoints"],
  regions: ["regions"],
  endpoint: ["endpoints"],
};

/** What names a place takes: of its values, or of its keys. */
export function namesWanted(place: Place | undefined): readonly NameKind[] {
  if (place === undefined) return [];
  const steps = place.path.filter((step) => step !== ITEM);
  if (steps.at(-1) === "weights") return place.slot === "value" ? [] : ["endpoints"];
  if (place.slot === "key") return [];
  return NAMES_OF[steps.at(-1) ?? ""] ?? [];
}

/** More than one looks through: the next letter leaves fewer. */
const MOST = 60;

/** Those that fit what is typed, the best first. */
export function completionsAt(place: Place, root: Schema, names: Names): readonly Completion[] {
  const schemas = schemasAt(root, place.path);
  const offered = [...keysFor(place, schemas, names), ...valuesFor(place, schemas, names)];
  const typed = place.typed.toLowerCase();
  const begins = offered.filter(({ label }) => label.toLowerCase().startsWith(typed));
  const has = offered.filter(
    ({ label }) => !label.toLowerCase().startsWith(typed) && label.toLowerCase().includes(typed),
  );
  return [...begins, ...has].slice(0, MOST);
}

function keysFor(place: Place, schemas: readonly Schema[], names: Names): Completion[] {
  if (place.slot === "value") return [];
  const isNewItem = place.slot === "node" && schemas.some(({ items }) => items !== undefined);
  const mappings = schemas.flatMap((schema) => {
    if (isMapping(schema)) return [schema];
    // On a line of its own below `rules:` an item begins, with a dash.
    const items = isNewItem && schema.items !== undefined ? alternatives(schema.items) : [];
    return items.filter(isMapping);
  });
  const dash = isNewItem ? "- " : "";
  return mappings.flatMap((mapping) => [
    ...Object.entries(mapping.properties ?? {})
      .filter(([name]) => !place.keys.includes(name))
      .sort(byNeed(mapping))
      .map(([name, schema]) => keyCompletion(place, { name, schema, dash, of: mapping })),
    ...(typeof mapping.additionalProperties === "object" ? namedKeys(place, names) : []),
  ]);
}

/** Keys without which the mapping is not valid come first. */
const byNeed =
  ({ required = [] }: Schema) =>
  ([a]: readonly [string, Schema], [b]: readonly [string, Schema]): number =>
    Number(required.includes(b)) - Number(required.includes(a));

interface OfferedKey {
  readonly name: string;
  readonly schema: Schema;
  readonly dash: string;
  /** The mapping whose key it is. */
  readonly of: Schema;
}

function keyCompletion(place: Place, { name, schema, dash, of }: OfferedKey): Completion {
  const isNeeded = of.required?.includes(name) === true;
  const [open, close] = place.hasColon ? ["", ""] : afterKey(place, schema, dash);
  return {
    label: name,
    detail: isNeeded ? "required" : "",
    about: aboutOf(alternatives(schema)),
    insert: `${dash}${name}${open}${close}`,
    behind: close.length,
    goesOn: !place.hasColon,
  };
}

/** What follows a new key, before the cursor and behind it. */
function afterKey(place: Place, schema: Schema, dash: string): readonly [open: string, close: string] {
  const [first] = alternatives(schema);
  if (first === undefined) return [": ", ""];
  if (place.isFlow) {
    if (isMapping(first)) return [": { ", " }"];
    return isSequence(first) ? [": [", "]"] : [": ", ""];
  }
  const deeper = `\n${" ".repeat(place.column + dash.length + 2)}`;
  if (isMapping(first)) return [`:${deeper}`, ""];
  if (first.items === undefined) return [": ", ""];
  return isMapping(first.items) ? [`:${deeper}- `, ""] : [": [", "]"];
}

const namedKeys = (place: Place, names: Names): Completion[] =>
  wanted(place, names)
    .filter(({ name }) => !place.keys.includes(name))
    .map(({ name, about }) => ({
      label: name,
      detail: "",
      about,
      insert: place.hasColon ? name : `${name}: `,
      behind: 0,
      goesOn: false,
    }));

function valuesFor(place: Place, schemas: readonly Schema[], names: Names): Completion[] {
  if (place.slot === "key") return [];
  const isAlone = !schemas.some((schema) => isScalar(schema));
  return schemas.flatMap((schema) => {
    if (isScalar(schema)) return scalarValues(place, schema, names, (value) => value);
    // A list takes an item at once where it takes nothing else: `only: [one]`, or `- one` below the key.
    if (!isAlone || schema.items === undefined) return [];
    const wrap = (value: string) => (place.slot === "value" ? `[${value}]` : `- ${value}`);
    return alternatives(schema.items)
      .filter(isScalar)
      .flatMap((item) => scalarValues(place, item, names, wrap));
  });
}

const isScalar = (schema: Schema): boolean => !isMapping(schema) && !isSequence(schema);

function scalarValues(
  place: Place,
  schema: Schema,
  names: Names,
  wrap: (value: string) => string,
): Completion[] {
  const space = place.needsSpace ? " " : "";
  const made = (name: string, about: string, detail = ""): Completion => ({
    label: name,
    detail,
    about,
    insert: `${space}${wrap(plain(name))}`,
    behind: 0,
    goesOn: false,
  });
  const about = schema.description ?? "";
  const isUsual = (value: unknown) => (value === schema.default ? "unless given" : "");
  if (schema.enum !== undefined) return schema.enum.map((value) => made(value, about, isUsual(value)));
  if (schema.const !== undefined) return [made(String(schema.const), about)];
  if (schema.type === "boolean") return ["true", "false"].map((value) => made(value, about));
  if (schema.type !== "string") return [];
  return wanted(place, names).map(({ name, about: what }) => made(name, what));
}

const wanted = (place: Place, names: Names): readonly KnownName[] =>
  namesWanted(place).flatMap((kind) => names[kind] ?? []);

/** A text as YAML has it: in quotes where it would be something else without them. */
const plain = (text: string): string =>
  /^[\w.@/-]*[A-Za-z_@/-][\w.@/-]*$|^\d+$/.test(text) ? text : JSON.stringify(text);

/** What is at the cursor: its path, what it means, and what it takes. */
export interface Help {
  readonly path: string;
  readonly about: string;
  readonly takes: string;
}

/** @returns undefined where the schema says nothing */
export function helpAt(place: Place, root: Schema, word: string): Help | undefined {
  const around = schemasAt(root, place.path);
  const own = place.slot === "value" ? [] : around.flatMap((schema) => [...keysNamed(schema, word)]);
  const [path, schemas] = own.length > 0 ? [[...place.path, word], own] : [place.path, around];
  const help = { path: pathText(path), about: descriptionOf(schemas), takes: takes(schemas) };
  return schemas.length === 0 ? undefined : help;
}

function keysNamed(schema: Schema, word: string): readonly Schema[] {
  const found = word !== "" && schema.properties !== undefined ? stepInto(schema, word) : undefined;
  return found === undefined ? [] : alternatives(found);
}

const descriptionOf = (schemas: readonly Schema[]): string =>
  schemas.find(({ description = "" }) => description !== "")?.description ?? "";

const aboutOf = (schemas: readonly Schema[]): string =>
  [descriptionOf(schemas), takes(schemas)].filter((each) => each !== "").join(" Takes ");

/** `rules[].then.sort`; empty for the whole document. */
const pathText = (path: Path): string => path.join(".").replaceAll(`.${ITEM}`, ITEM);
