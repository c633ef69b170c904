/**
 * Codex as a client of the gateway, against a model of each dialect: it runs a command, applies a patch, and goes on in a second turn.
 * The model is scripted and calls whatever the gateway offered upstream; what becomes of its calls is Codex's own doing.
 */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Codex, codexAt, missingCodex } from "../../support/agents/codex.ts";
import { offeredTool, spokenCalls } from "../../support/agents/spoken.ts";
import type { Json } from "../../support/conformance/ask.ts";
import type { ChatUpstreamName } from "../../support/conformance/ends.ts";
import { answerOf, type Said } from "../../support/field/answers.ts";
import { type Field, startField } from "../../support/field/field.ts";
import type { Arrived } from "../../support/field/upstream.ts";

const MISSING = missingCodex();
const DIALECTS: readonly ChatUpstreamName[] = ["chat", "responses", "messages", "gemini", "converse"];
const COMMAND = "echo hello > made.txt && cat made.txt";
const PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n";

/** A generation of Codex's tools, and how a model uses them to run the command and to apply the patch. */
interface Generation {
  readonly model: string;
  readonly command: readonly [tool: string, input: string];
  readonly patch: readonly [tool: string, input: string];
}

const GENERATIONS: readonly Generation[] = [
  // Functions for commands, a free-form tool for patches, a search for further tools.
  {
    model: "gpt-5.5",
    command: ["exec_command", JSON.stringify({ cmd: COMMAND })],
    patch: ["apply_patch", PATCH],
  },
  // All tools in the namespaces of an `additional_tools` item; commands and patches are code for the free-form tool `exec`.
  {
    model: "gpt-6.1-sol",
    command: ["exec", `text((await tools.exec_command({ cmd: ${JSON.stringify(COMMAND)} })).output);`],
    patch: ["exec", `text(await tools.apply_patch(${JSON.stringify(PATCH)}));`],
  },
];

let field: Field;

beforeAll(async () => {
  if (MISSING !== undefined) return;
  field = await startField({
    further: GENERATIONS.flatMap(({ model }) =>
      DIALECTS.map((dialect) => [`${model}-${dialect}`, dialect] as const),
    ),
  });
});
afterAll(() => field?.stop());

/** The model calls the tool, by the name and in the kind that it was offered. */
const calling =
  (dialect: ChatUpstreamName, id: string, [tool, input]: Generation["command"]) =>
  ({ json }: Arrived) =>
    answerOf(dialect, { calls: [offeredTool(dialect, json, tool).call(id, input)] }, true);

const saying = (dialect: ChatUpstreamName, said: Said) => answerOf(dialect, said, true);

describe.each(GENERATIONS)("tools of $model", (generation) => {
  test.for(DIALECTS)("a command, a patch and a second turn: %s", async (dialect, { skip }) => {
    if (MISSING !== undefined) return skip(MISSING);
    const { gateway, up } = field;
    const codex: Codex = codexAt(gateway.url, gateway.liveKey, `test/${generation.model}-${dialect}`);
    try {
      writeFileSync(join(codex.work, "a.txt"), "one\n");
      up.script(
        calling(dialect, "call_command", generation.command),
        calling(dialect, "call_patch", generation.patch),
        saying(dialect, { text: "All is done." }),
      );
      const printed = await codex.exec("Make made.txt and change a.txt.");
      expect(printed).toContain("All is done.");
      expect(readFileSync(join(codex.work, "made.txt"), "utf8"), printed).toBe("hello\n");
      expect(readFileSync(join(codex.work, "a.txt"), "utf8"), printed).toBe("two\n");

      up.script(saying(dialect, { text: "Two files." }));
      expect(await codex.resume("What was done?")).toContain("Two files.");
      const calls: Json[] = spokenCalls(dialect, up.last.json);
      expect(calls).toMatchObject([
        { input: expect.stringContaining("made.txt"), result: expect.stringContaining("hello") },
        { input: expect.stringContaining("Begin Patch"), result: expect.stringMatching(/Success|\{\}/) },
      ]);
      expect(up.last.raw).toContain("All is done.");
    } finally {
      codex.remove();
    }
  });
});

test("compresses its requests in zstd where a person is signed in", async ({ skip }) => {
  if (MISSING !== undefined) return skip(MISSING);
  const { gateway, up } = field;
  const encodings: unknown[] = [];
  const relay = createServer((asked, answer) => {
    if (asked.url === "/v1/responses") encodings.push(asked.headers["content-encoding"]);
    const { method = "", headers } = asked;
    const passed = request(gateway.url + asked.url, { method, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 500, given.headers);
      given.pipe(answer);
    });
    asked.pipe(passed);
  }).listen(0, "127.0.0.1");
  await once(relay, "listening");
  const url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
  const codex = codexAt(url, gateway.liveKey, "test/gpt-5.5-messages", true);
  try {
    up.script(saying("messages", { text: "All is read." }));
    expect(await codex.exec("Grüß Gott, 世界.")).toContain("All is read.");
    expect(encodings).toEqual(["zstd"]);
    expect(up.last.raw).toContain("Grüß Gott, 世界.");
  } finally {
    codex.remove();
    relay.closeAllConnections();
    relay.close();
  }
});
