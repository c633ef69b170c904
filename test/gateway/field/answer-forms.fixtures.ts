/** Answers in other forms and under other labels than were asked for, made of those that dialects give. */
import type { Json } from "../../support/conformance/ask.ts";
import type { ChatUpstreamName, ClientName } from "../../support/conformance/ends.ts";
import { CLIENTS } from "../../support/conformance/pairs.ts";
import { answerOf, type Said } from "../../support/field/answers.ts";
import { type Field, modelOf } from "../../support/field/field.ts";
import type { Scripted } from "../../support/field/upstream.ts";

export const FORMATS = ["chat", "completions", "responses", "messages", "generate"] as const;
export const DIALECTS = ["chat", "responses", "messages", "gemini", "converse"] as const;
export type Dialect = (typeof DIALECTS)[number];
/** Dialects whose streams are server-sent events. */
export const SSE = ["chat", "responses", "messages", "gemini"] as const satisfies readonly Dialect[];

/** Text with what cuts and escapes could harm, and arguments that a value would lose digits of. */
export const SAID: Said = {
  text: 'Grüß 🎉 "quoted" \\ back\nnew {"a":[1,2]} 世界',
  calls: [
    { id: "call_a", name: "f", arguments: '{"id":12345678901234567890,"f":1.0,"s":"{\\"}[]"}' },
    { id: "call_b", name: "g", arguments: "{}" },
  ],
};

export const TEXT: Said = { text: "Hello there, this is a text that is streamed in pieces." };

/** What a scripted upstream writes, in one piece. */
export const bytesOf = ({ parts, body = "" }: Scripted): Buffer =>
  Buffer.concat(
    (parts ?? [body]).map((part) => {
      if (typeof part === "function") throw new Error("a gap has no bytes");
      return typeof part === "string" ? Buffer.from(part) : part;
    }),
  );

/** An answer under a label; without one if it is undefined. */
export const labelled = (scripted: Scripted, type: string | undefined): Scripted => ({
  parts: [bytesOf(scripted)],
  headers: { "content-type": type ?? "" },
});

export const whole = (dialect: ChatUpstreamName, said: Said, type?: string): Scripted =>
  labelled(answerOf(dialect, said, false), type);

export const streamed = (dialect: ChatUpstreamName, said: Said, type?: string): Scripted =>
  labelled(answerOf(dialect, said, true), type);

/** The JSON of each event. Converse has frames instead. */
export const dataOf = (dialect: ChatUpstreamName, said: Said): string[] =>
  bytesOf(answerOf(dialect, said, true))
    .toString()
    .split("\n\n")
    .flatMap((event) => {
      const lines = event.split("\n").filter((line) => line.startsWith("data: "));
      return lines.length === 0 ? [] : [lines.map((line) => line.slice(6)).join("\n")];
    });

/** What a client hears of an answer, but for what differs from call to call. */
export async function heardOf(
  field: Field,
  client: ClientName,
  dialect: ChatUpstreamName,
  scripted: Scripted,
  stream: boolean,
): Promise<{ readonly said: Json; readonly warnings: readonly string[] }> {
  field.up.script(scripted);
  const got = await field.send(client, dialect, requestOf(client, dialect, stream), { stream });
  if (got.status !== 200) throw new Error(`${got.status} ${got.text}`);
  const { choices, usage, svc } = stream
    ? CLIENTS[client].streamed(got.text)
    : CLIENTS[client].whole(got.json);
  return { said: { choices, usage, cost: svc.cost }, warnings: svc.warnings };
}

const PARAMETERS = { type: "object", properties: {} };

export function requestOf(client: ClientName, dialect: ChatUpstreamName, stream: boolean): object {
  if (client === "completions") return { prompt: "x" };
  const tools = ["f", "g"].map((name) => ({ name, description: "t", parameters: PARAMETERS }));
  return CLIENTS[client].request({ turns: [{ user: [{ text: "x" }] }], tools }, modelOf(dialect), stream);
}
