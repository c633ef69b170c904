/**
 * PATCH (RFC 7644 section 3.5.2) as identity providers send it. Pure: neither the resource nor the operations change. Only
 * attributes of the schema are ever written; operations on others are skipped, as bodies drop them.
 */
import { type Attribute, type ResourceSchema, subAttribute } from "../attribute.ts";
import { scimFail } from "../error.ts";
import type { Filter } from "../filter/filter.ts";
import { atOnce, type Sliced } from "../slices.ts";
import { Steps } from "../steps.ts";
import {
  type ComplexValue,
  isObject,
  readingValues,
  readParts,
  readSimple,
  type SimpleValue,
} from "../values.ts";
import type { PatchOperation } from "./patch-body.ts";
import { type PatchTarget, readPatchPath } from "./patch-path.ts";
import { type Place, ValueList } from "./value-list.ts";

type Op = PatchOperation["op"];

/**
 * Applies operations in their order; all or none.
 * @param resource names of attributes as in the schema
 * @param steps counts the work, if the caller wants to know
 * @returns a new resource; the same one if nothing changed, so that its version need not change
 * @throws ScimError `invalidPath`, `invalidValue`, `mutability`, `noTarget`, `tooMany`
 */
export function applyPatch<R extends object>(
  schema: ResourceSchema,
  resource: R,
  operations: readonly PatchOperation[],
  steps = new Steps(),
): R {
  return atOnce(patching(schema, resource, operations, steps));
}

/** {@link applyPatch} in slices: a group has many members. */
export function* patching<R extends object>(
  schema: ResourceSchema,
  resource: R,
  operations: readonly PatchOperation[],
  steps: Steps,
): Sliced<R> {
  const draft = new Draft(schema, resource as Readonly<Record<string, unknown>>, steps);
  for (const operation of operations) {
    yield;
    yield* draft.apply(operation);
  }
  return ((yield* draft.finish()) ?? resource) as R;
}

class Draft {
  readonly #schema: ResourceSchema;
  readonly #original: Readonly<Record<string, unknown>>;
  readonly #steps: Steps;
  /** Attributes that operations touched. */
  readonly #single = new Map<Attribute, SimpleValue | ComplexValue | undefined>();
  readonly #lists = new Map<Attribute, ValueList>();

  constructor(schema: ResourceSchema, original: Readonly<Record<string, unknown>>, steps: Steps) {
    this.#schema = schema;
    this.#original = original;
    this.#steps = steps;
  }

  *apply({ op, path, value }: PatchOperation): Sliced<void> {
    this.#steps.take(1);
    if (path !== undefined) yield* this.#applyAt(op, path, value);
    else if (op === "remove") throw scimFail("noTarget", "A remove operation needs a path.");
    else yield* this.#applyAll(op, value);
  }

