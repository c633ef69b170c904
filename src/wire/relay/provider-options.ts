/**
 * Members that the client adds to the body for one provider alone (`svc.provider_options`). What the call was planned and
 * counted by cannot be changed this way; what changes the provider's bill is sifted as in a body.
 */
import type { Dialect, Endpoint } from "../../base/endpoint.ts";
import { optionExtras } from "../extras/scan.ts";
import { type Billed, sift } from "../extras/sift.ts";
import { laxName, optionTable } from "../extras/tables.ts";
import type { JsonText } from "../json/json-text.ts";
import type { Ask } from "../neutral/asked-extras.ts";
import type { SvcOptions } from "../neutral/contract.ts";
import { freeOption, lax, membersIn, type Option } from "./option-objects.ts";

export interface ProviderOptions {
  /** As the client wrote them. */
  readonly set: Readonly<Record<string, JsonText>>;
  readonly dropped: readonly string[];
  /** Extras that are sent, and those that are left out for want of a price. */
  readonly kept: readonly Ask[];
  readonly unpriced: readonly Ask[];
}

/** Compared by identity. */
export const NO_PROVIDER_OPTIONS: ProviderOptions = Object.freeze({
  set: {},
  dropped: [],
  kept: [],
  unpriced: [],
});

/**
 * Decided before an upstream is asked: which model, what it reads, how much it may answer, what it may run. The call was
 * planned, counted and paid for by these, so no option changes them unseen. In any spelling: providers take several.
 */
const SETTLED = lax([
  "model",
  "stream",
  "stream_options",
  "svc",
  "messages",
  "input",
  "prompt",
  "suffix",
  "system",
  "instructions",
  "contents",
  "systemInstruction",
  "documents",
  "previous_response_id",
  "conversation",
  "query",
  "texts",
  "inputs",
  "requests",
  "tools",
  "toolConfig",
  "functions",
  "models",
  // The answer would come later, when no call waits for it.
  "background",
  "deferred",
  "max_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "n",
  "best_of",
  "candidate_count",
]);

/**
 * @param billed whose credential the body will be sent with
 * @param ofBody what the body asks for by itself
 */
export function optionsFor(
  svc: SvcOptions,
  endpoint: Endpoint,
  dialect: Dialect,
  billed: Billed,
  ofBody: readonly Ask[] = [],
): ProviderOptions {
  const { providerOptions } = svc;
  const { id } = endpoint.provider;
  if (!Object.hasOwn(providerOptions, id)) return NO_PROVIDER_OPTIONS;
  const at = optionsPointer(svc, id);
  const given = membersIn(providerOptions[id]);
  if (given === undefined) return { ...NO_PROVIDER_OPTIONS, dropped: [at] };
  const { set, dropped } = unsettled(given, at);
  const asks = asksOf(set, dialect);
  const standing = ofBody.filter((ask) => !set.some(([name]) => name === ask.path[0]));
  const { kept, dropped: unpriced } = sift(asks, endpoint.prices, billed, standing);
  const isGone = (name: string) => unpriced.some(({ path }) => path[0] === name);
  return {
    set: Object.fromEntries(set.filter(([name]) => !isGone(name))),
    dropped: [...dropped, ...set.flatMap(([name]) => (isGone(name) ? [`${at}/${name}`] : []))],
    // What goes takes along what is in the same option.
    kept: kept.filter(({ path }) => !isGone(path[0])),
    unpriced,
  };
}

/** JSON pointer to the options for a provider. @param id of the provider */
export const optionsPointer = ({ optionsAt = "/svc/provider_options" }: SvcOptions, id: string): string =>
  `${optionsAt}/${id}`;

/** What the body still asks for: an option of the same name replaces its member. */
export const notReplaced = (ofBody: readonly Ask[], { set }: ProviderOptions): readonly Ask[] =>
  ofBody.some(({ path }) => Object.hasOwn(set, path[0]))
    ? ofBody.filter(({ path }) => !Object.hasOwn(set, path[0]))
    : ofBody;

/** The extras of the options for one provider, whatever becomes of them. */
export function optionAsks(
  { providerOptions }: SvcOptions,
  { provider }: Endpoint,
  dialect: Dialect,
): readonly Ask[] {
  const given = membersIn(
    Object.hasOwn(providerOptions, provider.id) ? providerOptions[provider.id] : undefined,
  );
  return given === undefined ? [] : asksOf(unsettled(given, "").set, dialect);
}

/** What changes the bill is read as values. */
const asksOf = (set: readonly Option[], dialect: Dialect): readonly Ask[] =>
  optionExtras(optionTable(dialect), Object.fromEntries(set.map(([name, json]) => [name, json.value]))).asks;

function unsettled(given: readonly Option[], at: string) {
  const set: Option[] = [];
  const dropped: string[] = [];
  for (const [name, json] of given) {
    const pointer = `${at}/${name}`;
    if (SETTLED.has(laxName(name))) dropped.push(pointer);
    else {
      const free = freeOption([name, json], pointer, dropped);
      if (free !== undefined) set.push([name, free]);
    }
  }
  return { set, dropped };
}
