/** An operation is waited for, but not for ever. */
import { expect, test } from "vitest";
import { z } from "zod";
import { operation } from "../../../src/base/operation/operation.ts";
import { perform } from "../../../src/edge/perform.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";
import { ORIGIN } from "../../support/trail.fixtures.ts";

const caller = {
  requestId: "",
  orgId: "",
  projectId: "",
  actor: { kind: "nobody", id: "" } as const,
  origin: ORIGIN,
  environment: "live" as const,
  scopes: new Set<string>(),
};
const input = { params: {}, query: "", body: Buffer.alloc(0) };
const named = (run: () => Promise<{ done: boolean }>) => ({
  name: "makeThing",
  ...operation({
    summary: "",
    method: "POST",
    path: "/things",
    access: "public",
    group: "Operation",
    output: z.object({ done: z.boolean() }),
    run,
  }),
});

test("O31: an act that does not end is named, and its client is told that it may still happen", async () => {
  const never = perform(
    named(() => new Promise(() => {})),
    input,
    caller,
    NO_HEAD,
    20,
  );
  await expect(never).rejects.toMatchObject({
    status: 503,
    code: "storage_unavailable",
    retryable: false,
    message: expect.stringMatching(
      /^makeThing was not finished within 0\.02 s: .* It may still come into force/,
    ),
  });
});

test("O31: what fails behind its time ends nothing else", async () => {
  const { promise, reject } = Promise.withResolvers<{ done: boolean }>();
  const late = perform(
    named(() => promise),
    input,
    caller,
    NO_HEAD,
    5,
  );
  await expect(late).rejects.toMatchObject({ code: "storage_unavailable" });
  reject(new Error("too late"));
  await new Promise((resolve) => setImmediate(resolve));
  const { body } = await perform(
    named(async () => ({ done: true })),
    input,
    caller,
    NO_HEAD,
    1000,
  );
  expect(body).toBe('{"done":true}');
});
