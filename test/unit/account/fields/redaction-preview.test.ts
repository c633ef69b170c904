/** `POST /v1/policy/redact/preview`: which rules are tried, and what is said of patterns that cannot be. */
import { expect, test } from "vitest";
import { redactionOperations } from "../../../../src/account/projects/redaction-operations.ts";
import { previewRedaction } from "../../../../src/workers/redact-preview.ts";

const redact = { presets: ["email"], patterns: ["EMP-[0-9]{6}"] };
const accounts = { org: () => ({ dataPolicy: { redact } }) };
const { previewRedaction: operation } = redactionOperations({
  accounts: accounts as never,
  previewRedaction: async (redaction, sample) => previewRedaction(redaction, sample),
});

const bodyField = operation.body as NonNullable<typeof operation.body>;

const preview = async (body: object) => {
  const read = bodyField.parse(body);
  return await operation.run(
    { params: undefined, query: undefined, body: read },
    { orgId: "o" } as never,
    {} as never,
  );
};
const SAMPLE = "EMP-123456, a@b.io, 4111 1111 1111 1111";

test("tries the rules of the org, or those of the request in the place of either", async () => {
  expect(await preview({ sample: SAMPLE })).toMatchObject({
    output: "[REDACTED:pattern], [REDACTED:email], 4111 1111 1111 1111",
    redactions: 2,
    parts: [{ rule: "pattern", pattern: 0, found: "EMP-123456" }, {}, { rule: "email", found: "a@b.io" }, {}],
  });
  expect(await preview({ sample: SAMPLE, patterns: [] })).toMatchObject({ redactions: 1 });
  expect(await preview({ sample: SAMPLE, presets: ["card"] })).toMatchObject({
    output: "[REDACTED:pattern], a@b.io, [REDACTED:card]",
  });
});

test("names the pattern that is none, and says so of patterns that take too long", async () => {
  const { error } = bodyField.safeParse({ sample: "x", patterns: ["a", "("] });
  expect(error?.issues.map(({ path }) => path)).toEqual([["patterns", 1]]);
  await expect(preview({ sample: "a".repeat(32_000), patterns: ["a.*b|a"] })).rejects.toMatchObject({
    kind: "invalid_value",
    param: "/patterns",
  });
});
