/**
 * The names by which callers ask for models. An id of the catalog, or its bare name where one vendor has it, is that model and nothing
 * else. Any other name may still mean one: an alias of the model's file, an id with a date or `-latest` behind it, a prefix that says
 * by which provider or format it is called.
 */
import { nextTurn } from "../../base/clock.ts";
import { didYouMeanOneOf, NearestWords } from "../../base/document/nearest.ts";
import type { Model } from "../../base/endpoint.ts";
import { fail } from "../../base/errors.ts";

export interface ModelNames {
  /** By `<vendor>/<model>`, or by the bare model name where only one vendor has it. Case-sensitive; one map look-up. */
  resolve(name: string): Model | undefined;
  /**
   * What a name means that `resolve` does not know: the caller must be told which model it is.
   * @param param JSON pointer of the name, where a body has it
   * @throws WeirError `model_not_found`, with the nearest ids
   */
  meant(name: string, param?: string): Model;
}

/** Longer names are not looked at: no model has one. */
const MAX_CHARACTERS = 200;
/** A name may have several endings, such as a date and `[1m]`. */
const MAX_ENDINGS = 4;
/** A name may have several prefixes, such as `openrouter/openai/`. */
const MAX_PREFIXES = 2;
/** Most ids that a refusal names. */
const MAX_NEAREST = 3;

const MONTH = "(?:0[1-9]|1[0-2])";
const DAY = "(?:0[1-9]|[12]\\d|3[01])";
const YEAR = "20[2-9]\\d";
const SHORT_YEAR = "2[2-9]";

/**
 * Endings that name a snapshot, or the newest one, and no model of its own. Dates as OpenAI (`-2024-11-20`, `-0613`), Anthropic and Vertex
 * (`-20251001`, `@20251001`), Mistral (`-2508`), Cohere and Google (`-08-2024`, `-05-20`) write them; `@default` is Vertex's, `:latest`
 * Ollama's. Claude Code chooses a long context by `[1m]`, which is no part of an id and does reach gateways (Wei-Shaw/sub2api#4505).
 * Other endings, such as OpenRouter's `:free` and `:online`, ask for another price or behaviour: these are not taken.
 */
const ENDINGS: readonly RegExp[] = [
  /\[1m\]$/i,
  /[-:@]latest$/,
  /@default$/,
  new RegExp(`[-@]${YEAR}${MONTH}${DAY}$`),
  new RegExp(`[-@]${YEAR}-${MONTH}-${DAY}$`),
  new RegExp(`-${MONTH}-${YEAR}$`),
  new RegExp(`-${MONTH}-${DAY}$`),
  new RegExp(`-${SHORT_YEAR}${MONTH}${DAY}$`),
  new RegExp(`-(?:${SHORT_YEAR}${MONTH}|${MONTH}${DAY})$`),
];

/** Prefixes that clients put before a name to say by whom or in which format it is called, beside the vendors of the catalog. */
const PREFIXES: ReadonlySet<string> = new Set([
  "openai",
  "anthropic",
  "google",
  "gemini",
  "models",
  "vertex_ai",
  "vertex",
  "bedrock",
  "azure",
  "azure_ai",
  "openrouter",
  "litellm",
  "mistral",
  "cohere",
  "xai",
  "meta",
  "groq",
  "deepseek",
  "moonshot",
  "zai",
  "together_ai",
  "fireworks_ai",
  "ollama",
  "github_copilot",
]);

/** Bare names contain no slash, so these and full ids cannot collide. */
const bareOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

/** The names that an alias stands for: with the vendor and without, or exactly the one that has a vendor. */
export const namesOfAlias = (vendor: string, alias: string): readonly string[] =>
  alias.includes("/") ? [alias] : [`${vendor}/${alias}`, alias];

/** Computed once per snapshot of the catalog. */
export function modelNames(models: ReadonlyMap<string, Model>): ModelNames {
  const exact = exactNames(models);
  const all = [...models.values()];
  const aliases = new Map(
    all.flatMap((model) =>
      model.aliases.flatMap((alias) =>
        namesOfAlias(model.vendor, alias).map((name) => [name, model] as const),
      ),
    ),
  );
  const prefixes = new Set([...PREFIXES, ...all.map(({ vendor }) => vendor)]);
  const named = (name: string) => exact.get(name) ?? aliases.get(name);
  const ended = (name: string): Model | undefined => {
    let rest = name;
    for (let endings = 0; ; endings++) {
      const model = named(rest) ?? (endings > 0 ? exact.get(`${rest}-latest`) : undefined);
      if (model !== undefined || endings === MAX_ENDINGS) return model;
      const ending = ENDINGS.find((each) => each.test(rest));
      if (ending === undefined) return undefined;
      rest = rest.replace(ending, "");
    }
  };
  const meant = (name: string): Model | undefined => {
    let rest = name;
    for (let prefix = 0; prefix <= MAX_PREFIXES; prefix++) {
      const model = ended(rest);
      const slash = rest.indexOf("/");
      if (model !== undefined || slash < 0 || !prefixes.has(rest.slice(0, slash))) return model;
      rest = rest.slice(slash + 1);
    }
    return undefined;
  };
  const near = atMostATurn(nearIds(all));
  return {
    resolve: (name) => exact.get(name),
    meant(name, param) {
      const model = name.length > MAX_CHARACTERS ? undefined : meant(name);
      if (model !== undefined) return model;
      const hint = didYouMeanOneOf(near(name));
      const shown = shownOf(name);
      if (param === undefined) throw fail("model_not_found", `No model ${shown}${hint}`);
      throw fail("model_not_found", `There is no model "${shown}"${hint || "."}`, { param });
    },
  };
}

