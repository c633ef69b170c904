/** Recorded-shape streams of the responses format, and both ends of the format as tests use them. */
import { readFileSync } from "node:fs";
import type { AnswerIdentity } from "../../../src/wire/format.ts";
import { fragmentOf } from "../../../src/wire/neutral/fragment.ts";
import type {
  NeutralReply,
  NeutralRequest,
  ReplyPart,
  StreamEvent,
} from "../../../src/wire/neutral/neutral.ts";
import { bytesOf as joined, Source } from "../../../src/wire/neutral/source.ts";
import { responsesFormat } from "../../../src/wire/responses/format.ts";
import { ResponsesStreamReader } from "../../../src/wire/responses/reader.ts";
import { type ResponsesRequest, readResponsesRequest } from "../../../src/wire/responses/request.ts";
import { ResponsesStreamWriter } from "../../../src/wire/responses/writer.ts";
import { endpoint } from "../../support/routing/fixtures.ts";
import { type Json, plainEvents, SVC, usage } from "../../support/wire/fixtures.ts";

export const RECORDED = ["openai", "openai-tools", "openai-cited", "openai-refusal", "vllm"] as const;

export const IDENTITY: AnswerIdentity = {
  id: `resp_${SVC.request_id}`,
  requestId: SVC.request_id,
  model: "vendor/größe-1",
  createdS: 1_761_000_000,
  clock: { now: () => 1_761_000_003_250 },
  maxEventBytes: 1 << 20,
  maxCaptureBytes: 1 << 20,
};

export const UPSTREAM = endpoint("e", { upstreamModel: "up-1" });

export const recordedBytes = (name: string): Buffer =>
  readFileSync(new URL(`../../fixtures/responses/${name}.sse`, import.meta.url));

export const recorded = (name: string): string => recordedBytes(name).toString("latin1");

/** The events of a stream as JSON. */
export const eventsIn = (latin1: string): Json[] =>
  plainEvents(latin1)
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data) as Json);

/** The response that the last event holds. */
export const finalOf = (latin1: string): Json => eventsIn(latin1).at(-1)?.response as Json;

export const reader = (): ResponsesStreamReader => new ResponsesStreamReader(1 << 20);

export const requestOf = (body: Json): ResponsesRequest =>
  readResponsesRequest(Buffer.from(JSON.stringify({ model: "v/m", input: "Hi", ...body })));

export const neutralOf = (body: Json): NeutralRequest => {
  const request = requestOf(body);
  const { generation } = responsesFormat;
  if (generation === undefined) throw new Error("the format has no generation");
  return generation.neutral(request, new Source(request.bytes, request.elided));
};

/** A body as translation writes it: marks replaced by the client's bytes. */
export function sent(request: ResponsesRequest, body: unknown): Json {
  const source = new Source(request.bytes, request.elided);
  const pieces = source.piecesOf(body);
  return JSON.parse(Buffer.concat(joined(request.bytes, pieces)).toString()) as Json;
}

/** What a client gets of the events; with the writer, which keeps the response. */
export function written(
  events: readonly StreamEvent[],
  request = requestOf({}),
): { text: string; response: Json } {
  const writer = new ResponsesStreamWriter(request, IDENTITY);
  let text = "";
  for (const event of events) text += writer.write(event);
  text += writer.close(usage(7, 5, { cacheReadTokens: 2, reasoningTokens: 1 }), SVC);
  return { text, response: JSON.parse(writer.responseJson() ?? "null") as Json };
}

/** The events that a dialect's reader would give of an answer, its texts in pieces of so many characters. */
export function streamed(reply: NeutralReply, size = 3): StreamEvent[] {
  const [choice] = reply.choices;
  const events = (choice?.parts ?? []).flatMap((part, index) => partEvents(part, index, size));
  events.push({ type: "stop", choice: 0, stop: choice?.stop ?? { reason: "other" } });
  return events;
}

function partEvents(part: ReplyPart, index: number, size: number): StreamEvent[] {
  const place = { choice: 0, part: index };
  if (part.type === "media") return [{ type: "media", ...place, media: part }];
  const events: StreamEvent[] = [];
  if (part.type === "tool_call") {
    events.push({ type: "begin", ...place, kind: "tool_call", id: part.id, name: part.name });
  } else {
    const { isSummary = false, isRedacted = false } = part.type === "reasoning" ? part : {};
    events.push({ type: "begin", ...place, kind: part.type, isSummary, isRedacted });
  }
  const characters = [...(part.type === "tool_call" ? part.arguments : part.text)];
  for (let at = 0; at < characters.length; at += size) {
    const text = fragmentOf(characters.slice(at, at + size).join(""));
    events.push({ type: "delta", ...place, text });
  }
  if (part.type === "text") {
    for (const citation of part.citations ?? []) events.push({ type: "citation", ...place, citation });
  }
  if (part.type !== "refusal" && part.seal !== undefined) {
    // A call's comes with its first arguments.
    const at = part.type === "tool_call" ? 2 : events.length;
    events.splice(at, 0, { type: "seal", ...place, seal: part.seal });
  }
  events.push({ type: "end", ...place });
  return events;
}
