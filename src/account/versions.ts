/**
 * The API versions that `svc-version` and a key's pin may name, oldest first.
 */
import { fail } from "../base/errors.ts";

const SVC_VERSIONS = ["2026-09-09"] as const;
export type SvcVersion = (typeof SVC_VERSIONS)[number];

/** The version that a new key is pinned to by default. */
export const NEWEST_SVC_VERSION: SvcVersion = "2026-09-09";

/** @throws WeirError `unsupported_version`. `param` is the JSON pointer of the field that named it. */
export function svcVersion(version: string, param: string): SvcVersion {
  const known = SVC_VERSIONS.find((v) => v === version);
  if (known !== undefined) return known;
  throw fail("unsupported_version", `Unknown version. Known: ${SVC_VERSIONS.join(", ")}.`, { param });
}
