/**
 * The Anthropic messages dialect: the non-streamed reply, its errors, and token counts. Shapes:
 * https://platform.claude.com/docs/en/api/messages, /errors and /messages-count-tokens
 */
import type { Message } from "@anthropic-ai/sdk/resources/messages";
import type { Answer, Choice } from "./answer.ts";
import type { ReportedError, SimulatedDialect } from "./dialect.ts";
import type { Instruction } from "./instruction.ts";
import { blocksOf, ending, envelope, type Sent, usageOf, withInstructedUsage } from "./messages-object.ts";
import { checkVersion, readCounted, readMessages } from "./messages-request.ts";
import { MessagesWriter } from "./messages-stream.ts";
import { filled } from "./padding.ts";
import type { SimulatedRequest } from "./simulated-request.ts";
import type { SimulatedRoute } from "./simulated-route.ts";
import { SSE_TYPE, sseFrame } from "./sse.ts";

const REQUEST_ID = "req_simulated";

/** The JSON body of a call that is not streamed; with `bytes` or `total_bytes`, exactly that long. */
function wholeMessage(request: SimulatedRequest, instruction: Instruction, answer: Answer): string {
  const choice = answer.choices[0] as Choice;
  const sent: Sent = {
    tokens: choice.tokens.length,
    thinking: choice.tokens.filter(({ kind }) => kind === "reasoning").length,
  };
  return filled(instruction, (filler) => {
    const message: Message = {
      ...envelope(request, answer),
      content: blocksOf(answer, instruction, filler).map((block) => block.whole),
      ...ending(choice),
      usage: usageOf(request, instruction, sent),
    };
    return JSON.stringify(withInstructedUsage(message, instruction));
  });
}

/** Error types by status: https://platform.claude.com/docs/en/api/errors */
const ERROR_TYPES: Readonly<Record<number, string>> = Object.freeze({
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
});

function errorBody({ status, message, type }: ReportedError): string {
  const usual = ERROR_TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return JSON.stringify({ type: "error", error: { type: type ?? usual, message }, request_id: REQUEST_ID });
}

export const messages: SimulatedDialect = {
  path: /^(.*)\/v1\/messages$/,
  variesBy: ["anthropic-version"],
  checkHeaders: checkVersion,
  read: (body, _, headers) => readMessages(body, headers),
  whole: wholeMessage,
  events: (request, instruction, answer) => new MessagesWriter(request, instruction, answer).write(),
  streamType: SSE_TYPE,
  frame: sseFrame,
  error: errorBody,
  errorEvent: (error) => ({ name: "error", data: errorBody(error) }),
  requestIdHeader: "request-id",
};

export const countTokens: SimulatedRoute<SimulatedRequest> = {
  path: /^(.*)\/v1\/messages\/count_tokens$/,
  checkHeaders: checkVersion,
  read: readCounted,
  reply: (request, instruction) =>
    JSON.stringify({ input_tokens: instruction.prompt_tokens ?? request.promptTokens }),
  error: errorBody,
};
