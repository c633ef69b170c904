/**
 * What a route must offer for the simulator to serve it where no model speaks: counting, embedding, ranking.
 * One body in, one body out, in the two steps that dialects have, so that instructions apply to both alike.
 */
import type { SimulatedPost } from "./dialect.ts";
import type { Instruction } from "./instruction.ts";
import { isObject, type JsonObject } from "./schema.ts";
import { parseObject, type SimulatedRequest } from "./simulated-request.ts";

/** What the simulator itself needs of a request; every {@link SimulatedRequest} has it too. */
export type RouteRequest = Pick<SimulatedRequest, "instructions" | "fields">;

/** `Request` has what the answer is made from. */
export interface SimulatedRoute<Request extends RouteRequest = RouteRequest> extends SimulatedPost {
  /** `match`: of {@link path} on the target's path. @throws WeirError as the provider would refuse the request */
  read(body: Buffer, match: RegExpExecArray): Request;
  /** The JSON body of the answer. */
  reply(request: Request, instruction: Instruction): string;
}

/** @param read the members of the body, `simulator` left out. @throws WeirError `invalid_json`, and what `read` does */
export function readRoute<Wanted>(body: Buffer, read: (json: JsonObject) => Wanted): Wanted & RouteRequest {
  const { simulator, ...json } = parseObject(body);
  return {
    ...read(json),
    instructions: simulator === undefined ? [] : [simulator],
    fields: Object.keys(json),
  };
}

/** UTF-8 bytes of each text divided by four, rounded up, as prompts are counted. */
export const tokensOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0);

/**
 * The usage that a route reports: none or an object as told, else what `say` makes of the tokens counted, for which
 * `prompt_tokens` may stand in.
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

/** A name that a path holds, percent-decoded; as it stands where that cannot be. */
export function pathName(text = ""): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A value as a message may quote it, whatever it is. */
export const shown = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined");
