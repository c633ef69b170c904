/**
 * Objects in a provider's options that hold what is settled beside what is free. Only what is settled is left out of them, and the rest is
 * joined with what the gateway writes in the object of that name.
 */
import { laxName } from "../extras/tables.ts";
import type { FeaturesHeader } from "../habits.ts";
import { membersOf, utf8Of } from "../json/json.ts";
import { JsonText } from "../json/json-text.ts";
import { isObject, type JsonObject, listOf } from "../neutral/reader.ts";

/** A name and its value. */
export type Option = readonly [name: string, json: JsonText];

/** All names are lax. */
interface OptionObject {
  readonly settled: ReadonlySet<string>;
  /** Objects within that are of the kind, too. */
  readonly within?: ReadonlyMap<string, OptionObject>;
  /** Lists in which the elements of both sides count, each once, and the header from which the gateway's own come. */
  readonly lists?: ReadonlyMap<string, FeaturesHeader>;
  /** Another name of what the gateway writes: a client that says the one does not mean the other. */
  readonly alias?: ReadonlyMap<string, string>;
}

/** In any spelling: providers take several. */
export const lax = (names: readonly string[]): ReadonlySet<string> => new Set(names.map(laxName));

/**
 * How makers of models on Bedrock name the most tokens of an answer, and what else Converse has members for: it refuses most of these
 * beside its own ("The additional field max_tokens conflicts with the existing field maxTokens", BerriAI/litellm#13841).
 */
const LIMITS_OF_MODELS = [
  "max_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "max_new_tokens",
  "max_gen_len",
  "max_tokens_to_sample",
  "max_token_count",
];

const OBJECTS: ReadonlyMap<string, OptionObject> = new Map<string, OptionObject>([
  [laxName("generationConfig"), { settled: lax(["maxOutputTokens", "candidateCount"]) }],
  [laxName("inferenceConfig"), { settled: lax(["maxTokens"]) }],
  [
    laxName("additionalModelRequestFields"),
    {
      settled: lax([...LIMITS_OF_MODELS, "model", "messages", "system", "prompt", "n", "num_generations"]),
      within: new Map([
        [laxName("inferenceConfig"), { settled: lax(LIMITS_OF_MODELS) }],
        [laxName("textGenerationConfig"), { settled: lax(LIMITS_OF_MODELS) }],
      ]),
      lists: new Map<string, FeaturesHeader>([[laxName("anthropic_beta"), "anthropic-beta"]]),
      // Bedrock takes Claude's thinking by both names.
      alias: new Map([[laxName("reasoning_config"), laxName("thinking")]]),
    },
  ],
]);

/** Elements of a list in options: more than any client asks for. */
const MOST_LISTED = 32;

/** The members of an object; undefined where the text is none, or names one twice. */
export function membersIn(json: string | undefined): readonly Option[] | undefined {
  if (json === undefined) return undefined;
  const text = Buffer.from(json).toString("latin1");
  return membersOf(text)?.map(({ key, valueStart, valueEnd }) => [
    utf8Of(key),
    new JsonText(utf8Of(text.slice(valueStart, valueEnd))),
  ]);
}

/**
 * What of an option may be sent; undefined: nothing.
 * @param at its JSON pointer
 * @param dropped pointers to what is left out are added here
 */
export function freeOption([name, json]: Option, at: string, dropped: string[]): JsonText | undefined {
  const object = OBJECTS.get(laxName(name));
  return object === undefined ? json : freeIn(json, object, at, dropped);
}

function freeIn(json: JsonText, object: OptionObject, at: string, dropped: string[]): JsonText | undefined {
  const given = membersIn(json.text);
  if (given === undefined) {
    dropped.push(at);
    return undefined;
  }
  const free: Option[] = [];
  for (const [name, value] of given) {
    const pointer = `${at}/${name}`;
    if (object.settled.has(laxName(name))) dropped.push(pointer);
    else {
      const left = freeMember(name, value, object, pointer, dropped);
      if (left !== undefined) free.push([name, left]);
    }
  }
  // An object of which nothing is left says nothing.
  return free.length === 0 && given.length > 0 ? undefined : objectOfTexts(free);
}

function freeMember(
  name: string,
  value: JsonText,
  { within, lists }: OptionObject,
  at: string,
  dropped: string[],
): JsonText | undefined {
  const inner = within?.get(laxName(name));
  if (inner !== undefined) return freeIn(value, inner, at, dropped);
  return lists?.has(laxName(name)) ? boundedList(value, at, dropped) : value;
}

function boundedList(json: JsonText, at: string, dropped: string[]): JsonText {
  const { value } = json;
  if (!Array.isArray(value)) return json;
  const kept = new Set<unknown>();
  for (const [index, element] of value.entries()) {
    if (kept.size < MOST_LISTED || kept.has(element)) kept.add(element);
    else dropped.push(`${at}/${index}`);
  }
  return JsonText.of([...kept]);
}

const objectOfTexts = (options: readonly Option[]): JsonText =>
  new JsonText(`{${options.map(([name, { text }]) => `${JSON.stringify(name)}:${text}`).join(",")}}`);

/** What became of features of a header where options list some, too: each as the header's name and its own. */
export interface JoinedFeatures {
  readonly sent: Set<string>;
  readonly lost: string[];
}

/**
 * The member of a body that an option becomes: beside what the gateway wrote in the object of that name, also where a provider reads it in
 * another spelling. Where both say one thing, the client's option counts.
 */
export function joinedOption(
  [name, json]: Option,
  body: JsonObject,
  features: JoinedFeatures,
): readonly [string, unknown] {
  const object = OBJECTS.get(laxName(name));
  if (object === undefined) return [name, json];
  const own = Object.keys(body).find((key) => laxName(key) === laxName(name));
  const ours = own === undefined ? undefined : body[own];
  return [own ?? name, joined(isObject(ours) ? ours : {}, json, object, features)];
}

function joined(ours: JsonObject, json: JsonText, object: OptionObject, features: JoinedFeatures): unknown {
  const { lists, alias } = object;
  const theirs = membersIn(json.text) ?? [];
  const names = theirs.map(([name]) => laxName(name));
  const replaced = new Set([...names, ...names.map((name) => alias?.get(name) ?? name)]);
  const set = theirs.map(([name, value]): readonly [string, unknown] => {
    const header = lists?.get(laxName(name));
    if (header === undefined) return [name, value];
    const own = Object.entries(ours).find(([key]) => laxName(key) === laxName(name))?.[1];
    return [name, joinedList(listOf(own), value, header, features)];
  });
  const rest = Object.entries(ours).filter(([name]) => !replaced.has(laxName(name)));
  return Object.fromEntries([...rest, ...set]);
}

function joinedList(
  ours: readonly unknown[],
  json: JsonText,
  header: FeaturesHeader,
  { sent, lost }: JoinedFeatures,
): unknown {
  const { value } = json;
  if (!Array.isArray(value)) {
    lost.push(...ours.map((name) => `${header}: ${name}`));
    return json;
  }
  for (const name of value) sent.add(`${header}: ${name}`);
  return [...new Set([...ours, ...value])];
}
