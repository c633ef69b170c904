/**
 * Codex and Claude Code wait for a reasoning model of each dialect that says nothing behind its preamble, and get its answer. A thorough run
 * has silences of 90 s under the shipped limits (`WEIR_THOROUGH=1 npx vitest run --project process test/process/agents/silence.test.ts`),
 * all at once; others have some seconds, with limits as much shorter.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { claudeAt, missingClaude } from "../../support/agents/claude.ts";
import { codexAt, missingCodex } from "../../support/agents/codex.ts";
import type { ChatUpstreamName } from "../../support/conformance/ends.ts";
import { isThorough } from "../../support/effort.ts";
import { answerOf } from "../../support/field/answers.ts";
import { type Field, startField } from "../../support/field/field.ts";
import { AT_WORK, paused, TEXT } from "../../support/field/pauses.ts";
import type { Arrived, Scripted } from "../../support/field/upstream.ts";
import { rest } from "../../support/pace.ts";

const DIALECTS: readonly ChatUpstreamName[] = ["chat", "responses", "messages", "gemini", "converse"];
const SILENT_MS = isThorough ? 90_000 : 4000;
const SHORT = { timeouts: { stall_ms: 1000, keep_alive_ms: 500 } };
/** The model's name, and the provider's. */
const nameOf = (agent: string, dialect: ChatUpstreamName) => `${agent}-${dialect}`;

const AGENTS = [
  { agent: "gpt-5.5", name: "Codex", missing: missingCodex() },
  { agent: "claude-opus", name: "Claude Code", missing: missingClaude() },
] as const;

/** Providers' names whose silence is over: until then no answer was sent. */
const waited = new Set<string>();
let field: Field;

beforeAll(async () => {
  field = await startField({
    further: AGENTS.flatMap(({ agent }) =>
      DIALECTS.map((dialect) => [nameOf(agent, dialect), dialect] as const),
    ),
    ...(!isThorough && { settings: SHORT }),
  });
  // Agents ask for more than the answer, such as a title of the conversation.
  field.up.script(...Array.from({ length: 200 }, () => scriptOf));
});
afterAll(() => field?.stop());

function scriptOf({ url, json }: Arrived): Scripted {
  const [, name = ""] = url.split("/");
  const dialect = name.slice(name.lastIndexOf("-") + 1) as ChatUpstreamName;
  const isStream = json.stream === true || /stream/.test(url.slice(name.length + 1));
  const pause = AT_WORK.find((one) => one.dialect === dialect && one.hasBegun !== true);
  if (!isStream || pause === undefined) return answerOf(dialect, { text: TEXT }, isStream);
  return paused(pause, async () => {
    await rest(SILENT_MS);
    waited.add(name);
  });
}

describe.concurrent.each(AGENTS)("$name", ({ agent, missing }) => {
  test.concurrent.for(DIALECTS)(
    "gets the answer of a model that was silent: %s",
    async (dialect, { skip }) => {
      if (missing !== undefined) return skip(missing);
      const { gateway } = field;
      const model = `test/${nameOf(agent, dialect)}`;
      const codex = agent === "gpt-5.5" ? codexAt(gateway.url, gateway.liveKey, model) : undefined;
      const claude = codex === undefined ? claudeAt(gateway.url, gateway.liveKey, model) : undefined;
      try {
        const printed = await (codex?.exec("Think.") ?? claude?.ask("Think."));
        expect(printed).toContain(TEXT);
        expect(waited).toContain(nameOf(agent, dialect));
      } finally {
        codex?.remove();
        claude?.remove();
      }
    },
  );
});
