/** Whose the operator's secret is: one gateway's, or that of all cells. */
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { OPERATOR_KEY_FILE, operatorSecret } from "../../../../src/account/operator/operator-key.ts";

const folders = ["a", "b"].map((name) => mkdtempSync(join(tmpdir(), `weir-operator-${name}-`))) as [
  string,
  string,
];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
const kept = (folder: string) => readFileSync(join(folder, OPERATOR_KEY_FILE), "utf8").trim();

test("a gateway alone keeps the secret that it made at its first start", () => {
  const [a, b] = folders;
  operatorSecret(a);
  operatorSecret(b);
  const secret = kept(a);
  expect(secret).not.toBe(kept(b));
  const isSecret = operatorSecret(a);
  expect(kept(a)).toBe(secret);
  expect([isSecret(secret), isSecret(kept(b)), isSecret(`${secret}x`), isSecret("")]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test("cells know one secret, which each has in its folder, in place of an earlier one", () => {
  const shared = Buffer.alloc(32, 7);
  const [isSecret] = folders.map((folder) => operatorSecret(folder, shared));
  const [a, b] = folders.map(kept);
  expect(a).toBe(b);
  expect(isSecret?.(b as string)).toBe(true);
  expect(statSync(join(folders[0], OPERATOR_KEY_FILE)).mode & 0o777).toBe(0o600);
});
