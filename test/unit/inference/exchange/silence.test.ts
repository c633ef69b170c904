/** How long a silent upstream is waited for, by where its answer stands: 100 s where the model may be at work, 10 s in the middle of a text. */
import { expect, test } from "vitest";
import { giveData } from "../../../support/upstream/give-data.ts";
import { type Options, runAttempts } from "./controlled-upstreams.ts";

const WORK_MS = 100_000;
const STALL_MS = 10_000;

/** A call at one endpoint, which has said what it is told to say. */
async function after(said: readonly string[], options: Options = {}) {
  const run = runAttempts({ decision: { maxAttempts: 1 }, ...options });
  const [upstream] = run.upstreams;
  if (upstream === undefined) throw new Error("no upstream was asked");
  upstream.handler.onHead(200, {
    "content-type": options.stream === false ? "application/json" : "text/event-stream",
  });
  const say = async (text: string) => {
    giveData(upstream.handler, text);
    await new Promise((resolve) => setImmediate(resolve));
  };
  for (const text of said) await say(text);
  /** Whether the call is over at the look after so much silence. */
  const isOverAfter = (ms: number) => {
    run.time.pass(ms);
    run.tick();
    return run.outcomes.length > 0;
  };
  return { ...run, say, isOverAfter };
}

const chunk = (delta: object): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
const ROLE = chunk({ role: "assistant", content: "" });
const THOUGHT = chunk({ reasoning_content: "Hm." });
const TEXT = chunk({ content: "So" });
const COMMENT = ": OPENROUTER PROCESSING\n\n";

test.each([
  ["before the first byte", [], WORK_MS],
  ["behind a role", [ROLE], WORK_MS],
  ["behind a comment", [COMMENT], WORK_MS],
  ["after a thought", [ROLE, THOUGHT], WORK_MS],
  ["in a call", [ROLE, chunk({ tool_calls: [{ index: 0, id: "c", function: { name: "f" } }] })], WORK_MS],
  ["in a text", [ROLE, THOUGHT, TEXT], STALL_MS],
  ["in a whole answer that came for a stream", ['{"id":'], STALL_MS],
  ["in thought again", [ROLE, TEXT, THOUGHT], WORK_MS],
])("T12: silence %s", async (_, said, limitMs) => {
  const { isOverAfter } = await after(said);
  expect(isOverAfter(limitMs - 1)).toBe(false);
  expect(isOverAfter(1)).toBe(true);
});

test.each([
  ["a comment behind a role", [ROLE], COMMENT, WORK_MS],
  ["a comment in a text", [ROLE, TEXT], COMMENT, STALL_MS],
  ["an empty delta", [ROLE], chunk({ content: "" }), WORK_MS],
])("%s is a sign of life: the silence begins anew", async (_, said, sign, limitMs) => {
  const { isOverAfter, say } = await after(said);
  for (let times = 0; times < 5; times++) {
    expect(isOverAfter(limitMs - 1)).toBe(false);
    await say(sign);
  }
  expect(isOverAfter(limitMs)).toBe(true);
});

test("an upstream that gives signs of life and never answers is ended with the call's time", async () => {
  const { isOverAfter, say, kinds } = await after([ROLE]);
  let ms = 0;
  for (; ms < 1e6 - STALL_MS; ms += STALL_MS) {
    await say(COMMENT);
    expect(isOverAfter(STALL_MS)).toBe(false);
  }
  expect(isOverAfter(STALL_MS)).toBe(true);
  expect(kinds()).toEqual(["failed"]);
});

test.each([
  ["white space", "\n", WORK_MS],
  ["a beginning", '{"id":', STALL_MS],
  ["the preamble of a stream instead", ROLE, WORK_MS],
  ["a comment of a stream instead", COMMENT, WORK_MS],
  ["a thought of a stream instead", ROLE + THOUGHT, WORK_MS],
  ["a text of a stream instead", ROLE + TEXT, STALL_MS],
])("T12: silence behind %s of a whole answer", async (_, said, limitMs) => {
  const { isOverAfter } = await after([said], { stream: false });
  expect(isOverAfter(limitMs - 1)).toBe(false);
  expect(isOverAfter(1)).toBe(true);
});

test.each([
  ["white space", "\n", 2],
  ["a comment of a stream", COMMENT, 2],
  ["the preamble of a stream", COMMENT + ROLE, 2],
  ["a thought of a stream", ROLE + THOUGHT, 1],
  ["the beginning of a whole answer", '{"id":', 1],
])("a policy's time for a whole answer goes on behind %s until content comes", async (_, said, asked) => {
  const { time, upstreams } = await after([said], {
    stream: false,
    decision: { maxAttempts: 2, timeoutMs: 4000 },
  });
  time.pass(3000);
  expect(upstreams).toHaveLength(asked);
});