  /** The resource with what was touched; undefined if that is as it was. */
  *finish(): Sliced<object | undefined> {
    const after: Record<string, unknown> = { ...this.#original };
    let isChanged = false;
    const touched = [
      ...this.#single,
      ...[...this.#lists].map(([attribute, list]) => [attribute, list.toArray()] as const),
    ];
    for (const [{ name }, value] of touched) {
      const kept = Array.isArray(value) && value.length === 0 ? undefined : value;
      if (yield* isSame(after[name], kept, this.#steps)) continue;
      isChanged = true;
      if (kept === undefined) delete after[name];
      else after[name] = kept;
    }
    return isChanged ? after : undefined;
  }

  /** Without a path: each member of the value is an attribute. Entra ID writes paths there, such as `name.familyName`. */
  *#applyAll(op: Op, value: unknown): Sliced<void> {
    if (!isObject(value)) throw scimFail("invalidValue", "Without a path, the value must be an object.");
    for (const [path, part] of Object.entries(value)) {
      const target = this.#target(path);
      if (target?.attribute.mutability === "readOnly") this.#checkUnchanged(target.attribute, part);
      else if (target !== undefined) yield* this.#change(op, target, part);
    }
  }

  /** Okta repeats the id of the group that it changes; other read-only attributes are dropped, as by PUT. */
  #checkUnchanged({ name }: Attribute, part: unknown): void {
    if (name === "id" && part !== this.#original.id) throw scimFail("mutability", "id cannot be changed.");
  }

  *#applyAt(op: Op, path: string, value: unknown): Sliced<void> {
    const target = this.#target(path);
    // `schemas` follows from the attributes.
    if (target === undefined || target.attribute.name === "schemas") return;
    const { attribute, sub } = target;
    if (attribute.mutability === "readOnly") throw notWritable(attribute);
    if (sub?.mutability === "readOnly") throw notWritable(sub);
    yield* this.#change(op, target, value);
  }

  #target(path: string): PatchTarget | undefined {
    return readPatchPath(path, this.#schema, this.#steps);
  }

  *#change(op: Op, target: PatchTarget, value: unknown): Sliced<void> {
    if (target.attribute.multiValued) yield* changeValues(op, target, value, this.#list(target.attribute));
    else if (target.attribute.type === "complex") this.#changeParts(op, target, value);
    else this.#changeSimple(op, target.attribute, value);
  }

  #changeSimple(op: Op, attribute: Attribute, raw: unknown): void {
    // RFC 7644 section 3.5.2.2.
    if (op === "remove" && attribute.required) throw notWritable(attribute);
    const value = op === "remove" ? undefined : readSimple(attribute, raw);
    if (value === undefined && op === "add") return;
    if (value === undefined && attribute.required)
      throw scimFail("invalidValue", `${attribute.name} is required.`);
    this.#single.set(attribute, value);
  }

  /** `name`: parts that are not sent stay (RFC 7644 section 3.5.2.3). */
  #changeParts(op: Op, target: PatchTarget, raw: unknown): void {
    const { attribute, sub } = target;
    if (sub === undefined && (op === "remove" || (op === "replace" && raw === null))) {
      this.#single.set(attribute, undefined);
      return;
    }
    const parts = changedParts(op, target, this.#parts(attribute), raw);
    this.#single.set(attribute, Object.keys(parts).length === 0 ? undefined : parts);
  }

  #parts(attribute: Attribute): ComplexValue {
    const value = this.#single.has(attribute) ? this.#single.get(attribute) : this.#original[attribute.name];
    return isObject(value) ? (value as ComplexValue) : {};
  }

  #list(attribute: Attribute): ValueList {
    let list = this.#lists.get(attribute);
    if (list === undefined) {
      const value = this.#original[attribute.name];
      list = new ValueList(attribute, Array.isArray(value) ? value : [], this.#steps);
      this.#lists.set(attribute, list);
    }
    return list;
  }
}

const notWritable = ({ name }: Attribute) => scimFail("mutability", `${name} cannot be changed.`);

function* changeValues(op: Op, target: PatchTarget, raw: unknown, list: ValueList): Sliced<void> {
  yield;
  const { attribute, filter, sub } = target;
  if (filter !== undefined) yield* changeMatching(op, target, filter, raw, list);
  else if (sub !== undefined) yield* changePartOfAll(op, target, raw, list);
  else if (op === "remove") yield* removeValues(attribute, raw, list);
  else {
    const values = yield* readingValues(attribute, raw, list.steps);
    if (op === "replace") list.clear();
    yield* list.add(values);
  }
}

/** With a value, as Entra ID removes members, only what it lists; an empty list removes nobody. The RFC has no such value. */
function* removeValues(attribute: Attribute, raw: unknown, list: ValueList): Sliced<void> {
  if (raw === undefined || raw === null) {
    list.clear();
    return;
  }
  const values = yield* readingValues(attribute, raw, list.steps);
  const isUnreadable = values.length === 0 && !(Array.isArray(raw) && raw.length === 0);
  if (isUnreadable) throw scimFail("invalidValue", `The value names no value of ${attribute.name}.`);
  yield* list.deleteLike(values);
}

