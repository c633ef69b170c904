/**
 * Members that the client adds to the body for one provider alone (`svc.provider_options`). What the call was planned and
 * counted by cannot be changed this way; what changes the provider's bill is sifted as in a body.
 */
import type { Dialect, Endpoint } from "../../base/endpoint.ts";
import { optionExtras } from "../extras/scan.ts";
import { type Billed, sift } from "../extras/sift.ts";
import { laxName, optionTable } from "../extras/tables.ts";
import { membersOf, utf8Of } from "../json/json.ts";
import { JsonText } from "../json/json-text.ts";
import type { Ask } from "../neutral/asked-extras.ts";
import type { SvcOptions } from "../neutral/contract.ts";

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

const lax = (names: readonly string[]): ReadonlySet<string> => new Set(names.map(laxName));

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

/** Objects of which single members are settled. */
const SETTLED_IN: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [laxName("generationConfig"), lax(["maxOutputTokens", "candidateCount"])],
  [laxName("inferenceConfig"), lax(["maxTokens"])],
]);

/** Whether the option is an object of which single members are settled. */
export const holdsSettled = (name: string): boolean => SETTLED_IN.has(laxName(name));

/**
 * @param billed whose credential the body will be sent with
 * @param ofBody what the body asks for by itself
 */
export function optionsFor(
  { providerOptions }: SvcOptions,
  endpoint: Endpoint,
  dialect: Dialect,
  billed: Billed,
  ofBody: readonly Ask[] = [],
): ProviderOptions {
  const { id } = endpoint.provider;
  if (!Object.hasOwn(providerOptions, id)) return NO_PROVIDER_OPTIONS;
  const at = `/svc/provider_options/${id}`;
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

/** A name and its value. */
type Option = readonly [name: string, json: JsonText];

/** The members of an object; undefined where the text is none, or names one twice. */
function membersIn(json: string | undefined): readonly Option[] | undefined {
  if (json === undefined) return undefined;
  const text = Buffer.from(json).toString("latin1");
  return membersOf(text)?.map(({ key, valueStart, valueEnd }) => [
    utf8Of(key),
    new JsonText(utf8Of(text.slice(valueStart, valueEnd))),
  ]);
}

function unsettled(given: readonly Option[], at: string) {
  const set: Option[] = [];
  const dropped: string[] = [];
  for (const [name, json] of given) {
    const within = SETTLED_IN.get(laxName(name));
    const inside = within && membersIn(json.text);
    if (SETTLED.has(laxName(name))) dropped.push(`${at}/${name}`);
    else if (within === undefined) set.push([name, json]);
    else if (inside === undefined) dropped.push(`${at}/${name}`);
    else {
      const isSettled = ([inner]: Option) => within.has(laxName(inner));
      set.push([name, objectOfTexts(inside.filter((option) => !isSettled(option)))]);
      for (const option of inside) if (isSettled(option)) dropped.push(`${at}/${name}/${option[0]}`);
    }
  }
  return { set, dropped };
}

const objectOfTexts = (options: readonly Option[]): JsonText =>
  new JsonText(`{${options.map(([name, { text }]) => `${JSON.stringify(name)}:${text}`).join(",")}}`);

/** An object of the gateway's with the members of a client's beside it, of which the client's count. */
export function joinedTexts(ours: object, json: JsonText): unknown {
  return { ...ours, ...Object.fromEntries(membersIn(json.text) ?? []) };
}
