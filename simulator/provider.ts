/**
 * Decides the reply to a request: finds its dialect, parses it, applies its instructions, builds the answer and its
 * script. Deterministic: equal requests get equal bytes, so scripts are cached.
 */
import { hash } from "node:crypto";
import { asWeirError, fail, type WeirError } from "../src/base/errors.ts";
import { answer } from "./answer.ts";
import { CREATED, chat } from "./chat.ts";
import type { EventContent, Headers, ReportedError, SimulatedDialect, SimulatedPost } from "./dialect.ts";
import { DIALECTS, ROUTES } from "./dialects.ts";
import { type Instruction, pathInstruction, readInstruction } from "./instruction.ts";
import type { Script } from "./playback.ts";
import type { HttpRequest, RequestHead } from "./request.ts";
import { streamScript, type WholeReply, wholeScript } from "./script.ts";
import { ScriptCache } from "./script-cache.ts";
import type { SimulatedRequest } from "./simulated-request.ts";
import type { RouteRequest, SimulatedRoute } from "./simulated-route.ts";

const MODELS = /^(.*)\/v1\/models$/;
/** Models in the list; a request may name any other. */
const MODEL_IDS = ["sim-small", "sim-large"];
/** Headers in which providers expect the key. */
const KEY_HEADERS = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];

const MAX_CACHED_BODY_BYTES = 262_144;
const MAX_COUNTED = 10_000;

const PLAIN: Instruction = Object.freeze({});
const JSON_TYPE = "application/json";

/** A parsed request, ready to be answered as an instruction says. */
interface Prepared extends RouteRequest {
  readonly unsignedTurn?: string;
  script(instruction: Instruction): Script;
}

/** The dialect or route of a path. */
interface Served {
  readonly post: SimulatedPost;
  readonly match: RegExpExecArray;
  readonly variesBy: readonly string[];
  prepare(body: Buffer, headers: Headers): Prepared;
}

interface KnownHead {
  readonly served: Served | undefined;
  /** Identifies a request together with its body: method, target, and the relevant headers. */
  readonly route: string;
  /** The refusal of this head, whatever its body. */
  readonly refusal: Script | undefined;
}

export class Provider {
  readonly #scripts = new ScriptCache();
  /** Number of requests with `times` seen, by target and digest of the body. */
  readonly #seen = new Map<string, number>();
  /** Results for heads, independent of the body. Equal heads are one object. */
  readonly #heads = new WeakMap<RequestHead, KnownHead>();

  /** Never throws: invalid requests get the error a provider would send. */
  scriptFor({ head, body }: HttpRequest): Script {
    const { served, route, refusal } = this.#known(head);
    if (refusal !== undefined) return refusal;
    if (body.length > MAX_CACHED_BODY_BYTES) return this.#compose(head, served, body).script;
    const text = body.toString("latin1");
    const known = this.#scripts.get(route, text);
    if (known !== undefined) return known;
    const { script, fixed } = this.#compose(head, served, body);
    if (fixed) this.#scripts.add(route, text, script);
    return script;
  }

  #known(head: RequestHead): KnownHead {
    let known = this.#heads.get(head);
    if (known === undefined) {
      known = knownHead(head);
      this.#heads.set(head, known);
    }
    return known;
  }

  /** `fixed`: the same request always gets the same script. */
  #compose(
    { method, target, headers }: RequestHead,
    served: Served | undefined,
    body: Buffer,
  ): { script: Script; fixed: boolean } {
    try {
      if (served === undefined) return { script: modelsScript(method, pathOf(target)), fixed: true };
      if (method !== "POST")
        throw fail("method_not_allowed", `Not allowed to ${method} on ${pathOf(target)}.`);
      const prepared = served.prepare(body, headers);
      let instruction = readInstruction([
        ...pathInstruction(served.match[1] ?? ""),
        ...prepared.instructions,
      ]);
      const times = instruction.times;
      if (times !== undefined && this.#count(target, body) > times) {
        const { status: _, fault: __, ...healthy } = instruction;
        instruction = healthy;
      }
      return { script: composed(served.post, prepared, instruction), fixed: times === undefined };
    } catch (thrown) {
      return { script: wholeScript(refusal(asWeirError(thrown), served?.post), PLAIN), fixed: true };
    }
  }

  #count(target: string, body: Buffer): number {
    const key = `${target} ${hash("sha256", body, "hex")}`;
    const seen = (this.#seen.get(key) ?? 0) + 1;
    if (this.#seen.size >= MAX_COUNTED) this.#seen.clear();
    this.#seen.set(key, seen);
    return seen;
  }
}

const pathOf = (target: string): string => target.split("?", 1)[0] as string;

function servedAt(path: string): Served | undefined {
  for (const dialect of DIALECTS) {
    const match = dialect.path.exec(path);
    if (match === null) continue;
    return {
      post: dialect,
      match,
      variesBy: dialect.variesBy ?? [],
      prepare: (body, headers) => prepareAnswer(dialect, dialect.read(body, match, headers)),
    };
  }
  for (const route of ROUTES) {
    const match = route.path.exec(path);
    if (match === null) continue;
    const prepare = (body: Buffer) => prepareReply(route, route.read(body, match));
    return { post: route, match, variesBy: [], prepare };
  }
  return undefined;
}

function prepareAnswer(dialect: SimulatedDialect, request: SimulatedRequest): Prepared {
  return { ...request, script: (instruction) => answerScript(dialect, request, instruction) };
}

