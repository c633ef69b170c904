/** The module that the worker thread runs: each export is a task of that name. */
import { Piscina } from "piscina";
import { counted } from "../base/shared-memory.ts";
import type { Redaction } from "../record/record.ts";
import { type Finished, type FinishInput, finishBatch } from "./finish.ts";
import { slowPattern } from "./pattern-trial.ts";
import { redactor } from "./redact.ts";
import { previewRedaction, type RedactionPreview } from "./redact-preview.ts";
import { countTexts, type Encoding } from "./tokenise.ts";

/** Transfers the result's buffers to the caller instead of copying them. */
export function finish(input: FinishInput): Finished {
  const value = finishBatch(input);
  const buffers = [value.requests.bytes.buffer, value.payloads.bytes.buffer];
  const moved = { [Piscina.transferableSymbol]: buffers, [Piscina.valueSymbol]: value };
  return Piscina.move(moved as unknown as ArrayBuffer) as unknown as Finished;
}

export interface TokeniseInput {
  readonly texts: readonly (string | Uint8Array)[];
  readonly encoding: Encoding;
}

export function tokenise({ texts, encoding }: TokeniseInput): Promise<number[]> {
  for (const text of texts) if (typeof text !== "string") counted(text);
  return countTexts(texts, encoding);
}

export interface RedactInput {
  readonly redaction: Redaction;
  readonly parts: readonly Uint8Array[];
}

export function redact({ redaction, parts }: RedactInput): Uint8Array[] {
  const { bytes } = redactor(redaction);
  return parts.map((part) => bytes(part));
}

export interface PreviewInput {
  readonly redaction: Redaction;
  readonly sample: string;
}

export const preview = ({ redaction, sample }: PreviewInput): RedactionPreview | undefined =>
  previewRedaction(redaction, sample);

export { drawBadge } from "./badge.ts";

export const trial = (patterns: readonly string[]): number | undefined => slowPattern(patterns);
