/** Detached calls of tests: streams that are left after some events, and read again. */
import type { TestGateway } from "../gateway.ts";

/** Routes of generations, each with a body that asks `test/model` for a stream. */
export const STREAMS: Readonly<Record<string, readonly [path: string, body: Record<string, unknown>]>> = {
  chat: ["/v1/chat/completions", { messages: [{ role: "user", content: "x" }] }],
  completions: ["/v1/completions", { prompt: "x" }],
  responses: ["/v1/responses", { input: "x" }],
  messages: ["/v1/messages", { messages: [{ role: "user", content: "x" }], max_tokens: 4096 }],
  generate: ["/v1/svc/generate", { messages: [{ role: "user", content: [{ type: "text", text: "x" }] }] }],
};

type Reached = Pick<TestGateway, "url" | "liveKey">;

interface Asked {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly svc?: Readonly<Record<string, unknown>>;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The call's response before its body. Detached unless `svc` says otherwise. */
export function begin(gateway: Reached, format: string, asked: Asked = {}): Promise<Response> {
  const [path, body] = STREAMS[format] as (typeof STREAMS)[string];
  const svc = { on_disconnect: "detach", ...asked.svc };
  return fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${asked.key ?? gateway.liveKey}`,
      "content-type": "application/json",
      ...asked.headers,
    },
    body: JSON.stringify({
      model: "test/model",
      stream: true,
      ...body,
      ...asked.body,
      ...(format === "generate" ? svc : { svc }),
    }),
    ...(asked.signal && { signal: asked.signal }),
  });
}

/** Reads so many events, and leaves. @returns their bytes and the request's id */
export async function readSome(
  response: Response,
  events: number,
  going: AbortController,
): Promise<{ readonly id: string; readonly text: string }> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  while (eventsIn(text).length < events) {
    const { value, done } = await reader.read();
    if (done) break;
    text += Buffer.from(value).toString("latin1");
  }
  going.abort();
  await reader.cancel().catch(() => {});
  return { id: response.headers.get("x-svc-request-id") ?? "", text };
}

/** A detached call that its client leaves after so many events. @returns its id and what the client got */
export async function leftAfter(
  gateway: Reached,
  format: string,
  events: number,
  asked: Asked = {},
): Promise<{ readonly id: string; readonly text: string }> {
  const going = new AbortController();
  return await readSome(await begin(gateway, format, { ...asked, signal: going.signal }), events, going);
}

/** The stream of a call, read to its end. @param last `Last-Event-ID` */
export async function resumed(
  gateway: Reached,
  id: string,
  last?: string,
  key = gateway.liveKey,
): Promise<{ readonly status: number; readonly type: string; readonly text: string }> {
  const response = await fetch(`${gateway.url}/v1/generation/${id}/stream`, {
    headers: { authorization: `Bearer ${key}`, ...(last !== undefined && { "last-event-id": last }) },
  });
  const text = Buffer.from(await response.arrayBuffer()).toString("latin1");
  const type = response.headers.get("content-type") ?? "";
  return { status: response.status, type, text: response.ok && type.includes("event") ? said(text) : text };
}

/** A stream without what only says that the connection is alive: that has no id. */
export const said = (text: string): string =>
  text
    .split(/(?<=\n\n)/)
    .filter((event) => event.startsWith("id: "))
    .join("");

/** Whole events of a stream, comments left out. */
export const eventsIn = (text: string): string[] =>
  text
    .split("\n\n")
    .slice(0, -1)
    .filter((event) => !event.startsWith(":"));

/** The `id` of each event. */
export const idsIn = (text: string): number[] =>
  eventsIn(text).map((event) => Number(/^id: (\d+)\n/.exec(event)?.[1] ?? Number.NaN));

/** The last event without its number, which a reader that had more than is kept gets with a later one. */
export const lastOf = (text: string): string =>
  (eventsIn(text).at(-1) ?? "").replace(/^id: \d+\n/, "").replace(/"sequence_number":\d+,/, "");

/** The events without their ids. */
export const withoutIds = (text: string): string => text.replaceAll(/^id: \d+\n/gm, "");

/** The beginning of a text up to its last whole event. */
export const wholeEvents = (text: string): string => text.slice(0, text.lastIndexOf("\n\n") + 2);

/** The texts of the deltas of a stream, in any format. */
export function wordsIn(text: string): string {
  const data = eventsIn(text).map((event) => /^data: (\{.*)$/m.exec(event)?.[1] ?? "{}");
  return data.map((json) => wordsOf(JSON.parse(json))).join("");
}

function wordsOf({ type, choices, delta, text }: Told): string {
  const [choice] = choices ?? [];
  const words = typeof delta === "string" ? delta : delta?.text;
  return choice?.delta?.content ?? choice?.text ?? words ?? (type === "content.delta" ? text : "") ?? "";
}

/** What an event has of text, in the formats that there are. */
interface Told {
  readonly type?: string;
  readonly choices?: readonly { readonly delta?: { readonly content?: string }; readonly text?: string }[];
  readonly delta?: string | { readonly text?: string };
  readonly text?: string;
}
