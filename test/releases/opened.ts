/** The folders that releases keep, as tests take them up. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Expected } from "./release.ts";

/** Versions, and commits between two of them. */
export const RELEASES: readonly string[] = readdirSync(import.meta.dirname).flatMap(
  (file) => /^(.*)\.tar\.gz$/.exec(file)?.[1] ?? [],
);

/** A new folder, which the caller removes, as the release's killed process left it, and what its routes had answered. */
export function unpacked(release: string): { readonly folder: string; readonly expected: Expected } {
  const folder = mkdtempSync(join(tmpdir(), "weir-release-"));
  execFileSync("tar", ["-xzf", join(import.meta.dirname, `${release}.tar.gz`), "-C", folder]);
  return { folder, expected: JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")) };
}

/**
 * Asking uses a key, the release ran without ClickHouse, from which figures of models come, and a gateway that starts registers what is
 * left of its invoices.
 */
const CHANGING = ["last_used_at", "analytics", "series", "apps", "irn", "irn_status"];

/** What this release must answer, of what that one did. Later ones may tell more; nothing that was told may be missing or other. */
export const stillTold = (json: unknown): unknown =>
  JSON.parse(JSON.stringify(json), (name, value) => {
    if (CHANGING.includes(name)) return undefined;
    // Before 0.1.0 a record showed the client's own body; since then, the call in a form of its own.
    if (name === "request" && typeof value?.messages?.[0]?.content === "string") return undefined;
    // Before 0.1.0 a key without a budget said of the budget that it is hard.
    if (name !== "budget" || value === null || value.daily_micro || value.monthly_micro) return value;
    const { hard: _, ...rest } = value;
    return rest;
  });
