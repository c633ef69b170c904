/** A body that may be a stream although a whole answer was asked for: it is looked at once, however it begins. */
import { expect, test } from "vitest";
import { nextTurn } from "../../../../src/base/clock.ts";
import { otherWhole, WholeForm } from "../../../../src/inference/exchange/forms/whole-form.ts";
import type { Passage } from "../../../../src/wire/format.ts";
import { FORMATS } from "../../../../src/wire/formats.ts";
import { wayTo } from "../../../support/fuzz/rules.ts";
import { leastProcessorMs } from "../../../support/processor-time.fixtures.ts";
import { endpoint } from "../../../support/routing/fixtures.ts";

const passage = wayTo(FORMATS.chat, endpoint("e", { dialects: ["chat"] })) as Passage;

test("blank lines behind a byte order mark take time in proportion to their number", () => {
  const blank = Buffer.alloc(64 * 1024, " ");
  const cpuMs = leastProcessorMs(() => {
    const form = new WholeForm("chat", passage, 1_000_000);
    form.push(Buffer.from("\ufeff"));
    // 32 MB: looked at from the beginning each time, they took a minute.
    for (let i = 0; i < 512; i++) form.push(blank);
    form.push(Buffer.from("data: {}\n\n"));
    expect(form.folding).toBeDefined();
  });
  expect(cpuMs).toBeLessThan(2000);
});

test("values beyond the number of any answer's chunks are no stream", async () => {
  const folded = async (count: number) =>
    (await otherWhole(Buffer.from("{}".repeat(count)), passage, 1_000_000)).folding !== undefined;
  expect([await folded(1000), await folded(200_000)]).toEqual([true, false]);
});

test("a body of megabytes leaves turns to others, and is read as one", async () => {
  const text = "x".repeat(500);
  const chunk = (finish: string | null) =>
    JSON.stringify({ choices: [{ index: 0, delta: { content: text }, finish_reason: finish }] });
  const body = Buffer.from([...Array.from({ length: 3000 }, () => chunk(null)), chunk("stop")].join("\n"));
  let turns = 0;
  let isOver = false;
  const count = async () => {
    for (; !isOver; turns++) await nextTurn();
  };
  const counted = count();
  const { folding } = await otherWhole(body, passage, 1_000_000);
  isOver = true;
  await counted;
  expect(turns).toBeGreaterThan(body.length / 200_000);
  folding?.end();
  expect(JSON.parse(String(folding?.whole())).choices[0].message.content).toBe(text.repeat(3001));
});

test("a whole answer is larger than an event may be, whatever follows it", async () => {
  const answer = JSON.stringify({ choices: [{ message: { content: "x".repeat(300_000) } }] });
  const { value } = await otherWhole(Buffer.from(`${answer}\n\ndata: [DONE]\n\n`), passage, 1000);
  expect(String(value)).toBe(answer);
});
