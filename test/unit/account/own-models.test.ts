/** The model as an org reaches it with keys of its own: what they open, what they shut, what stays the catalog's. */
import { beforeEach, expect, test } from "vitest";
import { ProviderKeys } from "../../../src/account/provider-keys/provider-keys.ts";
import { openVault } from "../../../src/account/provider-keys/vault.ts";
import type { Endpoint, Model, Provider, ProviderKey } from "../../../src/base/endpoint.ts";
import { platformKey } from "../../../src/base/provider-key.ts";
import { openInstallation } from "../../../src/store/installation/installation.ts";
import { accountRig } from "./fixtures.ts";

const ORG = "org_1";
const rig = accountRig();
let ownKeys: ProviderKeys;
let rows: number;
beforeEach(() => {
  rows = 0;
  ownKeys = new ProviderKeys({
    accounts: rig.accounts,
    vault: openVault(openInstallation({ dataDir: rig.dataDir, masterKey: undefined })),
    onUnreadable: () => {},
  });
});

/** A row past the operations, which refuse some of these. */
async function add(
  providerId: string,
  given: { fallback?: boolean; readable?: boolean } = {},
): Promise<void> {
  const { fallback = true, readable = true } = given;
  const owner = { orgId: ORG, id: `pk_${++rows}` };
  const sealed = readable ? ownKeys.seal("own-credential", owner) : Buffer.alloc(40);
  const row = {
    ...owner,
    providerId,
    name: "n",
    hint: "",
    platformFallback: fallback,
    sealed,
    createdAtMs: 1,
  };
  await rig.accounts.act(() => rig.accounts.addProviderKey(row));
}

const provider = (id: string, baseUrl: string, keys: ProviderKey[] = [], status = "inactive"): Provider =>
  ({ id, baseUrl, keys, status }) as unknown as Provider;
const endpoint = (id: string, at: Provider, contextLength = 1000, maxOutput = 100) =>
  ({ id, provider: at, status: "active", contextLength, maxOutput }) as Endpoint;
const platform = (id: string) => [platformKey(id, 1, "platform-credential")];

const open = endpoint("ep_open", provider("open", "https://open.example", platform("open"), "active"));
const shut = endpoint("ep_shut", provider("shut", "https://shut.example"), 8000, 900);
const adrift = endpoint("ep_adrift", provider("adrift", ""));
const off = endpoint("ep_off", provider("off", "https://off.example", platform("off")));

const model = (...endpoints: Endpoint[]) =>
  ({ id: "m", contextLength: 1000, maxOutput: 100, endpoints }) as unknown as Model;
const reach = (known: Model, unreachable: Endpoint[]) => ownKeys.of(ORG)?.modelFor(known, unreachable);
const seen = (reached: Model | undefined) => reached?.endpoints.map((e) => `${e.id} ${e.provider.status}`);

test("includes endpoints that only an own key reaches", async () => {
  await add("shut");
  const known = model(open);
  const reached = reach(known, [shut, adrift]);
  expect(seen(reached)).toEqual(["ep_open active", "ep_shut active"]);
  expect(reached).toMatchObject({ contextLength: 8000, maxOutput: 900 });
  expect(reached?.endpoints[0]).toBe(open);
  expect(reached?.endpoints[1]?.provider.keys).toEqual([]);
  expect([shut.provider.status, seen(known)]).toEqual(["inactive", ["ep_open active"]]);
  expect(JSON.stringify([reached, ownKeys.of(ORG)])).not.toContain("credential");
});

test("is built once, and its endpoints once for all orgs and changes", async () => {
  await add("shut");
  const known = model(open);
  const reached = reach(known, [shut]);
  expect(reach(known, [shut])).toBe(reached);
  await add("shut");
  expect(reach(known, [shut])).not.toBe(reached);
  expect(reach(known, [shut])?.endpoints[1]).toBe(reached?.endpoints[1]);
});

test("is the catalog's own where its keys change nothing", async () => {
  await add("elsewhere", { fallback: false });
  const known = model(open);
  expect(reach(known, [shut])).toBe(known);
});

test("has no endpoint without an address, nor one that was switched off though it has a credential", async () => {
  await add("adrift");
  await add("off");
  expect(seen(reach(model(), [adrift, off]))).toEqual([]);
});

test("has nothing that the platform's credential is forbidden for and no own one opens", async () => {
  const known = model(open, shut);
  await add("open", { readable: false });
  expect(reach(known, [])).toBe(known);
  await add("open", { readable: false, fallback: false });
  expect(seen(reach(model(open), []))).toEqual([]);
  await add("open");
  expect(seen(reach(model(open), []))).toEqual(["ep_open active"]);
});