/** `emails.value` without a filter means every e-mail address. */
function* changePartOfAll(op: Op, target: PatchTarget, raw: unknown, list: ValueList): Sliced<void> {
  const places = list.places();
  if (places.length > 0 || op === "remove") yield* changeAt(op, target, raw, list, places);
  else yield* list.add([changedParts(op, target, {}, raw)]);
}

function* changeMatching(
  op: Op,
  target: PatchTarget,
  filter: Filter,
  raw: unknown,
  list: ValueList,
): Sliced<void> {
  const { attribute, sub } = target;
  const places = yield* list.matching(filter);
  // Nothing to remove is no failure: identity providers repeat what they are not sure of.
  if (places.length > 0 || op === "remove") {
    yield* changeAt(op, target, raw, list, places);
    return;
  }
  const equal = equalParts(filter);
  // Entra ID expects a value that is missing to be made; a whole one must be there to be replaced (RFC 7644 3.5.2.3).
  if (equal === undefined || (op === "replace" && sub === undefined)) {
    throw scimFail("noTarget", `No value of ${attribute.name} matches the filter of the path.`);
  }
  yield* list.add([changedParts(op, target, equal, raw)]);
}

function* changeAt(
  op: Op,
  target: PatchTarget,
  raw: unknown,
  list: ValueList,
  places: readonly Place[],
): Sliced<void> {
  for (const place of places) {
    list.steps.take(1);
    yield;
    const before = list.at(place);
    if (before === undefined) continue;
    if (op === "remove" && target.sub === undefined) list.delete(place);
    else list.set(place, changedParts(op, target, before, raw));
  }
}

/** A complex value with one part changed, or with those parts that `raw` has. Parts without a value change nothing in an `add`. */
function changedParts(
  op: Op,
  { attribute, sub }: PatchTarget,
  before: ComplexValue,
  raw: unknown,
): ComplexValue {
  const parts =
    sub === undefined
      ? readParts(attribute, raw)
      : { [sub.name]: op === "remove" ? undefined : readSimple(sub, raw) };
  const after = new Map(Object.entries(before));
  for (const [name, value] of Object.entries(parts)) {
    const old = after.get(name);
    if (old === value || (value === undefined && op === "add")) continue;
    const part = subAttribute(attribute, name);
    if (old !== undefined && part?.mutability === "immutable") throw notWritable(part);
    if (value === undefined) after.delete(name);
    else after.set(name, value);
  }
  return Object.fromEntries(after);
}

/** What a value must have to match the filter, if the filter is `eq` and `and` only; undefined otherwise. */
function equalParts(filter: Filter): ComplexValue | undefined {
  if (filter.op === "and") {
    const parts = filter.filters.map(equalParts);
    return parts.every((part) => part !== undefined) ? Object.assign({}, ...parts) : undefined;
  }
  if (filter.op !== "eq") return undefined;
  const { attribute } = filter.path;
  if (attribute === undefined || attribute.mutability === "readOnly") return undefined;
  const value = readSimple(attribute, filter.value);
  return value === undefined ? undefined : { [attribute.name]: value };
}

/** Compares values as this file makes them: at most a list of flat objects. */
function* isSame(left: unknown, right: unknown, steps: Steps): Sliced<boolean> {
  if (!Array.isArray(left) || !Array.isArray(right)) return isSameValue(left, right);
  if (left.length !== right.length) return false;
  for (const [i, value] of left.entries()) {
    steps.take(1);
    yield;
    if (!isSameValue(value, right[i])) return false;
  }
  return true;
}

function isSameValue(left: unknown, right: unknown): boolean {
  if (left === right || !isObject(left) || !isObject(right)) return left === right;
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => left[name] === right[name]);
}
