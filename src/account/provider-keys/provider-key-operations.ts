/**
 * Operations on an org's own provider keys: add, list, delete. No answer, error or log ever contains a credential
 * (T61).
 */
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { nearest } from "../../base/document/nearest.ts";
import type { Provider } from "../../base/endpoint.ts";
import { fail, mustExist } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { listed, listOf } from "../../base/operation/page.ts";
import { hintOf } from "../../base/provider-key.ts";
import { assertWithin, type Quotas } from "../../base/quota.ts";
import type { Trail } from "../../store/events/trail.ts";
import { nameField } from "../fields/text-field.ts";
import { assertMakerMay } from "../role-grants.ts";
import { assertMayChange } from "../scopes.ts";
import type { AccountTables } from "../tables.ts";
import { type ProviderKeyRow, providerKeyShape, providerKeyWire } from "./provider-key.ts";
import { credentialField, credentialFor, takesCredential } from "./provider-key-fields.ts";
import type { ProviderKeys } from "./provider-keys.ts";

export interface ProviderKeyOperationDeps {
  readonly accounts: AccountTables;
  readonly clock: Clock;
  readonly ownKeys: ProviderKeys;
  readonly trail: Trail;
  readonly quotas: Quotas;
  /** The current catalog's providers; synchronous. */
  readonly providers: () => ReadonlyMap<string, Provider>;
}

const createBody = z.strictObject({
  provider: z
    .string()
    .min(1)
    .max(100)
    .describe("Id of a provider of the catalog")
    .meta({ examples: ["openai"] }),
  name: nameField.optional().describe("Default: the provider's name"),
  credential: credentialField.describe("Kept encrypted, never shown again"),
  platform_fallback: z
    .boolean()
    .default(true)
    .describe("false: calls never go to this provider with the gateway's own credential"),
});

export function providerKeyOperations(deps: ProviderKeyOperationDeps) {
  const { accounts, ownKeys } = deps;
  const show = (row: ProviderKeyRow) => providerKeyWire(row, ownKeys.statusOf(row));
  return {
    listProviderKeys: operation({
      summary: "List the org's own provider keys, newest first; not paged",
      method: "GET",
      path: "/v1/provider-keys",
      access: "read:keys / viewer",
      group: "Provider keys",
      output: listOf(providerKeyShape),
      run: (_input, { orgId }) => listed(accounts.providerKeysOf(orgId).map(show)),
    }),
    createProviderKey: operation({
      summary: "Add a provider credential of the org's own: calls go to that provider with it first",
      method: "POST",
      path: "/v1/provider-keys",
      access: "write:keys / admin",
      group: "Provider keys",
      body: createBody,
      output: providerKeyShape,
      status: 201,
      errors: ["scope", "role", "plan_limit", "org_closed"],
      run: async ({ body }, caller) => show(await createProviderKey(deps, caller, body)),
    }),
    deleteProviderKey: operation({
      summary: "Delete a provider key for good; calls under way keep it to their end",
      method: "DELETE",
      path: "/v1/provider-keys/{id}",
      access: "write:keys / admin",
      group: "Provider keys",
      params: z.object({ id: z.string().describe("The provider key's id.") }),
      output: z.undefined(),
      status: 204,
      errors: ["not_found", "scope", "role"],
      run: ({ params }, caller) => deleteProviderKey(deps, caller, params.id),
    }),
  };
}

async function createProviderKey(
  deps: ProviderKeyOperationDeps,
  caller: Caller,
  body: z.output<typeof createBody>,
): Promise<ProviderKeyRow> {
  const { accounts, clock, ownKeys, trail, quotas } = deps;
  // Live calls use the key and are billed, so a test key may not add one.
  assertMayChange(caller, "live");
  const provider = providerNamed(deps.providers(), body.provider);
  const credential = credentialFor(provider, body.credential);
  const nowMs = clock.now();
  const owner = { orgId: caller.orgId, id: newId("pk", nowMs) };
  const row: ProviderKeyRow = {
    ...owner,
    providerId: provider.id,
    name: body.name ?? provider.name,
    hint: hintOf(credential),
    platformFallback: body.platform_fallback,
    sealed: ownKeys.seal(credential, owner),
    createdAtMs: nowMs,
  };
  await accounts.act(() => {
    const org = accounts.mustOpenOrg(caller.orgId);
    assertMakerMay(accounts, caller, "admin");
    const pool = accounts.providerKeysOf(org.id).filter(({ providerId }) => providerId === provider.id);
    assertWithin(quotas, "provider_keys", pool.length, `keys for ${provider.id}`, "Delete one first.");
    accounts.addProviderKey(row);
    const after = providerKeyWire(row, ownKeys.statusOf(row));
    trail.audit.note(caller, { act: "provider_key.create", target: row.id, after });
  });
  return row;
}

/** Keys of other orgs count as not found. */
async function deleteProviderKey(
  { accounts, ownKeys, trail }: ProviderKeyOperationDeps,
  caller: Caller,
  id: string,
): Promise<undefined> {
  assertMayChange(caller, "live");
  await accounts.act(() => {
    assertMakerMay(accounts, caller, "admin");
    const row = mustExist(accounts.providerKey(caller.orgId, id), "provider key");
    accounts.removeProviderKey(caller.orgId, id);
    const before = providerKeyWire(row, ownKeys.statusOf(row));
    trail.audit.note(caller, { act: "provider_key.delete", target: id, before });
  });
}

function providerNamed(providers: ReadonlyMap<string, Provider>, id: string): Provider {
  const provider = providers.get(id);
  if (provider === undefined) {
    // The id may be a misplaced credential: it is not repeated.
    const near = nearest(id, [...providers.keys()]);
    const hint = near === undefined ? "" : ` Did you mean "${near}"?`;
    throw fail("invalid_value", `There is no such provider.${hint}`, { param: "/provider" });
  }
  const why = !takesCredential(provider)
    ? "needs no credential"
    : provider.baseUrl === ""
      ? "has no address at this gateway"
      : undefined;
  if (why !== undefined) {
    throw fail("invalid_value", `${provider.name} ${why}, so no key could be used.`, { param: "/provider" });
  }
  return provider;
}
