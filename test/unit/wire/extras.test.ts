/** The table of what changes a provider's bill, by itself: its names, its documentation, and bodies of every dialect. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { extrasTable } from "../../../scripts/extras-table.ts";
import type { UnitPrices } from "../../../src/base/money.ts";
import { SERVER_TOOL_NAMES, SINGLE_TIERS, tierNameFault } from "../../../src/catalog/models/extra-names.ts";
import type { MemberRow } from "../../../src/wire/extras/rows.ts";
import { sift } from "../../../src/wire/extras/sift.ts";
import { DIALECT_ROWS } from "../../../src/wire/extras/tables.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { passageTo } from "../../../src/wire/passages.ts";
import { endpoint } from "../../support/routing/fixtures.ts";

/** Names under which a row asks for a price. */
function namesOf(row: MemberRow): string[] {
  if (row.is === "tier") return Object.values(row.words).filter((name) => name !== "");
  if (row.is === "tool") return [row.name];
  return row.is === "object" || row.is === "typed" ? Object.values(row.rows).flatMap(namesOf) : [];
}

test("S3: every name of the table is one that the catalog takes a price for, and every row has a source", () => {
  for (const { members, tools } of Object.values(DIALECT_ROWS)) {
    for (const { row, source } of members) {
      for (const name of namesOf(row)) expect([...SERVER_TOOL_NAMES, ...SINGLE_TIERS]).toContain(name);
      expect(source).toMatch(/^https:\/\//);
    }
    for (const { row, source } of tools) {
      if (row.is === "tool" || row.is === "environment") expect(SERVER_TOOL_NAMES).toContain(row.name);
      expect(source).toMatch(/^https:\/\//);
    }
  }
});

test("S3: the documentation shows the table as it is", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../docs/money.md"), "utf8");
  expect(text.includes(extrasTable()), "run node scripts/extras-table.ts").toBe(true);
});

test("S3: tiers that come together have one name", () => {
  expect(["priority", "fast+us", "priority+us"].map(tierNameFault)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(tierNameFault("us+fast")).toContain("order");
  expect(tierNameFault("turbo")).toContain("no tier");
});

const PRICES: UnitPrices = { version: "v", input: 1, output: 1 };
const asksOf = (name: "chat" | "responses" | "messages", body: object) =>
  FORMATS[name].read(Buffer.from(JSON.stringify({ model: "v/m", ...body }))).extras.asks;

describe("a body", () => {
  test.each<["chat" | "responses" | "messages", object]>([
    [
      "chat",
      {
        tools: [{ type: "function", function: { name: "f" } }, { name: "bare" }],
        functions: [{ name: "g" }],
      },
    ],
    [
      "responses",
      {
        input: [{ type: "mcp_list_tools", tools: [{ name: "t" }] }],
        tools: [
          {
            type: "namespace",
            tools: [
              { type: "function", name: "f" },
              { type: "custom", name: "c" },
            ],
          },
          ...["local_shell", "apply_patch", "tool_search", "computer_use_preview"].map((type) => ({ type })),
          { type: "shell", environment: { type: "local" } },
        ],
      },
    ],
    [
      "messages",
      {
        max_tokens: 1,
        tools: [
          { name: "f", input_schema: {} },
          ...["bash_20250124", "text_editor_20250728", "computer_20251124", "memory_20250818"].map(
            (type) => ({ type }),
          ),
          { type: "tool_search_tool_regex_20251119" },
        ],
        context_management: {
          edits: [{ type: "clear_tool_uses_20250919" }, { type: "clear_thinking_20251015" }],
        },
      },
    ],
  ])("S3: %s: what the client runs costs nothing", (name, body) => {
    const turns = name === "responses" ? { input: "x" } : { messages: [{ role: "user", content: "x" }] };
    expect(asksOf(name, { ...turns, ...body })).toEqual([]);
  });

  test.each<["responses" | "messages", object, string]>([
    [
      "responses",
      { input: [{ type: "additional_tools", tools: [{ type: "web_search" }] }] },
      "/input/0/tools/0",
    ],
    [
      "responses",
      { input: [{ type: "tool_search_output", tools: [{ type: "function", name: "f" }, { type: "mcp" }] }] },
      "/input/0/tools/1",
    ],
    [
      "messages",
      { context_management: { edits: [{ type: "clear_thinking_20251015" }, { type: "shrink_20270101" }] } },
      "/context_management/edits/1",
    ],
    ["messages", { anthropic_beta: ["pdfs-2024-09-25", "context-1m-2025-08-07"] }, "/anthropic_beta/1"],
  ])("S3: %s: what is hidden deeper is found and taken out: %j", (name, members, pointer) => {
    const turns = name === "responses" ? {} : { max_tokens: 1, messages: [{ role: "user", content: "x" }] };
    const format = FORMATS[name];
    const to = endpoint("e", { dialects: [name] });
    const request = format.read(Buffer.from(JSON.stringify({ model: "v/m", ...turns, ...members })));
    const out = passageTo(format, to)?.passage.write(request, to);
    expect(out?.dropped).toEqual([pointer]);
    const again = format.read(Buffer.concat(out?.parts ?? []));
    expect(sift(again.extras.asks, PRICES, "platform").dropped).toEqual([]);
    expect(passageTo(format, to)?.passage.write(request, to, "org").dropped).toEqual([]);
  });
});
