/**
 * What every dialect of the simulated provider must do alike: hear its instructions, fail as told, and shape its bytes.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

interface Dialect {
  readonly name: string;
  readonly path: string;
  readonly streamPath?: string;
  readonly body: (text: string, stream: boolean) => object;
  /** The pieces of text in a stream's text. */
  readonly delta: RegExp;
}

const said = (content: string) => [{ role: "user", content }];
const dialects: readonly Dialect[] = [
  {
    name: "chat",
    path: "/v1/chat/completions",
    body: (text, stream) => ({ model: "m", stream, messages: said(text) }),
    delta: /"content":"([^"]+)"/g,
  },
  {
    name: "messages",
    path: "/v1/messages",
    body: (text, stream) => ({ model: "m", max_tokens: 99, stream, messages: said(text) }),
    delta: /"type":"text_delta","text":"([^"]+)"/g,
  },
  {
    name: "responses",
    path: "/v1/responses",
    body: (text, stream) => ({ model: "m", stream, input: said(text) }),
    delta: /"delta":"([^"]+)"/g,
  },
  {
    name: "gemini",
    path: "/v1beta/models/m:generateContent",
    streamPath: "/v1beta/models/m:streamGenerateContent?alt=sse",
    body: (text) => ({ contents: [{ role: "user", parts: [{ text }] }] }),
    delta: /"text":\s?"([^"]+)"/g,
  },
  {
    name: "converse",
    path: "/model/m/converse",
    streamPath: "/model/m/converse-stream",
    body: (text) => ({ messages: [{ role: "user", content: [{ text }] }] }),
    delta: /"delta":\{"text":"([^"]+)"/g,
  },
  {
    name: "completions",
    path: "/v1/completions",
    body: (prompt, stream) => ({ model: "m", stream, prompt }),
    delta: /"text":"([^"]+)"/g,
  },
];
const HEADERS = { authorization: "Bearer sk-test", "anthropic-version": "2023-06-01" };

function send(
  dialect: Dialect,
  stream: boolean,
  instruction: object = {},
  body = dialect.body("Hi", stream),
) {
  const path = stream ? (dialect.streamPath ?? dialect.path) : dialect.path;
  return fetch(`${simulator.url}/with/${encodeURIComponent(JSON.stringify(instruction))}${path}`, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify(body),
  });
}

const textOf = (reply: Response) => reply.text();
const both = dialects.flatMap((dialect) =>
  [true, false].map((stream) => ({ name: dialect.name, stream, dialect })),
);

describe.each(both)("$name, stream $stream", ({ dialect, stream }) => {
  test.each([
    ["the path", { status: 418 }, dialect.body("Hi", stream)],
    ["the body", {}, { ...dialect.body("Hi", stream), simulator: { status: 418 } }],
    ["the text", {}, dialect.body("Hi [[sim status=418]]", stream)],
  ])("hears an instruction from %s", async (_from, instruction, body) => {
    const reply = await send(dialect, stream, { ...instruction, error_message: "I am a teapot." }, body);
    expect(reply.status).toBe(418);
    expect(await textOf(reply)).toContain("I am a teapot.");
  });

  test("names the key of an instruction that it does not know", async () => {
    const reply = await send(dialect, stream, { tokenz: 3 });
    expect(reply.status).toBe(400);
    expect(await textOf(reply)).toContain("tokenz");
  });

  test("refuses a field when told to, and is saturated as often as told", async () => {
    const field = Object.keys(dialect.body("Hi", stream)).at(-1) as string;
    expect((await send(dialect, stream, { reject: [field] })).status).toBe(400);
    const told = { status: 429, times: 2, retry_after: 3 };
    const replies = [1, 2, 3].map(() => send(dialect, stream, told));
    const statuses: number[] = [];
    for (const reply of replies) statuses.push((await reply).status);
    expect(statuses.sort()).toEqual([200, 429, 429]);
    expect((await send(dialect, stream, { ...told, times: 1 })).headers.get("retry-after")).toBe("3");
  });

  test("is not JSON where it is no dialect at all", async () => {
    expect((await send(dialect, stream, { fault: "wrong_type" })).headers.get("content-type")).toMatch(
      "text/html",
    );
    expect(await textOf(await send(dialect, stream, { fault: "empty_body" }))).toBe("");
  });

  test("the same bytes for the same request, however they are cut or compressed", async () => {
    const plain = await textOf(await send(dialect, stream, { reasoning: 3 }));
    expect(plain.length).toBeGreaterThan(100);
    for (const shape of [{ split: [7, 8, 50] }, { one_write: true }, { gzip: true }])
      expect(await textOf(await send(dialect, stream, { reasoning: 3, ...shape }))).toBe(plain);
  });

  test.each(["cut_mid", "reset_mid"])("%s: the connection does not end well", async (fault) => {
    await expect(send(dialect, stream, { fault }).then(textOf)).rejects.toThrow();
  });

  test("error_first: status 200, then an error", async () => {
    const reply = await send(dialect, stream, { fault: "error_first", error_message: "Out of luck." });
    expect(reply.status).toBe(200);
    expect(await textOf(reply)).toContain("Out of luck.");
  });

  test("a key of 'invalid' is refused", async () => {
    const path = stream ? (dialect.streamPath ?? dialect.path) : dialect.path;
    const reply = await fetch(simulator.url + path, {
      method: "POST",
      headers: { ...HEADERS, authorization: "Bearer invalid" },
      body: JSON.stringify(dialect.body("Hi", stream)),
    });
    expect([401, 403]).toContain(reply.status);
  });
});