function prepareReply(route: SimulatedRoute, request: RouteRequest): Prepared {
  const script = (instruction: Instruction) =>
    wholeScript(jsonReply(200, route.reply(request, instruction)), instruction);
  return { ...request, script };
}

/** The script of a request: instructions that apply to any dialect come first, then the dialect's answer. */
function composed(post: SimulatedPost, prepared: Prepared, instruction: Instruction): Script {
  const rejected = instruction.reject?.find((field) => prepared.fields.includes(field));
  if (rejected !== undefined) {
    throw fail("invalid_value", `Unrecognized request argument supplied: ${rejected}`, { param: rejected });
  }
  const unsigned = prepared.unsignedTurn;
  if (instruction.require_thinking === true && unsigned !== undefined) {
    const message = `${unsigned}: a turn that calls tools must begin with its signed reasoning`;
    throw fail("invalid_value", message, { param: unsigned });
  }
  if (instruction.fault === "wrong_type") return wholeScript(htmlPage(instruction), instruction);
  if (instruction.status !== undefined)
    return wholeScript(
      errorReply(post, instructedError(instruction.status, instruction), instruction),
      instruction,
    );
  return prepared.script(instruction);
}

function answerScript(
  dialect: SimulatedDialect,
  request: SimulatedRequest,
  instruction: Instruction,
): Script {
  const said = answer(request, instruction);
  const { requestIdHeader } = dialect;
  const headers: Headers = requestIdHeader === undefined ? {} : { [requestIdHeader]: `req_${said.digest}` };
  const fault = instruction.fault;
  const error = instructedError(500, instruction);
  const failed = (sent: number): EventContent => {
    const last = dialect.failed?.(request, said, error, sent);
    if (last !== undefined) return last;
    throw fail("invalid_value", "An answer of this dialect cannot say that it failed.", {
      param: "/simulator/fault",
    });
  };
  if (request.stream && fault !== "half_json") {
    const events = dialect.events(request, instruction, said);
    const last = (sent: number) => (fault === "failed" ? failed(sent) : dialect.errorEvent(error, sent));
    return streamScript({ dialect, headers, events, error: last }, instruction);
  }
  let body: string;
  if (fault === "error_first" || fault === "error_mid") body = dialect.error(error);
  else body = fault === "failed" ? failed(0).data : dialect.whole(request, instruction, said);
  return wholeScript({ ...jsonReply(200, body), headers }, instruction);
}

const jsonReply = (status: number, body: string): WholeReply => ({
  status,
  contentType: JSON_TYPE,
  headers: {},
  body,
});

function modelsScript(method: string, path: string): Script {
  const models = MODELS.exec(path);
  if (models === null) throw fail("not_found", `Invalid URL (${method} ${path})`);
  if (method !== "GET") throw fail("method_not_allowed", `Not allowed to ${method} on ${path}.`);
  const instruction = readInstruction(pathInstruction(models[1] ?? ""));
  if (instruction.status !== undefined)
    return wholeScript(
      errorReply(chat, instructedError(instruction.status, instruction), instruction),
      instruction,
    );
  const data = MODEL_IDS.map((id) => ({ id, object: "model", created: CREATED, owned_by: "simulator" }));
  return wholeScript(jsonReply(200, JSON.stringify({ object: "list", data })), instruction);
}

function htmlPage(instruction: Instruction): WholeReply {
  const body = "<!doctype html><title>Simulated page</title><p>Not what an API client expects.</p>\n";
  return { status: instruction.status ?? 200, contentType: "text/html; charset=utf-8", headers: {}, body };
}

/** The error that an instruction specifies. */
function instructedError(status: number, instruction: Instruction): ReportedError {
  return {
    status,
    message: instruction.error_message ?? `Simulated error ${status}.`,
    ...(instruction.error_type === undefined ? {} : { type: instruction.error_type }),
    ...(instruction.error_code === undefined ? {} : { code: instruction.error_code }),
  };
}

function errorReply(post: SimulatedPost, error: ReportedError, instruction: Instruction): WholeReply {
  const headers: Record<string, string> = { ...post.errorHeaders?.(error) };
  if (instruction.retry_after !== undefined) headers["retry-after"] = String(instruction.retry_after);
  if (instruction.retry_after_ms !== undefined)
    headers["retry-after-ms"] = String(instruction.retry_after_ms);
  return { ...jsonReply(error.status, post.error(error)), headers };
}

/** A refusal by the simulator itself; in OpenAI's envelope where no dialect is known. */
export function refusal(error: WeirError, post: SimulatedPost = chat): WholeReply {
  const { status, message, param, code } = error;
  return errorReply(post, { status, message, code, ...(param === undefined ? {} : { param }) }, PLAIN);
}

function knownHead(head: RequestHead): KnownHead {
  const served = servedAt(pathOf(head.target));
  const varying = (served?.variesBy ?? []).map((name) => ` ${head.headers[name] ?? ""}`);
  const route = `${head.method} ${head.target}${varying.join("")}`;
  return { served, route, refusal: headRefusal(head.headers, served?.post ?? chat) };
}

/** Refuses invalid headers, or a wrong key. */
function headRefusal(headers: Headers, post: SimulatedPost): Script | undefined {
  try {
    post.checkHeaders?.(headers);
  } catch (thrown) {
    return wholeScript(refusal(asWeirError(thrown), post), PLAIN);
  }
  if (!KEY_HEADERS.some((name) => /^(bearer\s+)?invalid$/i.test(headers[name] ?? ""))) return undefined;
  const error: ReportedError = { status: 401, message: "Incorrect API key provided." };
  return wholeScript(errorReply(post, error, PLAIN), PLAIN);
}
