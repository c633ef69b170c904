/** `POST /v1/policy/redact/preview`: what redaction would do to a text. Nothing of it is stored. */
import { z } from "zod";
import { operation } from "../../base/operation/operation.ts";
import { PRESET_NAMES, type PresetName } from "../../workers/redaction.ts";
import type { AccountTables } from "../tables.ts";

export interface RedactionOperationDeps {
  readonly accounts: AccountTables;
  /** Port: runs in a worker, because a hostile text takes longer than the event loop may wait. */
  readonly previewRedaction: (
    presets: readonly string[],
    sample: string,
  ) => Promise<{ readonly output: string; readonly redactions: number }>;
}

const preset = z.enum(PRESET_NAMES);

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
      sample: z
        .string()
        .max(32_768)
        .meta({ examples: ["Write to jane@example.com or +1 415 555 2671."] })
        .describe("A text to try the rules on; at most 32 KB."),
    }),
    output: z.object({
      input: z.string().describe("The sample, as it was sent."),
      output: z.string().describe("Each span that was found is `[REDACTED:<preset>]`"),
      redactions: z.int().describe("How many spans were replaced."),
      presets: z.array(preset).describe("All that there are"),
    }),
    async run({ body: { presets, sample } }, { orgId }) {
      const own = accounts.org(orgId)?.dataPolicy.redact.presets ?? [];
      const { output, redactions } = await previewRedaction(presets ?? (own as PresetName[]), sample);
      return { input: sample, output, redactions, presets: [...PRESET_NAMES] };
    },
  }),
});
