/**
 * A client of the simulated Gemini.
 */
import { expect } from "vitest";

export interface Part {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  functionCall?: { id?: string; name: string; args: Record<string, unknown> };
}
export interface Reply {
  candidates?: { content?: { parts: Part[]; role: string }; finishReason?: string; index: number }[];
  usageMetadata?: Record<string, unknown>;
  modelVersion: string;
  responseId: string;
}
interface Refusal {
  error: { code: number; message: string; status: string; details?: unknown };
}

export const GOOGLE = "/v1beta/models/gemini-sim";
export const VERTEX = "/v1/projects/p/locations/l/publishers/google/models/gemini-sim";

export const withPath = (instruction: object) => `/with/${encodeURIComponent(JSON.stringify(instruction))}`;

export const user = (text: string, more: object = {}) => ({
  contents: [{ role: "user", parts: [{ text }] }],
  ...more,
});

export const tools = [
  {
    functionDeclarations: ["open_gate", "read_level"].map((name) => ({
      name,
      parameters: {
        type: "OBJECT",
        properties: { gate: { type: "INTEGER" }, why: { type: "STRING", minLength: "6" } },
      },
    })),
  },
];

export const partsOf = (reply: Reply | undefined): Part[] => reply?.candidates?.[0]?.content?.parts ?? [];
export const textOf = (parts: readonly Part[], thought = false) =>
  parts.map((part) => ((part.thought === true) === thought ? (part.text ?? "") : "")).join("");

/** Calls of the simulator at that URL, once there is one. */
export class GeminiClient {
  readonly #url: () => string;

  constructor(url: () => string) {
    this.#url = url;
  }

  post(body: unknown, method = "generateContent", prefix = "", model = GOOGLE) {
    const headers = { "x-goog-api-key": "k" };
    const url = `${this.#url()}${prefix}${model}:${method}`;
    return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  }

  async whole(body: unknown, model = GOOGLE): Promise<Reply> {
    const reply = await this.post(body, "generateContent", "", model);
    expect(reply.status).toBe(200);
    return (await reply.json()) as Reply;
  }

  async streamed(body: unknown, prefix = ""): Promise<Reply[]> {
    const reply = await this.post(body, "streamGenerateContent?alt=sse", prefix);
    expect(reply.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const events = (await reply.text()).split("\r\n\r\n");
    expect(events.pop()).toBe("");
    return events.map((event) => JSON.parse(event.replace(/^data: /, "")) as Reply);
  }

  /** The message with which the body is refused. */
  async refused(body: unknown, method?: string): Promise<string> {
    const reply = await this.post(body, method);
    expect(reply.status).toBe(400);
    const { error } = (await reply.json()) as Refusal;
    expect(error).toMatchObject({ code: 400, status: "INVALID_ARGUMENT" });
    return error.message;
  }
}
