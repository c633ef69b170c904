/** What is kept of an org's calls beside its quotas, as `GET /v1/limits` shows it. */
import { z } from "zod";
import type { KeptBytes, KeptOwner } from "./kept-bytes.ts";

/** Port: files of exports, whose quota is apart. */
export type ExportBytesPort = (orgId: string) => { readonly bytes: number; readonly maxBytes: number };

const bytes = z.int().min(0);
const quota = bytes.describe("The quota; 0 is unlimited");

const poolSchema = z.object({
  bytes: bytes.describe("What is kept, all kinds together"),
  max_bytes: quota,
  responses_bytes: bytes.describe(
    "Stored responses (`store`) and conversations, until they expire or are deleted",
  ),
  answers_bytes: bytes.describe("Answers to requests with an `Idempotency-Key`, for 25 hours"),
  payloads_bytes: bytes.describe(
    "Prompts and answers for the record, while `data_policy.retention_days` lasts",
  ),
});

export const keptSchema = z
  .object({
    live: poolSchema.describe("What is kept of calls with live keys"),
    test: poolSchema.describe("What is kept of calls with test keys"),
    exports: z
      .object({ bytes: bytes.describe("Size of the files that can be downloaded"), max_bytes: quota })
      .describe("Files of exports; the oldest end early where a new one needs their room"),
  })
  .describe(
    "What is kept of the org's calls. Without room, what must be kept is refused, and the rest is left out.",
  );

export function keptWire(
  kept: Pick<KeptBytes, "pool">,
  exportsOf: ExportBytesPort,
  orgId: string,
): z.input<typeof keptSchema> {
  const files = exportsOf(orgId);
  return {
    live: poolWire(kept, { orgId, environment: "live" }),
    test: poolWire(kept, { orgId, environment: "test" }),
    exports: { bytes: files.bytes, max_bytes: files.maxBytes },
  };
}

function poolWire(kept: Pick<KeptBytes, "pool">, owner: KeptOwner): z.input<typeof poolSchema> {
  const { bytes, maxBytes, figures } = kept.pool(owner);
  return {
    bytes,
    max_bytes: Number.isFinite(maxBytes) ? maxBytes : 0,
    responses_bytes: figures.responses,
    answers_bytes: figures.answers,
    payloads_bytes: figures.payloads,
  };
}
