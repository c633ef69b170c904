/** Which environment variables a provider is configured by, and which key was read from each: names, and no value. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { stringify } from "yaml";
import { loadCatalog } from "../../../../src/catalog/models/catalog.ts";
import { modelFile, near } from "../../../support/catalog/world.fixtures.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "weir-variables-"));
  mkdirSync(join(dir, "models"));
  writeFileSync(join(dir, "models/real.yaml"), modelFile([near("eu", 1)]));
});
afterEach(() => rmSync(dir, { recursive: true }));

async function variablesOf(env: Record<string, string>, fields: object): Promise<string[] | undefined> {
  const provider = {
    id: "near",
    name: "Near",
    base_url: `https://\${NEAR_HOST}/v1`,
    dialects: ["chat"],
    data_policy: { trains: false, retention_days: 0, zdr: true },
    regions: ["eu"],
    ...fields,
  };
  writeFileSync(join(dir, "providers.yaml"), stringify({ providers: [provider] }));
  const versions = {
    assign: async (all: readonly { endpointId: string }[]) =>
      new Map(all.map(({ endpointId }) => [endpointId, { version: "pv_1", changedMs: undefined }])),
    history: () => [],
  };
  const loaded = await loadCatalog({ configDir: dir, env, simulatorUrl: undefined, priceVersions: versions });
  const variables = loaded.providers.get("near")?.variables;
  for (const value of Object.values(env)) expect(JSON.stringify(variables)).not.toContain(value);
  return variables?.map(({ name, use, isSet, keyId = "" }) =>
    `${name} ${use} ${isSet ? "set" : "not set"} ${keyId}`.trim(),
  );
}

test("those that are named, set or not; of a pool also the further ones that are set", async () => {
  const fields = { credential_env: ["NEAR_KEY", "NEAR_OTHER"] };
  expect(await variablesOf({}, fields)).toEqual([
    "NEAR_KEY credential not set",
    "NEAR_OTHER credential not set",
    "NEAR_HOST address not set",
  ]);
  const env = {
    NEAR_KEY: "first-one",
    NEAR_KEY_3: "third-one",
    NEAR_KEY_4: "first-one",
    NEAR_OTHER: "unused-one",
    NEAR_HOST: "elsewhere.example",
  };
  expect(await variablesOf(env, fields)).toEqual([
    "NEAR_KEY credential set near/1",
    "NEAR_KEY_3 credential set near/3",
    // It holds what an earlier one holds.
    "NEAR_KEY_4 credential set",
    "NEAR_OTHER credential set",
    "NEAR_HOST address set",
  ]);
});

test("AWS's own pairs, where the file has none that is set", async () => {
  const fields = { auth: "aws_sigv4", credential_env: ["NEAR_TOKEN"], base_url: "https://aws.example" };
  const pair = {
    AWS_ACCESS_KEY_ID: "AKIA1111",
    AWS_SECRET_ACCESS_KEY: "secret-1",
    AWS_ACCESS_KEY_ID_2: "AKIA2222",
  };
  expect(await variablesOf(pair, fields)).toEqual([
    "NEAR_TOKEN credential not set",
    "AWS_ACCESS_KEY_ID credential set near/1",
    "AWS_SECRET_ACCESS_KEY credential set near/1",
    "AWS_ACCESS_KEY_ID_2 credential set",
    "AWS_SECRET_ACCESS_KEY_2 credential not set",
  ]);
  const [first, second] = (await variablesOf({ ...pair, NEAR_TOKEN: "bearer-1" }, fields)) ?? [];
  expect([first, second]).toEqual(["NEAR_TOKEN credential set near/1", "AWS_ACCESS_KEY_ID credential set"]);
});
