/** The registry: an org's apps, which its people and keys list, add, change and delete. */
import { z } from "zod";
import { orgSlugField } from "../../account/fields/slug.ts";
import { assertMayChange } from "../../account/scopes.ts";
import type { AccountTables } from "../../account/tables.ts";
import type { Clock } from "../../base/clock.ts";
import { fail, mustExist } from "../../base/errors.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { listed, listOf } from "../../base/operation/page.ts";
import { assertWithin, type Quotas } from "../../base/quota.ts";
import type { Trail } from "../../store/events/trail.ts";
import { type AppRow, appNameField, appShape, appUrlField, appWire, categoryField, slugOf } from "./app.ts";
import type { AppTables } from "./app-tables.ts";

export interface AppOperationDeps {
  readonly apps: AppTables;
  readonly accounts: Pick<AccountTables, "org" | "mustOpenOrg">;
  readonly clock: Clock;
  readonly trail: Trail;
  readonly quotas: Quotas;
}

const bySlug = z.object({ slug: z.string().describe("The app's short name.") });

const createBody = z.strictObject({
  name: appNameField.describe("What calls may name the app by.").meta({ examples: ["Acme Chat"] }),
  slug: orgSlugField
    .optional()
    .describe("One that no other app has. Default: made of the name.")
    .meta({ examples: ["acme-chat"] }),
  category: categoryField.default("other").describe("What the app is for."),
  url: appUrlField
    .default("")
    .describe("Where the app is.")
    .meta({ examples: ["https://chat.acme.example"] }),
  public: z.boolean().default(false).describe("true: everybody may see the app and its figures."),
});

const patchBody = z.strictObject({
  name: appNameField.optional().describe("What calls may name the app by."),
  category: categoryField.optional().describe("What the app is for."),
  url: appUrlField.optional().describe("Where the app is; empty: nowhere."),
  public: z.boolean().optional().describe("Whether everybody may see the app and its figures."),
});

export function appOperations(deps: AppOperationDeps) {
  return {
    listApps: operation({
      summary: "List the org's apps by slug; not paged",
      method: "GET",
      path: "/v1/apps",
      access: "read:org / viewer",
      group: "Apps",
      output: listOf(appShape),
      run: (_input, { orgId }) => listed(deps.apps.of(orgId).map(appWire)),
    }),
    createApp: operation({
      summary: "Register an app, so that its calls are counted as the app's",
      method: "POST",
      path: "/v1/apps",
      access: "write:org / admin",
      group: "Apps",
      body: createBody,
      output: appShape,
      status: 201,
      errors: ["scope", "slug_taken", "plan_limit", "org_closed"],
      run: ({ body }, caller) => createApp(deps, caller, body),
    }),
    getApp: operation({
      summary: "Read an app of the org",
      method: "GET",
      path: "/v1/apps/{slug}",
      access: "read:org / viewer",
      group: "Apps",
      params: bySlug,
      output: appShape,
      errors: ["not_found"],
      run: ({ params }, caller) => appWire(ownApp(deps, caller, params.slug)),
    }),
    updateApp: operation({
      summary: "Change, publish or hide an app; what is left out stays",
      method: "PATCH",
      path: "/v1/apps/{slug}",
      access: "write:org / admin",
      group: "Apps",
      params: bySlug,
      body: patchBody,
      output: appShape,
      errors: ["not_found", "scope"],
      run: ({ params, body }, caller) => updateApp(deps, caller, params.slug, body),
    }),
    deleteApp: operation({
      summary: "Delete an app; its calls stay in the org's records",
      method: "DELETE",
      path: "/v1/apps/{slug}",
      access: "write:org / admin",
      group: "Apps",
      params: bySlug,
      output: z.undefined(),
      status: 204,
      errors: ["not_found", "scope"],
      run: ({ params }, caller) => deleteApp(deps, caller, params.slug),
    }),
  };
}

/** Apps of other orgs count as not found. */
function ownApp({ apps }: AppOperationDeps, caller: Caller, slug: string): AppRow {
  const row = apps.app(slug);
  return mustExist(row?.orgId === caller.orgId ? row : undefined, "app");
}

async function createApp(deps: AppOperationDeps, caller: Caller, body: z.output<typeof createBody>) {
  const { apps, accounts, clock, trail, quotas } = deps;
  // Live calls are counted by it, so a test key may not add one.
  assertMayChange(caller, "live");
  const slug = body.slug ?? madeSlug(body.name);
  return await apps.act(() => {
    const org = accounts.mustOpenOrg(caller.orgId);
    if (apps.app(slug) !== undefined) {
      throw fail("slug_taken", `There is an app "${slug}" already; choose another slug.`, { param: "/slug" });
    }
    assertWithin(quotas, "apps", apps.of(org.id).length, "apps in an organisation", "Delete one first.");
    const { name, category, url, public: isPublic } = body;
    const row: AppRow = { slug, orgId: org.id, name, category, url, isPublic, createdAtMs: clock.now() };
    apps.put(row);
    const wire = appWire(row);
    trail.audit.note(caller, { act: "app.create", target: slug, after: wire });
    return wire;
  });
}

/** @throws WeirError where the name has no letter of a slug, or makes a reserved one */
function madeSlug(name: string): string {
  const slug = orgSlugField.safeParse(slugOf(name));
  if (slug.success) return slug.data;
  throw fail("invalid_value", "No slug can be made of this name: give one.", { param: "/slug" });
}

async function updateApp(
  deps: AppOperationDeps,
  caller: Caller,
  slug: string,
  body: z.output<typeof patchBody>,
) {
  assertMayChange(caller, "live");
  return await deps.apps.act(() => {
    const old = ownApp(deps, caller, slug);
    const changed: AppRow = {
      ...old,
      name: body.name ?? old.name,
      category: body.category ?? old.category,
      url: body.url ?? old.url,
      isPublic: body.public ?? old.isPublic,
    };
    deps.apps.put(changed);
    const [before, after] = [appWire(old), appWire(changed)];
    deps.trail.audit.note(caller, { act: "app.update", target: slug, before, after });
    return after;
  });
}

async function deleteApp(deps: AppOperationDeps, caller: Caller, slug: string): Promise<undefined> {
  assertMayChange(caller, "live");
  await deps.apps.act(() => {
    const row = ownApp(deps, caller, slug);
    deps.apps.remove(row);
    deps.trail.audit.note(caller, { act: "app.delete", target: slug, before: appWire(row) });
  });
}
