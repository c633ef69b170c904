/**
 * The output limit that the gateway sends instead of what the body says: the one bound of a caller's that it tightens, where the caller
 * asked for it (`hold: fit`).
 */
import type { Dialect, Endpoint } from "../endpoint.ts";
import type { ClientRequest } from "./format.ts";
import { type Edit, type Member, memberOf } from "./json.ts";
import { isObject, objectOf } from "./reader.ts";

/** The members of each dialect's body that hold its limit. */
const LIMIT_MEMBERS: Readonly<Partial<Record<Dialect, readonly string[]>>> = {
  chat: ["max_completion_tokens", "max_tokens"],
  messages: ["max_tokens"],
  responses: ["max_output_tokens"],
  gemini: ["generationConfig"],
  converse: ["inferenceConfig"],
};

/** Whether an endpoint can be told a limit: a quirk of its provider may take the member out, set it, or give it another name. */
export function takesLimit({ provider }: Endpoint, dialect: Dialect): boolean {
  const members = LIMIT_MEMBERS[dialect];
  if (members === undefined) return false;
  const quirks = provider.quirks.bodies?.[dialect];
  if (quirks === undefined) return true;
  const { rename, unsupported, omit, set } = quirks;
  const touched = [...Object.keys(rename), ...unsupported, ...omit, ...Object.keys(set)];
  return !members.some((name) => touched.includes(name));
}

/**
 * The edits by which a body of the client's own dialect says the request's `outputLimit`; none where it has none.
 * @param members in which the dialect takes it. The first is used where the client set none
 */
export function limitEdits(
  { bytes, members, outputLimit }: ClientRequest,
  names: readonly [string, ...string[]],
): Edit[] {
  if (outputLimit === undefined) return [];
  const text = String(outputLimit);
  const given = names.flatMap((name) => memberOf(members, name) ?? []);
  const larger = given.filter((member) => isLarger(bytes, member, outputLimit));
  const set = given.some((member) => !isNull(bytes, member));
  if (set) return larger.map(({ valueStart, valueEnd }) => ({ start: valueStart, end: valueEnd, text }));
  const [name] = names;
  const empty = memberOf(members, name);
  if (empty !== undefined) return [{ start: empty.valueStart, end: empty.valueEnd, text }];
  // At the very front: there it stands beside no comma that a removal may take.
  const { start } = members[0] as Member;
  return [{ start, end: start, text: `"${name}":${text},` }];
}

const isNull = (bytes: Buffer, { valueStart, valueEnd }: Member): boolean =>
  bytes.toString("latin1", valueStart, valueEnd) === "null";

const isLarger = (bytes: Buffer, { valueStart, valueEnd }: Member, limit: number): boolean =>
  Number(bytes.toString("latin1", valueStart, valueEnd)) > limit;

/** A larger member is not looked through for a budget of a few bytes. */
const MOST_BYTES = 64 * 1024;

/** Ways from a body down to a value. */
type Paths = readonly (readonly [string, ...string[]])[];

/** Servers of open models take it; above the output limit they refuse it. */
const LEAST_PATHS: Paths = [["min_tokens"]];

/** Members that may hold a budget of thinking, in any dialect, down to the number. */
const BUDGET_PATHS: Paths = [
  ["thinking", "budget_tokens"],
  ["reasoning", "max_tokens"],
  ["reasoning", "budget_tokens"],
  ["thinking_budget"],
  ["generation", "reasoning", "budget_tokens"],
  ["generationConfig", "thinkingConfig", "thinkingBudget"],
  ["additionalModelRequestFields", "thinking", "budget_tokens"],
];

/**
 * Tokens that a request lets an endpoint think at most, where it says so, in its body or in its options for the provider; else 0.
 * Such tokens count towards the output limit.
 */
export const thinkingBudget = (request: ClientRequest, endpoint: Endpoint): number =>
  mostStated(request, endpoint, BUDGET_PATHS);

/** Tokens that a request asks an endpoint to answer at least, in its body or in its options for the provider; else 0. */
export const leastAnswer = (request: ClientRequest, endpoint: Endpoint): number =>
  mostStated(request, endpoint, LEAST_PATHS);

function mostStated(request: ClientRequest, { provider }: Endpoint, paths: Paths): number {
  const { providerOptions } = request.svc;
  const options = Object.hasOwn(providerOptions, provider.id) ? providerOptions[provider.id] : undefined;
  return Math.max(mostIn(bodyAt(request, paths), paths), isObject(options) ? mostIn(options, paths) : 0);
}

/** The members of a request's body that the paths begin with. */
function bodyAt({ bytes, members }: ClientRequest, paths: Paths): object {
  const isSeen = (key: string) => paths.some(([first]) => first === key);
  return Object.fromEntries(
    members
      .filter(({ key, valueStart, valueEnd }) => isSeen(key) && valueEnd - valueStart <= MOST_BYTES)
      .map(({ key, valueStart, valueEnd }) => [key, parsed(bytes.toString("latin1", valueStart, valueEnd))]),
  );
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const mostIn = (body: object, paths: Paths): number =>
  Math.max(0, ...paths.map((path) => numberAt(body, path)));

function numberAt(body: object, path: readonly string[]): number {
  let at: unknown = body;
  for (const name of path) at = objectOf(at)[name];
  return typeof at === "number" && Number.isSafeInteger(at) ? at : 0;
}
