/**
 * Decides the reply to a request: reads it, hears its instructions, composes the answer, lays out the script.
 * Deterministic: equal requests get equal bytes, so the script of a request seen before is played again as it is.
 */
import { hash } from "node:crypto";
import { asWeirError, fail, type WeirError } from "../errors.ts";
import { answer } from "./answer.ts";
import { CREATED, chunks, completion } from "./chat.ts";
import { type ChatRequest, readChatRequest } from "./chat-request.ts";
import { type Instruction, pathInstruction, readInstruction } from "./instruction.ts";
import type { Script } from "./playback.ts";
import type { HttpRequest } from "./request.ts";
import { frameBytes, streamScript, type WholeReply, wholeScript } from "./script.ts";

const CHAT = /^(.*)\/v1\/chat\/completions$/;
const MODELS = /^(.*)\/v1\/models$/;
/** The models listed; a chat request may name any model. */
const MODEL_IDS = ["sim-small", "sim-large"];

const MAX_CACHED_BODY_BYTES = 262_144;
const MAX_CACHED_SCRIPT_BYTES = 4_194_304;
const MAX_CACHE_BYTES = 67_108_864;
const MAX_COUNTED = 10_000;

const PLAIN: Instruction = Object.freeze({});

export class Provider {
  /** Method and target, then body, to script. */
  readonly #scripts = new Map<string, Map<string, Script>>();
  #cachedBytes = 0;
  /** How often a request with `times` was seen, by target and digest of the body. */
  readonly #seen = new Map<string, number>();

  /** Never throws: what cannot be answered gets the error a provider would send. */
  scriptFor({ head, body }: HttpRequest): Script {
    if (/^bearer\s+invalid$/i.test(head.headers.authorization ?? "")) return INVALID_KEY;
    if (body.length > MAX_CACHED_BODY_BYTES) return this.#compose(head.method, head.target, body).script;
    const route = `${head.method} ${head.target}`;
    const text = body.toString("latin1");
    const known = this.#scripts.get(route)?.get(text);
    if (known !== undefined) return known;
    const { script, fixed } = this.#compose(head.method, head.target, body);
    if (fixed) this.#remember(route, text, script);
    return script;
  }

  /** `fixed`: the same request will get the same script for ever. */
  #compose(method: string, target: string, body: Buffer): { script: Script; fixed: boolean } {
    let instruction = PLAIN;
    try {
      const path = target.split("?", 1)[0] as string;
      const chat = CHAT.exec(path);
      const models = MODELS.exec(path);
      if (chat === null && models === null) throw fail("not_found", `Invalid URL (${method} ${path})`);
      const allowed = chat === null ? "GET" : "POST";
      if (method !== allowed) throw fail("method_not_allowed", `Not allowed to ${method} on ${path}.`);
      if (chat === null) {
        instruction = readInstruction(pathInstruction(models?.[1] ?? ""));
        return { script: wholeScript(modelList(instruction), instruction), fixed: true };
      }
      const request = readChatRequest(body);
      instruction = readInstruction([...pathInstruction(chat[1] ?? ""), ...request.instructions]);
      const times = instruction.times;
      if (times !== undefined && this.#count(target, body) > times) {
        const { status: _, fault: __, ...healthy } = instruction;
        instruction = healthy;
      }
      return { script: chatScript(request, instruction), fixed: times === undefined };
    } catch (thrown) {
      return { script: wholeScript(refusal(asWeirError(thrown)), PLAIN), fixed: true };
    }
  }

  #count(target: string, body: Buffer): number {
    const key = `${target} ${hash("sha256", body, "hex")}`;
    const seen = (this.#seen.get(key) ?? 0) + 1;
    if (this.#seen.size >= MAX_COUNTED) this.#seen.clear();
    this.#seen.set(key, seen);
    return seen;
  }

  #remember(route: string, body: string, script: Script): void {
    const scriptBytes = script.steps.reduce((sum, step) => sum + step.bytes.length, 0);
    if (scriptBytes > MAX_CACHED_SCRIPT_BYTES) return;
    this.#cachedBytes += scriptBytes + body.length;
    if (this.#cachedBytes > MAX_CACHE_BYTES) {
      this.#scripts.clear();
      this.#cachedBytes = scriptBytes + body.length;
    }
    const scripts = this.#scripts.get(route) ?? new Map<string, Script>();
    scripts.set(body, script);
    this.#scripts.set(route, scripts);
  }
}

