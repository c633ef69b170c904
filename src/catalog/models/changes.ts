/** The differences between two states of a model, as entries of its changelog. Pure. */
import { isoTime } from "../../base/clock.ts";
import { isSamePrice, type PricedEndpoint, type PriceVersions } from "./price-versions.ts";
import { priceChange } from "./price-words.ts";

export const CHANGE_KINDS = [
  "model_added",
  "endpoint_added",
  "endpoint_removed",
  "price_change",
  "deprecated",
  "limits_change",
] as const;

export interface Change {
  readonly kind: (typeof CHANGE_KINDS)[number];
  readonly summary: string;
  /** Empty where it concerns the model as a whole. */
  readonly endpointId: string;
  /** May be in the future; milliseconds since 1970. */
  readonly effectiveMs: number;
}

type AnnouncedPrice = PricedEndpoint & { readonly fromMs: number };

export interface KnownEndpoint {
  /** Such as `Acme, eu`. */
  readonly place: string;
  /** Tokens. */
  readonly contextLength: number;
  readonly maxOutput: number;
  /** In force. */
  readonly priced: PricedEndpoint;
  /** Not in force yet, the earliest first. */
  readonly scheduled: readonly AnnouncedPrice[];
}

/** What is stored of a model, so that the next load finds the differences. */
export interface KnownModel {
  readonly name: string;
  readonly isDeprecated: boolean;
  /** False once the files no longer have it. */
  readonly isListed: boolean;
  readonly endpoints: Readonly<Record<string, KnownEndpoint>>;
}

/** The model once the files no longer have it. */
export const leftModel = ({ name, isDeprecated }: KnownModel): KnownModel => ({
  name,
  isDeprecated,
  isListed: false,
  endpoints: {},
});

/** The model without what is announced for later. */
export const unannounced = (model: KnownModel): KnownModel => ({
  ...model,
  endpoints: Object.fromEntries(
    Object.entries(model.endpoints).map(([id, endpoint]) => [id, { ...endpoint, scheduled: [] }]),
  ),
});

/** @param nowMs when it became known; what is not announced for later is in force since then */
export function changesOf(before: KnownModel, after: KnownModel, nowMs: number): Change[] {
  const now = { endpointId: "", effectiveMs: nowMs };
  const changes: Change[] = [];
  if (!before.isListed && after.isListed)
    changes.push({ ...now, kind: "model_added", summary: `${after.name} was added` });
  if (before.isDeprecated !== after.isDeprecated) {
    const summary = `${after.name} is ${after.isDeprecated ? "deprecated" : "no longer deprecated"}`;
    changes.push({ ...now, kind: "deprecated", summary });
  }
  for (const [endpointId, { place }] of Object.entries(before.endpoints)) {
    if (Object.hasOwn(after.endpoints, endpointId)) continue;
    changes.push({ ...now, endpointId, kind: "endpoint_removed", summary: `No longer served by ${place}` });
  }
  for (const [endpointId, endpoint] of Object.entries(after.endpoints)) {
    const was = Object.hasOwn(before.endpoints, endpointId) ? before.endpoints[endpointId] : undefined;
    const summary = `Served by ${endpoint.place}`;
    if (was === undefined) changes.push({ ...now, endpointId, kind: "endpoint_added", summary });
    else changes.push(...limitChanges(endpointId, was, endpoint, nowMs));
    changes.push(...priceChanges(endpointId, was, endpoint, nowMs));
  }
  return changes;
}

function limitChanges(
  endpointId: string,
  before: KnownEndpoint,
  { place, contextLength, maxOutput }: KnownEndpoint,
  effectiveMs: number,
): Change[] {
  const said = (name: string, was: number, is: number) =>
    was === is ? [] : [`${name} ${was} → ${is} tokens`];
  const parts = [
    ...said("context", before.contextLength, contextLength),
    ...said("longest answer", before.maxOutput, maxOutput),
  ];
  if (parts.length === 0) return [];
  return [{ kind: "limits_change", endpointId, effectiveMs, summary: `${place}: ${parts.join(", ")}` }];
}

function priceChanges(
  endpointId: string,
  before: KnownEndpoint | undefined,
  { place, priced, scheduled }: KnownEndpoint,
  nowMs: number,
): Change[] {
  const changes: Change[] = [];
  const add = (effectiveMs: number, what: string) =>
    changes.push({ kind: "price_change", endpointId, effectiveMs, summary: `${place}: ${what}` });
  const announced = before?.scheduled ?? [];
  const cameTrue = announced.findLast((a) => a.fromMs <= nowMs && isSamePrice(a, priced));
  for (const was of announced) {
    const isPassed = cameTrue !== undefined && was.fromMs <= cameTrue.fromMs;
    if (isPassed || scheduled.some((s) => isSameAnnouncement(s, was))) continue;
    add(was.fromMs, `the price announced for ${isoTime(was.fromMs)} was taken back`);
  }
  if (before !== undefined && cameTrue === undefined && !isSamePrice(before.priced, priced)) {
    add(nowMs, priceChange(before.priced, priced));
  }
  let last = priced;
  for (const next of scheduled) {
    if (!announced.some((a) => isSameAnnouncement(a, next))) add(next.fromMs, priceChange(last, next));
    last = next;
  }
  return changes;
}

const isSameAnnouncement = (a: AnnouncedPrice, b: AnnouncedPrice): boolean =>
  a.fromMs === b.fromMs && isSamePrice(a, b);

/**
 * The changelog of a model that has none: since when its endpoints have prices here, and how these changed. `serial` orders what became known in one millisecond.
 * @param added endpoints that had no price before this load: where others had one, an earlier release knew the model
 */
export function pastOf(
  model: KnownModel,
  history: PriceVersions["history"],
  added: ReadonlySet<string>,
): (Change & { readonly serial: number })[] {
  const past = Object.entries(model.endpoints).flatMap(([endpointId, { place }]) =>
    history(endpointId).map((version, at, all) => {
      const before = all[at + 1];
      return {
        endpointId,
        effectiveMs: version.fromMs,
        serial: version.serial % 1024,
        ...(before === undefined
          ? { kind: "endpoint_added" as const, summary: `Served by ${place}` }
          : { kind: "price_change" as const, summary: `${place}: ${priceChange(before, version)}` }),
      };
    }),
  );
  const order = (c: { readonly effectiveMs: number; readonly serial: number }) =>
    c.effectiveMs * 1024 + c.serial;
  const [first] = past.sort((a, b) => order(a) - order(b));
  if (first === undefined || past.some(({ endpointId }) => !added.has(endpointId))) return past;
  const beginning = { kind: "model_added" as const, summary: `${model.name} was added`, endpointId: "" };
  return [{ ...beginning, effectiveMs: first.effectiveMs, serial: first.serial - 1 }, ...past];
}
