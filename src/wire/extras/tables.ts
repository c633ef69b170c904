/** The table of what changes a provider's bill, by dialect, prepared for look-ups. */
import type { Dialect } from "../../base/endpoint.ts";
import { MESSAGES_ROWS } from "./anthropic-rows.ts";
import { CHAT_ROWS, COMPLETIONS_ROWS, RESPONSES_ROWS } from "./openai-rows.ts";
import { CONVERSE_ROWS, GEMINI_ROWS, TASK_ROWS } from "./other-rows.ts";
import { type DialectRows, FREE, type MemberRow, type ToolRow } from "./rows.ts";

export const DIALECT_ROWS: Readonly<Record<Dialect, DialectRows>> = {
  chat: CHAT_ROWS,
  responses: RESPONSES_ROWS,
  messages: MESSAGES_ROWS,
  gemini: GEMINI_ROWS,
  converse: CONVERSE_ROWS,
  completions: COMPLETIONS_ROWS,
  openai_embeddings: TASK_ROWS,
  gemini_embeddings: TASK_ROWS,
  cohere: TASK_ROWS,
  jina: TASK_ROWS,
  voyage: TASK_ROWS,
};

export interface Table {
  readonly members: ReadonlyMap<string, MemberRow>;
  readonly tools: ReadonlyMap<string, ToolRow>;
  readonly rows: DialectRows;
  /**
   * By lax name: the dialect's own members, and what changes the bill in any other dialect. A member that is not listed as it is
   * spelled counts by these, because providers read names laxly, and those of several dialects at once.
   */
  readonly likely: ReadonlyMap<string, MemberRow>;
}

/** A name without case and separators, also as providers fold it that compare beyond ASCII (`ſ` is an `s`). */
export const laxName = (name: string): string => name.normalize("NFKC").replace(/[_-]/g, "").toLowerCase();

/** In the order in which they count where several dialects have a member. */
const OTHERS: readonly DialectRows[] = [CONVERSE_ROWS, GEMINI_ROWS, MESSAGES_ROWS, RESPONSES_ROWS, CHAT_ROWS];

function likelyRows(own: DialectRows): ReadonlyMap<string, MemberRow> {
  const likely = new Map<string, MemberRow>();
  for (const { members } of [...OTHERS, own]) for (const { of, row } of members) likely.set(laxName(of), row);
  for (const name of own.free) likely.set(laxName(name), FREE);
  return likely;
}

/** @param isLax names are compared without case and separators: some providers take a member in several spellings */
function tableOf(rows: DialectRows, isLax: boolean): Table {
  const nameOf = isLax ? laxName : (name: string) => name;
  const members = new Map<string, MemberRow>(rows.free.map((name) => [nameOf(name), FREE]));
  for (const { of, row } of rows.members) members.set(nameOf(of), row);
  // Tools of those dialects are named by members too.
  const toolName = rows.areToolsNamed === true ? laxName : (name: string) => name;
  return {
    members,
    tools: new Map(rows.tools.map(({ of, row }) => [toolName(of), row])),
    rows,
    likely: likelyRows(rows),
  };
}

const byDialect = (isLax: boolean) =>
  new Map(Object.entries(DIALECT_ROWS).map(([dialect, rows]) => [dialect as Dialect, tableOf(rows, isLax)]));

const STRICT = byDialect(false);
const LAX = byDialect(true);

/** For bodies of clients that speak the dialect. */
export const bodyTable = (dialect: Dialect): Table => STRICT.get(dialect) as Table;

/** For a provider's own options. */
export const optionTable = (dialect: Dialect): Table => LAX.get(dialect) as Table;
