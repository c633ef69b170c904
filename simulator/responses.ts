/**
 * The OpenAI responses dialect: the non-streamed reply, the failed one, and errors. Shapes:
 * https://platform.openai.com/docs/api-reference/responses
 */
import type { Answer } from "./answer.ts";
import { openaiError } from "./chat.ts";
import type { EventContent, ReportedError, SimulatedDialect } from "./dialect.ts";
import type { Instruction } from "./instruction.ts";
import { filled } from "./padding.ts";
import { endedResponse, itemsOf, type SentResponse, startedResponse, usageOf } from "./responses-object.ts";
import { type ResponsesRequest, readResponses } from "./responses-request.ts";
import { ResponsesWriter } from "./responses-stream.ts";
import { SSE_TYPE, sseFrame } from "./sse.ts";

/** The JSON body of a call that is not streamed; with `bytes` or `total_bytes`, exactly that long. */
function wholeResponse(request: ResponsesRequest, instruction: Instruction, answer: Answer): string {
  const tokens = answer.choices[0]?.tokens ?? [];
  const reasoning = tokens.filter(({ kind }) => kind === "reasoning").length;
  const usage = usageOf(request, instruction, { tokens: tokens.length, reasoning });
  return filled(instruction, (filler) => {
    const items = itemsOf(request, instruction, answer, filler).map(({ item }) => item);
    return JSON.stringify(endedResponse(request, answer, items, usage, instruction));
  });
}

/** A response that failed, with HTTP status 200. */
function failedResponse(
  request: ResponsesRequest,
  answer: Answer,
  error: ReportedError,
  sent: number,
): EventContent {
  const code = error.code === "rate_limit_exceeded" ? "rate_limit_exceeded" : "server_error";
  const response: SentResponse = {
    ...startedResponse(request, answer),
    status: "failed",
    error: { code, message: error.message },
  };
  if (!request.stream) return { data: JSON.stringify(response) };
  const type = "response.failed";
  return { name: type, data: JSON.stringify({ type, response, sequence_number: sent }) };
}

function errorEvent({ message, code, param }: ReportedError, sent: number): EventContent {
  const said = { type: "error", code: code ?? "server_error", message, param: param ?? null };
  return { name: "error", data: JSON.stringify({ ...said, sequence_number: sent }) };
}

export const responses: SimulatedDialect<ResponsesRequest> = {
  path: /^(.*)\/v1\/responses$/,
  read: readResponses,
  whole: wholeResponse,
  events: (request, instruction, answer) => new ResponsesWriter(request, instruction, answer).write(),
  streamType: SSE_TYPE,
  frame: sseFrame,
  error: openaiError,
  errorEvent,
  failed: failedResponse,
  requestIdHeader: "x-request-id",
};
