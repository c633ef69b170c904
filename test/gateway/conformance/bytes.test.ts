/**
 * Where client and upstream speak the same format, bytes pass: what the gateway does not know, how numbers and characters
 * are written, white space. Only model, `svc` and the id are the gateway's.
 */
import { describe, expect, test } from "vitest";
import { type Json, sseEvents } from "../../support/conformance/ask.ts";
import { sharedGateway } from "../../support/shared-gateway.ts";

const gateway = sharedGateway();

interface Same {
  readonly name: "chat" | "responses" | "messages";
  readonly path: string;
  /** After the model's name; written as no serializer would. Holds members that the gateway has no word for. */
  readonly rest: string;
  /** What asks for a stream. */
  readonly stream: string;
}

const TEXT = String.raw`"caf\u00e9 \/ 水 \ud83e\udda6 1e2"`;

const SAMES: readonly Same[] = [
  {
    name: "chat",
    path: "/v1/chat/completions",
    rest: `,
  "messages" : [ {"role":"user","content":${TEXT},"x_mark":{"deep":[1.0,1E2,-0]}} ],
  "temperature":0.50, "x_new_option": {"a":null,"b":[]}, "prediction":{"type":"content","content":"x"}`,
    stream: ',"stream":true,"stream_options":{"include_usage":true,"x_more":1}',
  },
  {
    name: "responses",
    path: "/v1/responses",
    rest: `,
  "input" : [ {"role":"user","content":[ {"type":"input_text","text":${TEXT},"x_mark":1.0} ]} ],
  "store":false, "temperature":0.50, "client_metadata": {"a":"1E2"}, "prompt_cache_retention":"24h"`,
    stream: ',"stream":true',
  },
  {
    name: "messages",
    path: "/v1/messages",
    rest: `,
  "max_tokens":64, "messages" : [ {"role":"user","content":[ {"type":"text","text":${TEXT},"x_mark":[1.0,1E2]} ]} ],
  "temperature":0.50, "inference_geo":"global", "context_management":{"edits":[ {"type":"clear_tool_uses_20250919","x_keep":1.0} ]}`,
    stream: ',"stream":true',
  },
];

const SVC = ',\n "svc":{"metadata":{"app":"bytes"}}';

const requestOf = ({ rest, stream }: Same, model: string, isStream: boolean, svc: string) =>
  `{ "model":"${model}"${rest}${isStream ? stream : ""}${svc} }`;

async function exchanged(same: Same, isStream: boolean) {
  const answer = await gateway.call("POST", same.path, {
    body: requestOf(same, `weir/sim-${same.name}`, isStream, SVC),
    headers: { "anthropic-version": "2023-06-01" },
  });
  expect(answer.status, answer.text).toBe(200);
  const sent = gateway.simulator.calls.at(-1);
  if (sent === undefined) throw new Error("the simulator saw no call");
  const upstream = await fetch(`${gateway.simulator.url}${sent.path}`, {
    method: "POST",
    headers: { "anthropic-version": "2023-06-01", "content-type": "application/json" },
    body: sent.body,
  });
  return { answer, sent: sent.body.toString(), upstream: await upstream.text() };
}

/** A text with what is the gateway's own taken out, wherever it stands. */
const without = (text: string): string =>
  text
    .replace(/"id":"(chatcmpl-|resp_|msg_)\w+"/, '"id":""')
    .replace(/"model":"[\w./-]+"/, '"model":""')
    .replace(/,"svc":\{"request_id":.*?"warnings":\[\]\}/s, "");

describe.each(SAMES.map((same) => [same.name, same] as const))("%s to %s's own dialect", (_, same) => {
  test.each([
    ["whole", false],
    ["streamed", true],
  ] as const)("T53: a request's bytes pass, %s", async (_mode, isStream) => {
    const { sent } = await exchanged(same, isStream);
    expect(sent.replace(/,\s*\}$/, " }")).toBe(requestOf(same, `sim-${same.name}`, isStream, ""));
  });

  test("an answer's bytes pass", async () => {
    const { answer, upstream } = await exchanged(same, false);
    expect(answer.text).toContain('"svc":{"request_id":');
    expect(without(answer.text)).toBe(without(upstream));
  });

  test("a stream's events pass", async () => {
    const { answer, upstream } = await exchanged(same, true);
    const [got, told] = [answer.text, upstream].map((text) => sseEvents(text)) as [Json[], Json[]];
    expect(got.length).toBe(told.length);
    for (const [index, { name, data }] of got.entries()) {
      expect(name).toBe(told[index].name);
      expect(without(data)).toBe(without(told[index].data));
    }
    expect(answer.text).toContain('"svc":{"request_id":');
  });
});