/** Names that were looked up lately: a client repeats its mistake with every call. */
const MOST_REMEMBERED = 256;
/** Look-ups in one turn of the event loop, of about half a millisecond each in a catalog of thousands. */
const LOOKS_A_TURN = 8;

/** Names beyond a number in one turn are answered without suggestions: hundreds of calls may arrive in one. */
function atMostATurn(near: (name: string) => readonly string[]): (name: string) => readonly string[] {
  const remembered = new Map<string, readonly string[]>();
  let looks = 0;
  return (name) => {
    const before = remembered.get(name);
    if (before !== undefined || name.length > MAX_CHARACTERS || looks === LOOKS_A_TURN) return before ?? [];
    if (looks++ === 0)
      void nextTurn().then(() => {
        looks = 0;
      });
    const found = near(name);
    if (remembered.size === MOST_REMEMBERED) remembered.clear();
    remembered.set(name, found);
    return found;
  };
}

/** What would end a line of a log, turn the direction of a text, or hide in it. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const shownOf = (name: string): string =>
  name
    .slice(0, MAX_CHARACTERS)
    .replace(HIDDEN, (each) => `\\u${(each.codePointAt(0) as number).toString(16).padStart(4, "0")}`);

/** Full ids, and bare names that only one vendor has. */
function exactNames(models: ReadonlyMap<string, Model>): ReadonlyMap<string, Model> {
  const names = new Map<string, Model>();
  const shared = new Set<string>();
  for (const model of models.values()) {
    const bare = bareOf(model.id);
    if (names.has(bare)) shared.add(bare);
    names.set(model.id, model);
    names.set(bare, model);
  }
  for (const bare of shared) names.delete(bare);
  return names;
}

/**
 * Ids of the models whose bare names or aliases are nearest to a name, whatever vendor or ending it has: a wrong vendor is a mistake of
 * its own.
 */
function nearIds(models: readonly Model[]): (name: string) => readonly string[] {
  const ids = new Map<string, string[]>();
  for (const { id, aliases } of models)
    for (const bare of new Set([id, ...aliases].map(bareOf))) {
      const all = ids.get(bare);
      if (all === undefined) ids.set(bare, [id]);
      else all.push(id);
    }
  const bares = new NearestWords([...ids.keys()]);
  return (name) => {
    const word = wordOf(name);
    if (word === "") return [];
    const prefix = name.slice(0, name.indexOf("/") + 1);
    const found = bares.of(word, MAX_NEAREST).flatMap((each) => {
      const all = ids.get(each) ?? [];
      // Several vendors have the name: the one that was asked for is meant.
      const own = prefix === "" ? [] : all.filter((id) => id.startsWith(prefix));
      return own.length > 0 ? own : all;
    });
    return [...new Set(found)].slice(0, MAX_NEAREST);
  };
}

/** Before a name at Bedrock: where it is answered, and its maker (`us.anthropic.`). */
const BEFORE = /^(?:[a-z-]+\.){1,2}/;
/** Behind a name at Bedrock. */
const BEHIND = /-v\d$/;
/** Before the name of a model that was tuned, and behind it: whose it is. */
const TUNED = /^ft:([^:]*)/;

/**
 * The part of a name that tells models apart. Suffixes behind a colon or in brackets choose a behaviour at other gateways, and providers
 * put regions and versions around a name: these additions are no typing mistakes, and are left out of the comparison.
 */
function wordOf(name: string): string {
  const bare = bareOf(name.trim());
  let [word = ""] = (TUNED.exec(bare)?.[1] ?? bare).split(/[:[]/, 1);
  word = word.replace(BEHIND, "");
  for (let endings = 0; endings < MAX_ENDINGS; endings++) {
    const ending = ENDINGS.find((each) => each.test(word));
    if (ending === undefined) break;
    word = word.replace(ending, "");
  }
  return word.replace(BEFORE, "");
}
