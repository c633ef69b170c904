/**
 * What a provider's words may hold and no client, record, log or metric may have (T61): through every format and dialect, in every member,
 * whole and streamed, before content and behind it.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerOf } from "../../support/field/answers.ts";
import { type Field, startField } from "../../support/field/field.ts";
import type { Scripted } from "../../support/field/upstream.ts";
import { recordOf, requestIdOf } from "../../support/observations.ts";
import { bytesOf, DIALECTS, FORMATS, requestOf, TEXT } from "./answer-forms.fixtures.ts";

let field: Field;
beforeAll(async () => {
  field = await startField();
});
afterAll(() => field.stop());

const LEAKS = [
  "sk-0123456789abcdefghij",
  "hunter2-word",
  "org-VDAWofJASuLH0vVz8o9tiQZr",
  "vllm-7f9c:8000",
  "/models/glm-4/x.json",
];
const [KEY, WORD, ORG, HOST, PATH] = LEAKS;
const SAID = `${KEY} password=${WORD} ${ORG} http://${HOST}/v1 ${PATH}`;

const inner = { code: `code ${SAID}`, type: `type ${SAID}`, message: `no: ${SAID}`, param: `param ${SAID}` };
const ERRORS: readonly (readonly [name: string, body: object])[] = [
  ["an error", { type: "error", error: inner }],
  ["a list", { detail: [{ loc: ["body", SAID], msg: SAID, type: SAID }] }],
  ["Google's", { error: { code: 400, status: SAID, message: SAID, details: [{ reason: SAID }] } }],
  ["a text", { error: SAID, code: SAID }],
];

/** Nothing is told of it to the client, nor kept, logged or counted. */
async function assertStruckOut(
  client: (typeof FORMATS)[number],
  dialect: (typeof DIALECTS)[number],
  scripted: Scripted,
  stream: boolean,
): Promise<void> {
  field.up.script(scripted);
  const got = await field.send(client, dialect, requestOf(client, dialect, stream), { stream });
  if (scripted.status === 400) expect(got.text).toContain("[credential]");
  const record = await recordOf(field.gateway, requestIdOf(got));
  for (const leak of LEAKS) expect(`${got.text}${JSON.stringify(record)}`, client).not.toContain(leak);
}

for (const dialect of DIALECTS) {
  describe(dialect, () => {
    test.each(ERRORS)("a refusal: %s", async (_, body) => {
      for (const client of FORMATS) {
        for (const status of [400, 422, 500]) {
          const headers = { "content-type": "application/json", "x-amzn-errortype": SAID };
          await assertStruckOut(
            client,
            dialect,
            { status, headers, body: JSON.stringify(body) },
            status === 400,
          );
        }
      }
    });

    if (dialect === "converse") return;
    test.each(ERRORS)("an event of a stream, at once and behind content: %s", async (_, body) => {
      const headers = { "content-type": "text/event-stream" };
      const error = `event: error\ndata: ${JSON.stringify(body)}\n\n`;
      const answer = bytesOf(answerOf(dialect, TEXT, true)).toString();
      const begun = answer.slice(0, answer.indexOf("\n\n", answer.length / 2) + 2);
      for (const client of FORMATS) {
        for (const before of ["", begun])
          await assertStruckOut(client, dialect, { headers, parts: [`${before}${error}`] }, true);
        await assertStruckOut(
          client,
          dialect,
          { headers: { "content-type": "application/json" }, body: JSON.stringify(body) },
          false,
        );
      }
    });
  });
}

test("no metric has it", async () => {
  const { text } = await field.gateway.call("GET", "/metrics");
  for (const leak of LEAKS) expect(text).not.toContain(leak);
});
