/**
 * The table of what changes a provider's bill in docs/money.md, from the rows that bodies are read by (`src/wire/extras`).
 * `node scripts/extras-table.ts` writes it anew; test/unit/wire/extras.test.ts holds the document against it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Dialect } from "../src/base/endpoint.ts";
import { FREE_ANTHROPIC_BETAS, FREE_OPENAI_BETAS, TIER_BETAS } from "../src/wire/extras/anthropic-rows.ts";
import { type MemberRow, type ToolRow, USUAL_MEMORY } from "../src/wire/extras/rows.ts";
import { DIALECT_ROWS } from "../src/wire/extras/tables.ts";

const MONEY_DOC = join(import.meta.dirname, "../docs/money.md");
const [START, END] = ["<!-- extras -->", "<!-- /extras -->"] as const;

const SHOWN: readonly Dialect[] = [
  "chat",
  "responses",
  "messages",
  "gemini",
  "converse",
  "completions",
  "openai_embeddings",
];

/** Markdown. */
export function extrasTable(): string {
  const rows = SHOWN.flatMap((dialect) => {
    const { members, tools } = DIALECT_ROWS[dialect];
    return [
      ...members.map(({ of, row, source }) => line(dialect, `\`${of}\``, memberText(row), source)),
      ...tools.map(({ of, row, source }) => line(dialect, `tool \`${of}\``, toolText(row), source)),
    ];
  });
  const betas = "https://platform.claude.com/docs/en/api/beta-headers";
  const openai = "https://developers.openai.com/api/reference";
  return [
    "| dialect | member | what it may be | source |",
    "|---|---|---|---|",
    ...rows,
    line(
      "messages",
      "header `anthropic-beta`",
      `free: ${coded(FREE_ANTHROPIC_BETAS)}; with the tier's price: ${coded(Object.keys(TIER_BETAS))}`,
      betas,
    ),
    line("responses", "header `openai-beta`", `free: ${coded(FREE_OPENAI_BETAS)}`, openai),
  ].join("\n");
}

const line = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const coded = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(", ");

function memberText(row: MemberRow): string {
  switch (row.is) {
    case "tier": {
      const words = Object.entries(row.words);
      const free = words.filter(([, name]) => name === "").map(([word]) => word);
      const tiers = words.filter(([, name]) => name !== "");
      const named = tiers.map(([word, name]) =>
        word === name ? `\`${word}\`` : `\`${word}\` (as \`${name}\`)`,
      );
      return `standard: ${coded(free)}${named.length === 0 ? "" : `; tiers: ${named.join(", ")}`}`;
    }
    case "tool":
      return `priced as \`${row.name}\`${row.ids === undefined ? "" : `; other ids than ${coded(row.ids)} never sent`}`;
    case "tokens":
      return "passes; its tokens are charged as reported";
    case "unpriced":
      return "never sent on the platform's credential";
    case "tools":
      return "each tool by its row";
    case "betas":
      return "as in the header";
    case "words":
      return `free: ${coded(row.free)}`;
    case "items":
      return "tools within items, as in `tools`";
    case "body":
      return "its members as those of the body";
    case "object":
    case "typed":
      return Object.entries(row.rows)
        .map(([name, inner]) => `\`${name}\`: ${memberText(inner)}`)
        .join("; ");
    case "free":
      return "free";
  }
}

function toolText(row: ToolRow): string {
  switch (row.is) {
    case "free":
      return "free";
    case "tool":
      return `priced as \`${row.name}\`${row.machineAt === undefined ? "" : ` with \`memory_limit\` \`${USUAL_MEMORY}\` or none`}`;
    case "group":
      return "free if it holds only functions";
    case "environment":
      return `free if \`environment\` is local, else priced as \`${row.name}\``;
  }
}

/** The document with the table of now. @throws an Error where its place is not marked */
function withExtrasTable(text: string): string {
  const from = text.indexOf(START) + START.length;
  const to = text.indexOf(END);
  if (from < START.length || to < from) throw new Error(`docs/money.md has no ${START} … ${END}`);
  return `${text.slice(0, from)}\n\n${extrasTable()}\n\n${text.slice(to)}`;
}

if (import.meta.filename === process.argv[1])
  writeFileSync(MONEY_DOC, withExtrasTable(readFileSync(MONEY_DOC, "utf8")));
