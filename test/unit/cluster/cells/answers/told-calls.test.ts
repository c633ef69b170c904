/** Calls of which a cell tells the others: together where they begin together, bounded for each org, and taken back once. */
import { expect, test } from "vitest";
import { nextTurn } from "../../../../../src/base/clock.ts";
import { ToldCalls } from "../../../../../src/cluster/cells/answers/told-calls.ts";
import type { Operation } from "../../../../../src/cluster/cells/exchange/exchange.ts";
import { LIMIT_MS, until } from "../../../../support/wait.ts";

const term = () => "the term";
const call = (id: string, orgId = "o") => ({ id, orgId });

/** What was sent, exchange by exchange, and a part whose first exchange is over. */
async function told(mostOfOrg?: number, started = true) {
  const sent: Operation[][] = [];
  const lane = {
    async send(operations: readonly Operation[]) {
      sent.push([...operations]);
      return operations.map(() => []);
    },
  };
  const calls = new ToldCalls({ lane, term, ...(mostOfOrg !== undefined && { mostOfOrg }) });
  if (started) calls.start();
  await calls.idle();
  return { calls, sent };
}

const idsOf = (operations: readonly Operation[]): string[] =>
  operations.flatMap(([name, fields]) =>
    name === "calls" ? (fields as string[]).filter((_, at) => at % 2 === 0) : [],
  );

test("a term that begins while calls are on their way is told all of them behind what it forgets", async () => {
  const answers: (() => void)[] = [];
  const sent: Operation[][] = [];
  const lane = {
    async send(operations: readonly Operation[]) {
      sent.push([...operations]);
      await new Promise<void>((resolve) => answers.push(resolve));
      return [];
    },
  };
  const calls = new ToldCalls({ lane, term });
  calls.start();
  calls.tell(call("a"));
  await until("they are on their way", () => answers.length === 1);
  calls.restate();
  answers[0]?.();
  await until("the term is told", () => answers.length === 2);
  answers[1]?.();
  await calls.idle();
  expect(sent.map((operations) => [operations[0]?.[0], idsOf(operations)])).toEqual([
    ["calls_former", ["a"]],
    ["calls_former", ["a"]],
  ]);
});

test("a start says that former lives are over, once, and calls of one turn go together", async () => {
  const { calls, sent } = await told();
  for (const id of ["a", "b"]) calls.tell(call(id));
  await calls.idle();
  expect(sent).toEqual([
    [["calls_former"], ["calls", [], []]],
    [["calls", ["a", '{"id":"a","orgId":"o"}', "b", '{"id":"b","orgId":"o"}'], []]],
  ]);
});

test("what is over is taken back once, and nothing of what was not told of", async () => {
  const { calls, sent } = await told();
  calls.tell(call("a"));
  await calls.idle();
  for (const id of ["a", "a", "strange"]) calls.takeBack(call(id));
  await calls.idle();
  expect(sent.slice(2)).toEqual([[["calls", [], ["a"]]]]);
  calls.restate();
  await calls.idle();
  // A new term may have it again, so all that it has goes.
  expect(sent.slice(3)).toEqual([[["calls_former"], ["calls", [], []]]]);
});

test("an org's oldest give way to its newer ones, and to no other org's", async () => {
  const { calls, sent } = await told(2);
  calls.tell(call("other", "p"));
  for (const id of ["a", "b", "c"]) {
    calls.tell(call(id));
    await calls.idle();
  }
  expect(sent.flat().flatMap(([name, , over]) => (name === "calls" ? (over as string[]) : []))).toEqual([
    "a",
  ]);
  sent.length = 0;
  calls.restate();
  await calls.idle();
  expect(idsOf(sent.flat())).toEqual(["other", "b", "c"]);
});

test("a thousand calls are restated in parts, each of which is sent behind the one before", async () => {
  const { calls, sent } = await told();
  for (let at = 0; at < 1000; at++) calls.tell(call(String(at)));
  await calls.idle();
  sent.length = 0;
  calls.restate();
  await calls.idle();
  expect(sent.map((operations) => idsOf(operations).length)).toEqual([500, 500]);
});

test("a cell that stops says whether it told of all its calls", async () => {
  const last = async (mostOfOrg: number, started = true) => {
    const { calls, sent } = await told(mostOfOrg, started);
    for (const id of ["a", "b"]) calls.tell(call(id));
    await calls.stop(LIMIT_MS);
    return sent.at(-1);
  };
  expect(await last(2)).toEqual([["calls_left", "the term"]]);
  expect(await last(1)).toEqual([["calls_left", ""]]);
  expect(await last(2, false)).toEqual([["calls_left", ""]]);
});

test.for([
  ["that waits for it", LIMIT_MS],
  ["that does not wait for it any more", 0],
] as const)(
  "a term that begins while a cell stops %s is told that it does so behind all of its calls",
  async ([, withinMs]) => {
    const sent: string[][] = [];
    const isBack = Promise.withResolvers<void>();
    let isFirst = true;
    const lane = {
      async send(operations: readonly Operation[]) {
        const names = operations.map(([name]) => name);
        sent.push(names);
        if (isFirst && names[0] === "calls_left") {
          isFirst = false;
          await isBack.promise;
          // The lane sends it again in the new term, which may lack the calls.
          calls.restate();
        }
        return operations.map(() => []);
      },
    };
    const calls = new ToldCalls({ lane, term });
    calls.start();
    calls.tell(call("a"));
    await calls.idle();
    const stopped = calls.stop(withinMs);
    if (withinMs === 0) await stopped;
    isBack.resolve();
    await stopped;
    // All that is to be said is said in some turns of the event loop.
    for (let turn = 0; turn < 100; turn++) await nextTurn();
    expect(sent).toEqual([
      ["calls_former", "calls"],
      ["calls_left"],
      ["calls_former", "calls"],
      ["calls_left"],
    ]);
    // What ends from now on ends with the process.
    calls.restate();
    await calls.idle();
    expect(sent).toHaveLength(4);
  },
);

test("nothing is sent before the start", async () => {
  const { calls, sent } = await told(2, false);
  calls.tell(call("a"));
  await calls.idle();
  expect(sent).toEqual([]);
  calls.start();
  await calls.idle();
  expect(sent.map(idsOf)).toEqual([["a"]]);
});

test("a term that is told all before the cell hears that its stop was noted is told of the stop once more", async () => {
  const answers: (() => void)[] = [];
  const sent: Operation[][] = [];
  const lane = {
    async send(operations: readonly Operation[]) {
      sent.push([...operations]);
      await new Promise<void>((resolve) => answers.push(resolve));
      return [];
    },
  };
  const calls = new ToldCalls({ lane, term });
  calls.tell(call("a"));
  calls.start();
  const stopped = calls.stop(LIMIT_MS);
  const answered = async (count: number) => {
    await until("it is sent", () => answers.length === count);
    answers[count - 1]?.();
  };
  await answered(1);
  await until("it says that it stops", () => answers.length === 2);
  calls.restate();
  await answered(3);
  answers[1]?.();
  await answered(4);
  await stopped;
  expect(sent.map(([first]) => first?.[0])).toEqual([
    "calls_former",
    "calls_left",
    "calls_former",
    "calls_left",
  ]);
});
