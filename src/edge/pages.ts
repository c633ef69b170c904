/** Answers without a key: is the process alive, is it ready, what does it count, how is it used, and what are policies made of. */
import { docsPage } from "./docs.ts";
import type { OpenApiDocument } from "./openapi.ts";
import type { Page } from "./server.ts";

export interface Readiness {
  readonly ready: boolean;
  /** Part by part, for the person who asks why not. */
  readonly parts: Readonly<Record<string, boolean>>;
}

export interface PageDeps {
  readonly readiness: () => Readiness;
  /** Prometheus text format. */
  readonly metrics: () => Promise<{ contentType: string; body: string }>;
  /** Asked once, by the first reader. */
  readonly openApi: () => OpenApiDocument;
  /** JSON Schema of routing policies, for editors. Asked once, too. */
  readonly policySchema: () => object;
}

export function pages(deps: PageDeps): readonly Page[] {
  const json = (status: number, value: unknown) => ({
    status,
    contentType: "application/json",
    body: JSON.stringify(value),
  });
  const document = once(deps.openApi);
  const openApi = once(() => json(200, document()));
  const policySchema = once(() => json(200, deps.policySchema()));
  const docs = once(() => ({
    status: 200,
    contentType: "text/html; charset=utf-8",
    body: docsPage(document()),
  }));
  return [
    { path: "/healthz", read: async () => json(200, { status: "ok" }) },
    {
      path: "/readyz",
      read: async () => {
        const { ready, parts } = deps.readiness();
        return json(ready ? 200 : 503, { status: ready ? "ready" : "not_ready", parts });
      },
    },
    { path: "/metrics", read: async () => ({ status: 200, ...(await deps.metrics()) }) },
    { path: "/openapi.json", read: async () => openApi() },
    { path: "/docs", read: async () => docs() },
    { path: "/schemas/policy.json", read: async () => policySchema() },
  ];
}

/** Made when first asked for, then kept. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
