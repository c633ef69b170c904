/** Pages that need no key: the welcome page, health, readiness, the API reference and the schema of policies. */
import { fail } from "../../base/errors.ts";
import { wantsPage } from "../../base/operation/wants-page.ts";
import { HOME, INDEX } from "../docs/pages.ts";
import type { Reference } from "../docs/reference.ts";
import { searchPage } from "../docs/search.ts";
import type { Page } from "../server.ts";
import { about, welcomePage } from "./welcome.ts";

interface Readiness {
  readonly ready: boolean;
  /** Which parts are ready, for the operator. */
  readonly parts: Readonly<Record<string, boolean>>;
}

export interface PageDeps {
  readonly version: string;
  readonly readiness: () => Readiness;
  readonly reference: Reference;
  /** JSON Schema of routing policies, for editors: JSON. */
  readonly policySchema: string;
}

export function pages(deps: PageDeps): readonly Page[] {
  const { reference, policySchema } = deps;
  const text = (status: number, body: string) => ({ status, contentType: "application/json", body });
  const json = (status: number, value: unknown) => text(status, JSON.stringify(value));
  const html = (body: string) => ({ status: 200, contentType: "text/html; charset=utf-8", body });
  return [
    {
      path: "/",
      read: async ({ accept, address }) =>
        wantsPage(accept) ? html(welcomePage(deps.version, address)) : json(200, about(deps.version)),
    },
    { path: "/healthz", read: async () => json(200, { status: "ok" }) },
    {
      path: "/readyz",
      read: async () => {
        const { ready, parts } = deps.readiness();
        return json(ready ? 200 : 503, { status: ready ? "ready" : "not_ready", parts });
      },
    },
    { path: "/openapi.json", read: async ({ address }) => text(200, await reference.openApi(address)) },
    { path: "/docs", read: async ({ address }) => html((await reference.page(HOME, address)) ?? "") },
    { path: "/docs/search", read: async ({ path }) => html(await searched(reference, path)) },
    { path: "/docs/*", read: async ({ address, path }) => html(await groupPage(reference, address, path)) },
    { path: "/schemas/policy.json", isPublic: true, read: async () => text(200, policySchema) },
  ];
}

/** @param path with the question: `/docs/search?q=key` */
async function searched(reference: Reference, path: string): Promise<string> {
  const { searchParams } = new URL(path, "http://localhost");
  return searchPage((await reference.page(INDEX, "")) ?? "", searchParams.get("q") ?? "");
}

/** @throws WeirError 404 */
async function groupPage(reference: Reference, address: string, path: string): Promise<string> {
  const name = path.split("?", 1)[0]?.slice("/docs/".length) ?? "";
  const page = name === INDEX || name === HOME ? undefined : await reference.page(name, address);
  if (page === undefined) throw fail("not_found", "The reference has no such page. It begins at /docs.");
  return page;
}
