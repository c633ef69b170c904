/** A body that may be a stream although a whole answer was asked for: it is looked at once, however it begins. */
import { expect, test } from "vitest";
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

test("values beyond the number of any answer's chunks are no stream", () => {
  expect(otherWhole(Buffer.from("{}".repeat(1000)), passage, 1_000_000).folding).toBeDefined();
  expect(otherWhole(Buffer.from("{}".repeat(200_000)), passage, 1_000_000)).toEqual({});
});
