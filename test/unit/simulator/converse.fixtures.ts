/**
 * A client of the simulated Bedrock Converse, which reads its event streams with AWS's own codec.
 */
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { fromUtf8, toUtf8 } from "@smithy/util-utf8";
import { expect } from "vitest";

export interface Block {
  text?: string;
  toolUse?: { toolUseId: string; name: string; input: unknown };
  reasoningContent?: { reasoningText?: { text: string; signature: string }; redactedContent?: string };
}
export interface Reply {
  output: { message: { role: string; content: Block[] } };
  stopReason: string;
  usage: Record<string, unknown>;
  metrics: { latencyMs: number };
}
interface Delta {
  text?: string;
  toolUse?: { input: string };
  reasoningContent?: { text?: string; signature?: string; redactedContent?: string };
}
export interface Event {
  readonly type: string;
  readonly name: string;
  readonly payload: {
    contentBlockIndex?: number;
    delta?: Delta;
    start?: { toolUse: { toolUseId: string; name: string } };
    stopReason?: string;
    usage?: Record<string, unknown>;
    message?: string;
    p?: string;
  };
}

export const MODEL = "/model/anthropic.claude-sim-v1%3A0";

export const withPath = (instruction: object) => `/with/${encodeURIComponent(JSON.stringify(instruction))}`;

export const user = (text: string, more: object = {}) => ({
  messages: [{ role: "user", content: [{ text }] }],
  ...more,
});

export const toolConfig = {
  tools: ["open_gate", "read_level"].map((name) => ({
    toolSpec: {
      name,
      description: "A tool.",
      inputSchema: { json: { type: "object", properties: { gate: { type: "integer" } } } },
    },
  })),
};

const BEARER = { authorization: "Bearer k" };

/** Calls of the simulator at that URL, once there is one. */
export class ConverseClient {
  readonly #url: () => string;

  constructor(url: () => string) {
    this.#url = url;
  }

  post(body: unknown, method = "converse", prefix = "", headers: Record<string, string> = BEARER) {
    const url = `${this.#url()}${prefix}${MODEL}/${method}`;
    return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  }

  async whole(body: unknown): Promise<Reply> {
    const reply = await this.post(body);
    expect(reply.status).toBe(200);
    return (await reply.json()) as Reply;
  }

  async streamed(body: unknown, prefix = ""): Promise<Event[]> {
    const reply = await this.post(body, "converse-stream", prefix);
    expect(reply.headers.get("content-type")).toBe("application/vnd.amazon.eventstream");
    return decoded(new Uint8Array(await reply.arrayBuffer()));
  }

  /** The message with which the body is refused. */
  async refused(body: unknown): Promise<string> {
    const reply = await this.post(body);
    expect(reply.status).toBe(400);
    expect(reply.headers.get("x-amzn-errortype")).toMatch(/^ValidationException:/);
    return ((await reply.json()) as { message: string }).message;
  }
}

const codec = new EventStreamCodec(toUtf8, fromUtf8);

/** Frames by their lengths; the codec checks both checksums. */
export function decoded(bytes: Uint8Array): Event[] {
  const events: Event[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; ) {
    const length = view.getUint32(at);
    const { headers, body } = codec.decode(bytes.subarray(at, at + length));
    const type = String(headers[":message-type"]?.value);
    expect(headers[":content-type"]).toEqual({ type: "string", value: "application/json" });
    const name = String(headers[`:${type}-type`]?.value);
    events.push({ type, name, payload: JSON.parse(toUtf8(body)) });
    at += length;
  }
  return events;
}

/** The message that the events of a stream come to. */
export function assembled(events: readonly Event[]): Block[] {
  const blocks: Block[] = [];
  const inputs: string[] = [];
  for (const { name, payload } of events) {
    const index = payload.contentBlockIndex ?? 0;
    if (name === "contentBlockStart" && payload.start) {
      blocks[index] = { toolUse: { ...payload.start.toolUse, input: undefined } };
      inputs[index] = "";
    }
    if (name === "contentBlockStop" && inputs[index] !== undefined) {
      const { toolUse } = blocks[index] ?? {};
      if (toolUse) toolUse.input = JSON.parse(inputs[index]);
    }
    if (name !== "contentBlockDelta") continue;
    const { text, toolUse, reasoningContent } = payload.delta ?? {};
    if (toolUse) inputs[index] += toolUse.input;
    if (text !== undefined) blocks[index] = { text: (blocks[index]?.text ?? "") + text };
    if (reasoningContent?.redactedContent !== undefined) blocks[index] = { reasoningContent };
    else if (reasoningContent) {
      const known = blocks[index]?.reasoningContent?.reasoningText ?? { text: "", signature: "" };
      const reasoningText = {
        text: known.text + (reasoningContent.text ?? ""),
        signature: known.signature + (reasoningContent.signature ?? ""),
      };
      blocks[index] = { reasoningContent: { reasoningText } };
    }
  }
  return blocks;
}
