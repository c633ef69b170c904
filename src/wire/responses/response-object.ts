/**
 * The response object of a translated answer: our members, and those that the API repeats from the request (`echo.ts`). It has
 * every member that the API's own objects have, in each of its states.
 */
import type { WeirError } from "../../base/errors.ts";
import type { Usage } from "../../base/usage.ts";
import type { AnswerNames, Charged } from "../format.ts";
import type { SvcReply } from "../neutral/contract.ts";
import { latin1OfJson } from "../neutral/fragment.ts";
import { svcJson } from "../svc.ts";
import { echoOf } from "./echo.ts";
import type { ResponsesRequest } from "./request.ts";
import type { IncompleteReason } from "./stop.ts";
import { writeResponsesUsage } from "./usage.ts";

/** Members that are the same in every state of a response. */
const headOf = (request: ResponsesRequest, { id, createdS, model }: AnswerNames) => ({
  id,
  object: "response" as const,
  created_at: createdS,
  model,
  background: request.isBackground,
  error: null,
  previous_response_id: request.previousResponseId ?? null,
  service_tier: "default" as const,
  store: request.store,
  access_programs: null,
});

export type ResponseHead = ReturnType<typeof headOf>;

/** Members that differ between states, except the output. @param nowS Unix time in seconds: only what is complete has one */
const stateOf = (reason: IncompleteReason | undefined, nowS: number) => ({
  status: reason === undefined ? ("completed" as const) : ("incomplete" as const),
  completed_at: reason === undefined ? nowS : null,
  incomplete_details: reason === undefined ? null : { reason },
});

export type ResponseState = ReturnType<typeof stateOf>;

/** Without output. */
const unanswered = (status: "queued" | "in_progress" | "cancelled" | "failed"): string =>
  `"status":"${status}","completed_at":null,"incomplete_details":null,"output":[]`;

/** A response that failed, latin1. @param charged what was charged all the same; undefined: the response does not tell */
export function failedResponse(
  error: WeirError,
  request: ResponsesRequest,
  names: AnswerNames,
  charged?: Charged,
): string {
  const { code, message } = error;
  const head = latin1OfJson({ ...headOf(request, names), error: { code, message } });
  const used = charged === undefined ? '"usage":null' : chargedOf(charged.usage, svcJson(charged.svc));
  return `${head.slice(0, -1)},${echoOf(request)},${unanswered("failed")},${used}}`;
}

/** @param svc JSON */
const chargedOf = (usage: Usage, svc: string): string =>
  `"usage":${JSON.stringify(writeResponsesUsage(usage))},"svc":${svc}`;

export class ResponseObject {
  /** latin1, without its last brace. */
  readonly #head: string;
  readonly #identity: AnswerNames;

  constructor(request: ResponsesRequest, identity: AnswerNames) {
    this.#identity = identity;
    const head = latin1OfJson(headOf(request, identity));
    this.#head = `${head.slice(0, -1)},${echoOf(request)}`;
  }

  /** The response before any output. */
  begun(status: "queued" | "in_progress"): string {
    return `${this.#head},${unanswered(status)},"usage":null}`;
  }

  /** The response whose client cancelled it, latin1: without output, as the API has it. */
  cancelled(usage: Usage, svc: SvcReply): string {
    return `${this.#head},${unanswered("cancelled")},${chargedOf(usage, svcJson(svc))}}`;
  }

  /** The finished response, latin1. @param items JSON of the output @param svc JSON */
  ended(items: readonly string[], reason: IncompleteReason | undefined, usage: Usage, svc: string): string {
    const state = JSON.stringify(stateOf(reason, this.#nowS())).slice(1, -1);
    return `${this.#head},${state},"output":[${items.join(",")}],${chargedOf(usage, svc)}}`;
  }

  /** The wall clock may step back. */
  #nowS(): number {
    const { clock, createdS } = this.#identity;
    return Math.max(createdS, Math.floor(clock.now() / 1000));
  }
}
