/**
 * Writes the page of the refusals that the gateway knows, from its table. `node scripts/refusals-table.ts`;
 * test/unit/docs/refusals-doc.test.ts holds the page against it.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Meaning } from "../src/inference/upstream/refusals/refusal.ts";
import type { Row } from "../src/inference/upstream/refusals/row.ts";
import { TABLE } from "../src/inference/upstream/refusals/table.ts";

export const REFUSALS_FILE = join(import.meta.dirname, "../docs/refusals.md");

const MEANINGS: Readonly<Record<Meaning, string>> = {
  firewall:
    "A firewall before the provider refused the call: a page in place of an error, or Cloudflare's own answer. It rests no key; another endpoint is asked.",
  tier: "The request is too large for the account's tier. Another endpoint is asked; waiting does not help.",
  quota: "The account's funds or quota are used up: as a refused credential.",
  output_limit: "`max_tokens` is more than the model gives.",
  context_overflow: "The prompt, or prompt and answer together, do not fit the model's context.",
  content_policy: "What was sent, or would be answered, is against the provider's policy.",
  unknown_model:
    "The provider does not know the model, or the account may not use it. Another endpoint is asked.",
  unsupported_parameter: "The model, or its server, does not take a parameter of the request.",
  invalid_value: "A value of the request's is out of its range, or too long.",
  region: "The provider does not serve the place that the gateway calls from. Another endpoint is asked.",
  credential: "The provider refused the gateway's credential. Another endpoint is asked.",
  overloaded: "The provider is saturated. Another endpoint is asked.",
  rate_limit: "Too many calls or tokens for now. Another endpoint is asked.",
};

/** The whole page. */
export function refusalsText(): string {
  const meanings = (Object.keys(MEANINGS) as Meaning[]).map(sectionOf);
  return `${[HEAD, ...meanings].join("\n\n")}\n`;
}

const HEAD = `# Refusals

Written by \`node scripts/refusals-table.ts\` from \`src/inference/upstream/refusals\`. Each row is a refusal of a provider's by which the gateway knows what was
refused, whatever provider sends it: proxies and routers quote others. A row matches by statuses, by the provider's code or type, by the words of its message, or
by all that it names; the first that matches counts, in the order of this page, those by a code first. \`test/fixtures/refusals\` has an answer of its provider's for each. What the
client is told is in [errors.md](errors.md#what-of-a-providers-reason-is-passed-on); a source is a page, or a public report as \`owner/repository#number\` at GitHub;
"not opened" marks a row whose words come from memory. How to find refusals that no row knows, and to add one: [adding.md](adding.md#a-refusal-that-a-provider-sends).`;

function sectionOf(meaning: Meaning): string {
  const rows = TABLE.filter((row) => row.meaning === meaning).map(lineOf);
  const table = ["| row | status | by | source |", "| --- | --- | --- | --- |", ...rows].join("\n");
  return `## ${meaning}\n\n${MEANINGS[meaning]}\n\n${table}`;
}

function lineOf({ id, statuses, codes, words, when, source, unread }: Row): string {
  const by = [
    ...(codes === undefined ? [] : [codes.map((code) => `\`${code}\``).join(", ")]),
    ...(words === undefined ? [] : ["words"]),
    ...(when === undefined ? [] : ["numbers"]),
  ];
  return `| \`${id}\` | ${statuses?.join(", ") ?? "any"} | ${by.join(" and ") || "status"} | ${source}${unread ? " (not opened)" : ""} |`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(REFUSALS_FILE, refusalsText());
