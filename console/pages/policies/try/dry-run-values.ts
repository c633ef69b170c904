/** A hypothetical call as the address has it, as a form has it, and as the API takes it. Pure. */
import type { Operations } from "../../../api/operations.ts";
import { countOf } from "../../../text/amounts.ts";

export type Body = Operations["dryRunPolicy"]["body"];

/** Names in the address: texts, and what is checked. */
const TEXTS = [
  "model",
  "project",
  "key",
  "app",
  "tags",
  "prompt",
  "answer",
  "user",
  "session",
  "data",
  "sort",
  "order",
  "only",
  "ignore",
  "regions",
  "attempts",
] as const;
const FLAGS = ["stream", "tools", "images", "audio", "schema", "no_fallbacks"] as const;

export type TextName = (typeof TEXTS)[number];
export type FlagName = (typeof FLAGS)[number];
export type CallValues = Readonly<Record<TextName, string>> & Readonly<Record<FlagName, boolean>>;

export const SORTS = ["price", "latency", "throughput", "balanced"] as const;
export const DATA_POLICIES = ["no_train", "zdr"] as const;

export const valuesOf = (query: URLSearchParams): CallValues =>
  ({
    ...Object.fromEntries(TEXTS.map((name) => [name, query.get(name) ?? ""])),
    ...Object.fromEntries(FLAGS.map((name) => [name, query.get(name) === "1"])),
  }) as CallValues;

/** What `setFilters` takes: what is not said is taken out. */
export const filtersOf = (values: CallValues): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(TEXTS.map((name) => [name, values[name].trim()])),
  ...Object.fromEntries(FLAGS.map((name) => [name, values[name] ? "1" : ""])),
});

const MOST_TOKENS = 100_000_000;
const MOST_ATTEMPTS = 8;

/** What is wrong with fields, before the API is asked. */
export function faultsOf(values: CallValues): Partial<Record<TextName, string>> {
  const number = (name: TextName, least: number, most: number) => {
    const text = values[name].trim();
    if (text === "") return {};
    const count = text === "0" ? 0 : countOf(text);
    if (count !== undefined && count >= least && count <= most) return {};
    return { [name]: `A whole number from ${least} to ${most.toLocaleString("en")}.` };
  };
  return {
    ...(values.model === "" && { model: "Choose a model." }),
    ...number("prompt", 0, MOST_TOKENS),
    ...number("answer", 1, MOST_TOKENS),
    ...number("attempts", 1, MOST_ATTEMPTS),
  };
}

/** `ep_a, ep_b` as a list; undefined where it has nothing. */
function listOf(text: string): string[] | undefined {
  const words = text
    .split(/[,\s]+/)
    .map((word) => word.trim())
    .filter((word) => word !== "");
  return words.length === 0 ? undefined : words;
}

/** `team=search, batch` as a mapping; a tag without a value has an empty one. */
export function tagsOf(text: string): Record<string, string> | undefined {
  const pairs = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part): [string, string] => {
      const at = part.indexOf("=");
      return at < 0 ? [part, ""] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    });
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}

const oneOf = <T extends string>(known: readonly T[], text: string): T | undefined =>
  known.find((each) => each === text);

/** The question to the API; undefined where there is nothing to ask yet. */
export function bodyOf(values: CallValues, version: number | undefined): Body | undefined {
  if (Object.keys(faultsOf(values)).length > 0) return undefined;
  const tags = tagsOf(values.tags);
  const route = routeOf(values);
  const dataPolicy = oneOf(DATA_POLICIES, values.data);
  const text = (name: string, value: string) => (value.trim() === "" ? {} : { [name]: value.trim() });
  const tokens = (name: string, value: string) =>
    value.trim() === "" ? {} : { [name]: value.trim() === "0" ? 0 : countOf(value) };
  const flag = (name: string, isSo: boolean) => (isSo ? { [name]: true } : {});
  return {
    model: values.model,
    ...(version !== undefined && { version }),
    ...text("project_id", values.project),
    ...text("key_id", values.key),
    ...text("app", values.app),
    ...(tags !== undefined && { tags }),
    ...tokens("est_input_tokens", values.prompt),
    ...tokens("max_output_tokens", values.answer),
    ...text("user", values.user),
    ...text("session", values.session),
    ...flag("stream", values.stream),
    ...flag("tools", values.tools),
    ...flag("images", values.images),
    ...flag("audio", values.audio),
    ...flag("json_schema", values.schema),
    ...(dataPolicy !== undefined && { data_policy: dataPolicy }),
    ...(route !== undefined && { route }),
  };
}

function routeOf(values: CallValues): NonNullable<NonNullable<Body>["route"]> | undefined {
  const sort = oneOf(SORTS, values.sort);
  const [order, only, ignore, regions] = [values.order, values.only, values.ignore, values.regions].map(
    listOf,
  );
  const attempts = countOf(values.attempts);
  const providers = {
    ...(order !== undefined && { order }),
    ...(only !== undefined && { only }),
    ...(ignore !== undefined && { ignore }),
  };
  const route = {
    ...(sort !== undefined && { sort }),
    ...(Object.keys(providers).length > 0 && { providers }),
    ...(regions !== undefined && { require: { regions } }),
    ...(attempts !== undefined && { max_attempts: attempts }),
    ...(values.no_fallbacks && { fallbacks: false }),
  };
  return Object.keys(route).length === 0 ? undefined : route;
}