function chatScript(request: ChatRequest, instruction: Instruction): Script {
  const rejected = instruction.reject?.find((field) => request.fields.includes(field));
  if (rejected !== undefined) {
    throw fail("invalid_value", `Unrecognized request argument supplied: ${rejected}`, { param: rejected });
  }
  if (instruction.fault === "wrong_type") return wholeScript(htmlPage(instruction), instruction);
  if (instruction.status !== undefined)
    return wholeScript(toldError(instruction.status, instruction), instruction);
  const said = answer(request, instruction);
  const headers = { "x-request-id": `req_${said.digest}` };
  const fault = instruction.fault;
  if (request.stream && fault !== "half_json") {
    const events = chunks(request, instruction, said, frameBytes(instruction));
    return streamScript(events, toldError(500, instruction).body, headers, instruction);
  }
  const body =
    fault === "error_first" || fault === "error_mid"
      ? toldError(500, instruction).body
      : completion(request, instruction, said);
  return wholeScript({ status: 200, contentType: JSON_TYPE, headers, body }, instruction);
}

const JSON_TYPE = "application/json";

function modelList(instruction: Instruction): WholeReply {
  if (instruction.status !== undefined) return toldError(instruction.status, instruction);
  const data = MODEL_IDS.map((id) => ({ id, object: "model", created: CREATED, owned_by: "simulator" }));
  return { status: 200, contentType: JSON_TYPE, headers: {}, body: JSON.stringify({ object: "list", data }) };
}

function htmlPage(instruction: Instruction): WholeReply {
  const body = "<!doctype html><title>Simulated page</title><p>Not what an API client expects.</p>\n";
  return { status: instruction.status ?? 200, contentType: "text/html; charset=utf-8", headers: {}, body };
}

/** OpenAI's error types and codes by status: https://platform.openai.com/docs/guides/error-codes */
const ERROR_KINDS: Readonly<Record<number, readonly [type: string, code: string | null]>> = Object.freeze({
  401: ["invalid_request_error", "invalid_api_key"],
  404: ["invalid_request_error", "model_not_found"],
  429: ["requests", "rate_limit_exceeded"],
  500: ["server_error", null],
  503: ["server_error", "overloaded"],
});

/** The error an instruction asks for, in OpenAI's envelope. */
function toldError(status: number, instruction: Instruction): WholeReply {
  const [type, code] = ERROR_KINDS[status] ?? [status < 500 ? "invalid_request_error" : "server_error", null];
  const headers: Record<string, string> = {};
  if (instruction.retry_after !== undefined) headers["retry-after"] = String(instruction.retry_after);
  if (instruction.retry_after_ms !== undefined)
    headers["retry-after-ms"] = String(instruction.retry_after_ms);
  const message = instruction.error_message ?? `Simulated error ${status}.`;
  const error = {
    message,
    type: instruction.error_type ?? type,
    param: null,
    code: instruction.error_code ?? code,
  };
  return { status, contentType: JSON_TYPE, headers, body: JSON.stringify({ error }) };
}

/** A refusal of the simulator's own, in OpenAI's envelope. */
export function refusal(error: WeirError): WholeReply {
  const type = error.status < 500 ? "invalid_request_error" : "server_error";
  const body = { error: { message: error.message, type, param: error.param ?? null, code: error.code } };
  return { status: error.status, contentType: JSON_TYPE, headers: {}, body: JSON.stringify(body) };
}

const INVALID_KEY: Script = wholeScript(
  toldError(401, { error_message: "Incorrect API key provided." }),
  PLAIN,
);
