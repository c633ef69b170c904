/**
 * A prompt that is too long, for agents in front of a model of each dialect: each learns it by the words or the event that it looks for,
 * and shortens the conversation by itself. What they do is their own: Claude Code compacts at once, Codex before its next turn.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { claudeAt, missingClaude } from "../../support/agents/claude.ts";
import { codexAt, missingCodex } from "../../support/agents/codex.ts";
import type { ChatUpstreamName } from "../../support/conformance/ends.ts";
import { answerOf } from "../../support/field/answers.ts";
import { type Field, startField } from "../../support/field/field.ts";
import { refusalOf } from "../../support/field/overflows.ts";
import type { Scripted } from "../../support/field/upstream.ts";

const DIALECTS: readonly ChatUpstreamName[] = ["chat", "responses", "messages", "gemini", "converse"];
const CODEX = "gpt-5.5";

let field: Field;
beforeAll(async () => {
  field = await startField({ further: DIALECTS.map((dialect) => [`${CODEX}-${dialect}`, dialect] as const) });
});
afterAll(() => field?.stop());

const saying = (dialect: ChatUpstreamName, text: string): Scripted => answerOf(dialect, { text }, true);

describe("Codex", () => {
  const missing = missingCodex();

  test.for(DIALECTS)("compacts before its next turn, and goes on: %s", async (dialect, { skip }) => {
    if (missing !== undefined) return skip(missing);
    const { gateway, up } = field;
    const codex = codexAt(gateway.url, gateway.liveKey, `test/${CODEX}-${dialect}`);
    try {
      up.script(saying(dialect, "One is noted."));
      expect(await codex.exec("Remember one.")).toContain("One is noted.");

      up.script(refusalOf(dialect));
      await expect(codex.resume("Remember two.")).rejects.toThrow(
        "ran out of room in the model's context window",
      );
      // It knows that asking again would not help.
      expect(up.arrived).toHaveLength(1);

      up.script(saying(dialect, "The summary."), saying(dialect, "Three is noted."));
      expect(await codex.resume("Remember three.")).toContain("Three is noted.");
      expect(up.arrived[0]?.raw).toContain("CONTEXT CHECKPOINT COMPACTION");
      expect(up.last.raw).toContain("The summary.");
    } finally {
      codex.remove();
    }
  });
});

describe("Claude Code", () => {
  const missing = missingClaude();

  test.for(DIALECTS)("compacts, and answers: %s", async (dialect, { skip }) => {
    if (missing !== undefined) return skip(missing);
    const { gateway, up } = field;
    const claude = claudeAt(gateway.url, gateway.liveKey, `test/${dialect}`);
    try {
      up.script(saying(dialect, "One is noted."));
      expect(await claude.ask("Remember one.")).toContain("One is noted.");
      up.script(saying(dialect, "Two is noted."));
      expect(await claude.resume("Remember two.")).toContain("Two is noted.");

      const summary = "<summary>One and two were noted.</summary>";
      up.script(refusalOf(dialect), saying(dialect, summary), saying(dialect, "Three is noted."));
      expect(await claude.resume("Remember three.")).toContain("Three is noted.");
      expect(up.arrived).toHaveLength(3);
      expect(up.last.raw).toContain("One and two were noted.");
      expect(up.last.raw).not.toContain("One is noted.");
    } finally {
      claude.remove();
    }
  });

  test("asks for a shorter answer, where the prompt fits without it", async ({ skip }) => {
    if (missing !== undefined) return skip(missing);
    const { gateway, up } = field;
    const claude = claudeAt(gateway.url, gateway.liveKey, "test/messages");
    try {
      const error = {
        type: "invalid_request_error",
        message:
          "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000, decrease input length or `max_tokens` and try again",
      };
      up.script({ status: 400, body: JSON.stringify({ type: "error", error }) }, saying("messages", "Done."));
      expect(await claude.ask("Do it.")).toContain("Done.");
      expect(up.arrived.map(({ json }) => json.max_tokens)).toEqual([expect.any(Number), 19_000]);
    } finally {
      claude.remove();
    }
  });
});
