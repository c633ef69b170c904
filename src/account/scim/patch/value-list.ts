/**
 * The values of one multi-valued attribute while it is patched: no value twice, at most one of them primary, members found by
 * their `value` without a search.
 */
import { type Attribute, foldCase, subAttribute } from "../attribute.ts";
import type { Filter } from "../filter/filter.ts";
import { matching } from "../filter/match.ts";
import type { Sliced } from "../slices.ts";
import type { Steps } from "../steps.ts";
import { type ComplexValue, type SimpleValue, tooManyValues } from "../values.ts";

/** Where a value is: its own `value` if the attribute is keyed, otherwise a running number. */
export type Place = SimpleValue | number;

export class ValueList {
  /** Counts what is done with the values. */
  readonly steps: Steps;
  readonly #attribute: Attribute;
  /** Parts that make a value what it is: of those without a `value`, such as addresses, all. */
  readonly #identity: readonly string[];
  readonly #isValued: boolean;
  readonly #values = new Map<Place, ComplexValue>();
  #next = 0;

  constructor(attribute: Attribute, values: readonly ComplexValue[], steps: Steps) {
    this.#attribute = attribute;
    this.steps = steps;
    this.#isValued = subAttribute(attribute, "value") !== undefined;
    const parts = (attribute.subAttributes ?? []).map(({ name }) => name);
    this.#identity = this.#isValued ? ["value", "type"] : parts;
    steps.take(values.length);
    for (const value of values) this.#values.set(this.#placeOf(value), value);
  }

  /** In the order in which they came; without those that have no `value`, which mean nothing. */
  toArray(): readonly ComplexValue[] {
    const values = [...this.#values.values()];
    return this.#isValued ? values.filter((value) => value.value !== undefined) : values;
  }

  at(place: Place): ComplexValue | undefined {
    return this.#values.get(place);
  }

  places(): Place[] {
    this.steps.take(this.#values.size);
    return [...this.#values.keys()];
  }

  /** @throws ScimError `tooMany` */
  *matching(filter: Filter): Sliced<Place[]> {
    const key = this.#attribute.isKeyed ? soughtValue(filter) : undefined;
    if (key !== undefined) return this.#values.has(key) ? [key] : [];
    const found: Place[] = [];
    for (const place of this.places()) {
      yield;
      if (yield* matching(filter, this.#values.get(place) ?? {}, this.steps)) found.push(place);
    }
    return found;
  }

  /**
   * Adds values. One that is there already (the same `value` and `type`) gets the other parts of the new one.
   * @throws ScimError `invalidValue` above the attribute's limit
   */
  *add(values: readonly ComplexValue[]): Sliced<void> {
    const primary = values.find((value) => value.primary === true);
    for (const value of values) {
      this.steps.take(1);
      yield;
      // The first of two that say so is primary.
      const isSecond = value.primary === true && value !== primary;
      const place = this.#put(isSecond ? { ...value, primary: false } : value);
      if (value === primary) this.#keepPrimary(place);
    }
  }

  /** Replaces the value at a place. */
  set(place: Place, value: ComplexValue): void {
    this.#values.set(place, value);
    if (value.primary === true) this.#keepPrimary(place);
  }

  delete(place: Place): void {
    this.#values.delete(place);
  }

  clear(): void {
    this.#values.clear();
  }

  /** Deletes the values that have all the parts of one of these. */
  *deleteLike(samples: readonly ComplexValue[]): Sliced<void> {
    for (const sample of samples) {
      this.steps.take(1);
      yield;
      if (this.#attribute.isKeyed) this.#values.delete(this.#placeOf(sample));
      else for (const place of this.places()) if (this.#isLike(place, sample)) this.#values.delete(place);
    }
  }

  #isLike(place: Place, sample: ComplexValue): boolean {
    const value = this.#values.get(place);
    return Object.entries(sample).every(([name, part]) => this.#isSamePart(name, value?.[name], part));
  }

  #isSamePart(name: string, left: SimpleValue | undefined, right: SimpleValue | undefined): boolean {
    if (typeof left !== "string" || typeof right !== "string") return left === right;
    const isExact = subAttribute(this.#attribute, name)?.caseExact;
    return isExact ? left === right : foldCase(left) === foldCase(right);
  }

  #put(value: ComplexValue): Place {
    const place = this.#find(value);
    if (place !== undefined) {
      this.#values.set(place, { ...this.#values.get(place), ...value });
      return place;
    }
    if (this.#values.size >= this.#attribute.maxValues) throw tooManyValues(this.#attribute);
    const added = this.#placeOf(value);
    this.#values.set(added, value);
    return added;
  }

  #find(value: ComplexValue): Place | undefined {
    if (this.#attribute.isKeyed) {
      const place = this.#placeOf(value);
      return this.#values.has(place) ? place : undefined;
    }
    return this.places().find((place) => {
      const other = this.#values.get(place);
      return this.#identity.every((name) => this.#isSamePart(name, other?.[name], value[name]));
    });
  }

  #placeOf(value: ComplexValue): Place {
    return (this.#attribute.isKeyed ? value.value : undefined) ?? this.#next++;
  }

  /** RFC 7644 section 3.5.2: a value that becomes primary ends that of the others. */
  #keepPrimary(kept: Place): void {
    for (const place of this.places()) {
      const value = this.#values.get(place);
      if (place !== kept && value?.primary === true) this.#values.set(place, { ...value, primary: false });
    }
  }
}

/** The `x` of `value eq "x"`, if that is all. */
function soughtValue(filter: Filter): string | undefined {
  if (filter.op !== "eq" || filter.path.text !== "value" || filter.path.attribute === undefined)
    return undefined;
  return typeof filter.value === "string" ? filter.value : undefined;
}
