/**
 * The interface of simulated routes without a model's answer: counting, embedding, ranking. One body in, one body out,
 * in the same two steps as dialects, so that instructions apply to both.
 */
import type { SimulatedPost } from "./dialect.ts";
import type { Instruction } from "./instruction.ts";
import { isObject, type JsonObject } from "./schema.ts";
import { parseObject, type SimulatedRequest } from "./simulated-request.ts";

/** What the simulator itself needs of a request; every {@link SimulatedRequest} has it too. */
export type RouteRequest = Pick<SimulatedRequest, "instructions" | "fields">;

/** `Request`: what the answer is built from. */
export interface SimulatedRoute<Request extends RouteRequest = RouteRequest> extends SimulatedPost {
  /** `match`: of {@link path} on the target's path. @throws WeirError as the provider would refuse the request */
  read(body: Buffer, match: RegExpExecArray): Request;
  /** The JSON body of the answer. */
  reply(request: Request, instruction: Instruction): string;
}

/**
 * @param read parses the members of the body, without `simulator`. @throws WeirError `invalid_json`, and what `read`
 *   throws
 */
export function readRoute<Wanted>(body: Buffer, read: (json: JsonObject) => Wanted): Wanted & RouteRequest {
  const { simulator, ...json } = parseObject(body);
  return {
    ...read(json),
    instructions: simulator === undefined ? [] : [simulator],
    fields: Object.keys(json),
  };
}

/** UTF-8 bytes of each text divided by four, rounded up, as for prompts. */
export const tokensOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0);

/**
 * The usage that a route reports: none or an object as instructed, else the result of `say` for the counted tokens,
 * which `prompt_tokens` overrides.
 */
export function routeUsage(
  instruction: Instruction,
  tokens: number,
  say: (tokens: number) => JsonObject,
): JsonObject | undefined {
  if (instruction.usage === "none") return undefined;
  if (isObject(instruction.usage)) return instruction.usage;
  return say(instruction.prompt_tokens ?? tokens);
}

/** A percent-decoded name in a path; unchanged where it cannot be decoded. */
export function pathName(text = ""): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Any value as a message may quote it. */
export const shown = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined");
