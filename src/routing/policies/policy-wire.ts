/**
 * Wire shapes of policies: a version's summary with its status, and the problems of a text.
 */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import * as field from "../../base/operation/fields.ts";
import type { PolicyProblem } from "../language/policy-reading.ts";
import { type AccountView, isProject } from "./account-view.ts";
import { type Activation, type PolicyTables, type VersionRow, WHOLE_ORG } from "./policy-tables.ts";

const scopeShape = z.object({ project_id: field.projectId.optional() }).describe("Empty: the whole org");

export const summaryShape = z.object({
  name: z.string().describe("The policy's name."),
  version: z.int().describe("The version's number, from 1."),
  status: z
    .enum(["draft", "active", "retired"])
    .describe("active: in force somewhere; retired: it was once and is no more"),
  created_at: field.createdAt,
  created_by: z.string().describe("Id of the person or key that wrote it."),
  scopes: z.array(scopeShape).describe("Where the version is in force"),
});

const inForceShape = z.object({
  version: z.int().describe("The version that is in force there."),
  project_id: field.projectId.optional().describe("The project; without it the whole org."),
  activated_at: field.time("Since when"),
  activated_by: z.string().describe("Id of the person or key that activated it."),
});

/** In lists. */
export const listedVersionShape = z.object({
  ...summaryShape.shape,
  in_force: z.array(inForceShape).describe("Where the version is in force, since when, and by whom"),
});

export const listedPolicyShape = z.object({
  ...summaryShape.shape,
  newest: z.int().describe("Number of its newest version."),
  in_force: z
    .array(inForceShape)
    .describe("Where any version of it is in force, since when, and by whom: the whole org first"),
});

export const problemShape = z.object({
  path: z.string().describe("JSON pointer into the document; empty for the whole"),
  message: z.string().describe("Names the nearest known word where there is one"),
  line: z.int().describe("1-based"),
  column: z.int().describe("1-based."),
});

export const versionShape = z.object({
  ...summaryShape.shape,
  yaml: z.string().describe("The document."),
});

export const createdShape = z.object({
  ...versionShape.shape,
  warnings: z.array(problemShape).describe("What the policy names and the catalog does not have"),
});

/** Activations of an org, without those of deleted projects. */
export function currentActivations(tables: PolicyTables, accounts: AccountView, orgId: string): Activation[] {
  return tables
    .activationsOf(orgId)
    .filter(({ scope }) => scope === WHOLE_ORG || isProject(accounts, orgId, scope));
}

/** @param active the org's activations. */
export function summaryWire(row: VersionRow, active: readonly Activation[]): z.input<typeof summaryShape> {
  const scopes = active.filter((a) => a.name === row.name && a.version === row.version);
  return {
    name: row.name,
    version: row.version,
    status: scopes.length > 0 ? "active" : row.wasActive ? "retired" : "draft",
    created_at: isoTime(row.createdAtMs),
    created_by: row.createdBy,
    scopes: scopes.map(({ scope }) => (scope === WHOLE_ORG ? {} : { project_id: scope })),
  };
}

/** @param active activations of one policy, or of one version of it */
export const inForceWire = (active: readonly Activation[]): z.input<typeof inForceShape>[] =>
  active.map(({ scope, version, activatedAtMs, activatedBy }) => ({
    version,
    ...(scope !== WHOLE_ORG && { project_id: scope }),
    activated_at: isoTime(activatedAtMs),
    activated_by: activatedBy,
  }));

/** `details` of a refusal: the first problem, and all of them. @param flaws in text order */
export function problemDetails(flaws: readonly PolicyProblem[]) {
  const problems = flaws.map(problemWire);
  return { ...(problems[0] ?? { path: "", message: "", line: 1, column: 1 }), problems };
}

export const problemWire = (flaw: PolicyProblem): z.input<typeof problemShape> => ({
  path: flaw.pointer,
  message: flaw.message,
  line: flaw.line,
  column: flaw.column,
});
