/** Clients over plain HTTP that read an answer when a test tells them to. */
import { type IncomingMessage, request } from "node:http";
import { expect } from "vitest";
import { sseData, type TestGateway } from "../gateway.ts";

/** A call of one provider. */
export const slowBody = (provider: string, stream: boolean) =>
  JSON.stringify({
    model: "test/model",
    stream,
    messages: [{ role: "user", content: "Hello" }],
    svc: { route: { providers: { only: [provider] } } },
  });

/** The answer's head; its body waits until it is read. */
export function openAnswer(gateway: TestGateway, provider: string, stream = true): Promise<IncomingMessage> {
  const call = request(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    agent: false,
    headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
  });
  call.end(slowBody(provider, stream));
  return new Promise((resolve, reject) => {
    call.once("response", resolve);
    call.once("error", reject);
  });
}

/** The rest of a body, which has to be whole. */
export async function readWhole(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  expect(response.complete).toBe(true);
  return Buffer.concat(parts).toString("latin1");
}

/** Bytes of content, and how the stream ended. */
export function contentOf(text: string): { events: number; bytes: number; last: unknown } {
  const all = sseData(text) as { choices?: { delta: { content?: string } }[] }[];
  const contents = all.map((e) => e.choices?.[0]?.delta?.content ?? "").filter((c) => c !== "");
  return { events: contents.length, bytes: contents.join("").length, last: all.at(-1) };
}