describe.each(dialects)("a stream of $name", (dialect) => {
  const deltas = (text: string) => [...text.matchAll(dialect.delta)].map(([, delta]) => delta);

  test("tells as many pieces of text as tokens", async () => {
    expect(deltas(await textOf(await send(dialect, true, { tokens: 5 })))).toHaveLength(5);
  });

  test("error_mid: some events, then an error", async () => {
    const text = await textOf(
      await send(dialect, true, { fault: "error_mid", after: 7, error_message: "Bad luck." }),
    );
    expect(deltas(text).length).toBeGreaterThan(1);
    expect(text.indexOf("Bad luck.")).toBeGreaterThan(text.lastIndexOf(deltas(text).at(-1) ?? "?"));
  });

  test("close_mid: as many events as told and nothing wrong but that", async () => {
    const whole = await textOf(await send(dialect, true));
    const part = await textOf(await send(dialect, true, { fault: "close_mid", after: 8 }));
    expect(deltas(part).length).toBeGreaterThan(1);
    expect(whole.startsWith(part)).toBe(true);
    expect(part.length).toBeLessThan(whole.length);
  });
});

describe.each(dialects.filter(({ name }) => name !== "converse"))("events of $name", (dialect) => {
  /** A stream with line ends of one kind: some providers send CRLF unasked. */
  const stream = async (instruction: object) =>
    (await textOf(await send(dialect, true, instruction))).replaceAll("\r\n", "\n");
  const frames = (text: string) => text.split("\n\n").filter(Boolean);

  test("CRLF and comments change the framing and nothing else", async () => {
    expect(await textOf(await send(dialect, true, { crlf: true }))).not.toMatch(/[^\r]\n/);
    const bent = await stream({ crlf: true, comments: true });
    expect(bent).toContain(": simulated comment\n");
    expect(bent.replaceAll(": simulated comment\n\n", "")).toBe(await stream({}));
  });

  test("malformed: one event is broken JSON, the others as they would be", async () => {
    const plain = frames(await stream({}));
    const broken = frames(await stream({ fault: "malformed", after: 4 }));
    expect(broken.filter((frame, i) => frame !== plain[i])).toEqual([broken[4]]);
    expect(() => JSON.parse((broken[4] as string).replace(/^(event: .*\n)?data: /, ""))).toThrow();
  });

  test("no_final_newline: the last event is not completed", async () => {
    expect(await stream({ fault: "no_final_newline" })).toBe((await stream({})).trimEnd());
  });

  test("usage split: the same text, its end in a late write of its own", async () => {
    const [plain, split] = [await stream({}), await stream({ usage: "split" })];
    const texts = (text: string) => [...text.matchAll(dialect.delta)].map(([, delta]) => delta);
    expect(texts(split)).toEqual(texts(plain));
  });
});
