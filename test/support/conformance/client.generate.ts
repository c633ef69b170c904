/** The native format as a client speaks it: an ask as a body, an answer as what it says. */
import { expectSame } from "../same.ts";
import {
  type Ask,
  type AskPart,
  type Heard,
  type HeardChoice,
  type Json,
  ourOptions,
  parsedArguments,
  sseEvents,
  type Turn,
} from "./ask.ts";
import type { Client } from "./ends.ts";

export const generateClient: Client = {
  name: "generate",
  path: "/v1/svc/generate",
  idPrefix: "",
  headers: {},
  own: { pointer: "/generation/logit_bias", keptBy: ["chat"] },
  pointers: {
    choices: "/generation/candidates",
    stop: "/generation/stop",
    seed: "/generation/seed",
    json: "/format",
    tool_errors: "/messages/2",
    image_urls: "/messages/0",
    cache_marks: "/messages/0/content/0/cache_control",
  },
  lacks: {},
  stops: {
    stop: "stop",
    stop_sequence: "stop_sequence",
    length: "length",
    tool_calls: "tool_calls",
    refusal: "refusal",
    content_filter: "content_filter",
  },
  request: (ask, model, stream) => ({
    model,
    messages: [
      ...(ask.system === undefined ? [] : [{ role: "system", content: ask.system }]),
      ...ask.turns.map(messageOf),
    ],
    ...(ask.tools && { tools: ask.tools }),
    ...(ask.choosing && { tool_choice: ask.choosing }),
    ...(ask.parallel !== undefined && { parallel_tools: ask.parallel }),
    ...(ask.schema && { format: { type: "json_schema", name: "report", schema: ask.schema } }),
    ...(ask.json && { format: { type: "json" } }),
    generation: generationOf(ask),
    ...ourOptions(ask),
    ...(stream && { stream }),
  }),
  whole: (body) => {
    const candidates: Json[] = body.candidates;
    return {
      ...frameOf(body),
      choices: candidates.map(({ content, stop }) => choiceOf(content, stop.reason)),
      echo: candidates[0]?.content,
    };
  },
  streamed: (text) => {
    const events: Json[] = sseEvents(text).map(({ name, data }) => {
      const event = JSON.parse(data);
      expectSame(event.type, name);
      return event;
    });
    const first = events.shift();
    const last = events.pop();
    expectSame([first.type, last.type, first.id], ["generation.started", "generation.completed", last.id]);
    const candidates = assembled(events);
    return {
      ...frameOf(last),
      choices: candidates.map(({ parts, stop }) => choiceOf(parts, stop)),
      echo: candidates[0]?.parts ?? [],
    };
  },
  errorOf: (body) => body.error,
  streamError: (text) => {
    const last = sseEvents(text).at(-1);
    return last?.name === "error" ? JSON.parse(last.data).error.code : undefined;
  },
};

const generationOf = ({ stop, maxTokens, choices, own, thinks, temperature, seed }: Ask) => ({
  ...(temperature !== undefined && { temperature }),
  ...(seed !== undefined && { seed }),
  ...(stop && { stop }),
  ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  ...(choices !== undefined && { candidates: choices }),
  ...(own && { logit_bias: { "50256": -100 } }),
  ...(thinks && { reasoning: { effort: "low", show: true } }),
});

function messageOf(turn: Turn): Json {
  if ("echo" in turn) return { role: "assistant", content: turn.echo };
  if ("user" in turn) return { role: "user", content: turn.user.map(partOf) };
  if ("results" in turn) {
    const results: Json[] = turn.results.map(({ id, text, image, isError }) => ({
      type: "tool_result",
      id,
      content: image ? [{ type: "text", text }, partOf({ image })] : text,
      ...(isError && { is_error: true }),
    }));
    return { role: "user", content: [...results, ...(turn.said ? [{ type: "text", text: turn.said }] : [])] };
  }
  const calls: Json[] = (turn.calls ?? []).map(({ id, name, arguments: args }) => ({
    type: "tool_call",
    id,
    name,
    arguments: JSON.stringify(args),
  }));
  const text = turn.assistant === "" ? [] : [{ type: "text", text: turn.assistant }];
  return { role: "assistant", content: [...text, ...calls] };
}

function partOf(part: AskPart): Json {
  if ("text" in part) return { type: "text", text: part.text, ...(part.isCached && { cache: {} }) };
  if ("imageUrl" in part) return { type: "image", url: part.imageUrl };
  const [type, { mediaType, data }] =
    "image" in part ? ["image", part.image] : (["document", part.document] as const);
  return { type, media_type: mediaType, data };
}

const frameOf = ({
  id,
  model,
  usage,
  cost,
  provider_meta: meta,
  warnings,
}: Json): Omit<Heard, "choices" | "echo"> => ({
  id,
  model,
  usage: {
    input: usage.input_tokens,
    output: usage.output_tokens,
    cacheRead: usage.cache_read_tokens,
    cacheWrite: usage.cache_write_tokens,
    reasoning: usage.reasoning_tokens,
  },
  svc: { requestId: id, provider: meta.provider, endpointId: meta.endpoint_id, cost, warnings },
});

function choiceOf(parts: readonly Json[], stop: string): HeardChoice {
  const joined = (type: string) => parts.map((part) => (part.type === type ? part.text : "")).join("");
  return {
    text: joined("text"),
    refusal: joined("refusal"),
    reasoning: joined("reasoning"),
    calls: parts
      .filter(({ type }) => type === "tool_call")
      .map(({ id, name, arguments: args }) => ({ id, name, arguments: parsedArguments(args) })),
    stop,
  };
}

/** The candidates that the events add up to. */
function assembled(events: readonly Json[]): { parts: Json[]; stop: string }[] {
  const candidates: { parts: Json[]; stop: string }[] = [];
  for (const { type, index, part: at, ...event } of events) {
    candidates[index] ??= { parts: [], stop: "" };
    const candidate = candidates[index];
    expectSame(candidate.stop, "", "nothing follows the end");
    if (type === "candidate.stopped") {
      candidate.stop = event.stop.reason;
      continue;
    }
    const parts = candidate.parts;
    parts[at] ??= beginning(type, event);
    const { text, arguments: args, seal } = event;
    if (text !== undefined) parts[at].text += text;
    if (args !== undefined) parts[at].arguments += args;
    if (seal !== undefined) parts[at].seal = seal;
  }
  // A part without text is never told: its place stays empty.
  return candidates.map(({ parts, stop }) => ({ parts: parts.filter(() => true), stop }));
}

function beginning(type: string, { id, name, refusal, summary, redacted }: Json): Json {
  if (type === "tool_call.delta") return { type: "tool_call", id, name, arguments: "" };
  if (type === "content.delta") return { type: refusal ? "refusal" : "text", text: "" };
  expectSame(type, "reasoning.delta");
  return { type: "reasoning", text: "", ...(summary && { summary }), ...(redacted && { redacted }) };
}
