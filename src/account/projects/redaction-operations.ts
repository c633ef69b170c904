/** `POST /v1/policy/redact/preview`: what redaction would do to a text. Nothing of it is stored. */
import { z } from "zod";
import { fail } from "../../base/errors.ts";
import { operation } from "../../base/operation/operation.ts";
import { PRESET_NAMES, type PresetName } from "../../workers/redaction.ts";
import { redactionPatternsField } from "../fields/redaction-patterns.ts";
import type { AccountTables } from "../tables.ts";

/** The rules that are tried. */
interface Rules {
  readonly presets: readonly string[];
  readonly patterns: readonly string[];
}

/** What a preview shows. */
interface Previewed {
  readonly output: string;
  readonly redactions: number;
  readonly parts: readonly {
    readonly text: string;
    readonly rule?: PresetName | "pattern";
    readonly pattern?: number;
    readonly found?: string;
  }[];
}

export interface RedactionOperationDeps {
  readonly accounts: AccountTables;
  /**
   * Port: runs in a worker, because a hostile text takes longer than the event loop may wait. Undefined: the patterns take too long on
   * this sample.
   */
  readonly previewRedaction: (rules: Rules, sample: string) => Promise<Previewed | undefined>;
}

const preset = z.enum(PRESET_NAMES);

const partShape = z.object({
  text: z.string().describe("As it is kept: what stays of the sample, or the mark of a span."),
  rule: z
    .enum([...PRESET_NAMES, "pattern"])
    .optional()
    .describe("What found the span. Absent where the text stays"),
  pattern: z.int().optional().describe("Which of the patterns found it, from 0. Absent for presets"),
  found: z.string().optional().describe("What the mark replaces, unescaped where the sample is JSON"),
});

export const redactionOperations = ({ accounts, previewRedaction }: RedactionOperationDeps) => ({
  previewRedaction: operation({
    summary: "What redaction would do to a text; nothing is stored",
    method: "POST",
    path: "/v1/policy/redact/preview",
    access: "read:org / viewer",
    group: "Organisations",
    body: z.strictObject({
      presets: z
        .array(preset)
        .max(PRESET_NAMES.length)
        .optional()
        .describe("Default: those of the org's data policy"),
      patterns: redactionPatternsField
        .optional()
        .describe("RE2 expressions, 20 at most. Default: those of the org's data policy"),
      sample: z
        .string()
        .max(32_768)
        .meta({ examples: ["Write to jane@example.com or +1 415 555 2671."] })
        .describe("A text to try the rules on; at most 32 KB."),
    }),
    output: z.object({
      input: z.string().describe("The sample, as it was sent."),
      output: z
        .string()
        .describe("Each span that was found is `[REDACTED:<preset>]`, or `[REDACTED:pattern]`"),
      redactions: z.int().describe("How many spans were replaced."),
      parts: z
        .array(partShape)
        .describe(
          "The output in pieces: what stays, and each span with what found it. What is found beyond 500 spans is in the last",
        ),
      presets: z.array(preset).describe("All that there are"),
    }),
    async run({ body: { presets, patterns, sample } }, { orgId }) {
      const own = accounts.org(orgId)?.dataPolicy.redact;
      const redaction = {
        presets: presets ?? own?.presets ?? [],
        patterns: patterns ?? own?.patterns ?? [],
      };
      const shown = await previewRedaction(redaction, sample);
      if (shown === undefined) {
        const message = "The patterns take too long on this text: nothing of such a call would be kept.";
        throw fail("invalid_value", message, { param: "/patterns" });
      }
      return {
        input: sample,
        output: shown.output,
        redactions: shown.redactions,
        parts: shown.parts.map((part) => ({ ...part })),
        presets: [...PRESET_NAMES],
      };
    },
  }),
});
