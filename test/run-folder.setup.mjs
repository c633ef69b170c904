/** Once before all tests: a folder for what the tests of one run make once and share, such as `support/analytics-folder.ts`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function setup() {
  const folder = mkdtempSync(join(tmpdir(), "weir-run-"));
  process.env.WEIR_TEST_RUN = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
