/** Answers without a key: is the process alive, is it ready, what does it count, and how is it used. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
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
  readonly openApi: () => object;
}

export function pages(deps: PageDeps): readonly Page[] {
  let openApi: string | undefined;
  const json = (status: number, value: unknown) => ({
    status,
    contentType: "application/json",
    body: JSON.stringify(value),
  });
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
    {
      path: "/openapi.json",
      read: async () => {
        openApi ??= JSON.stringify(deps.openApi());
        return { status: 200, contentType: "application/json", body: openApi };
      },
    },
    {
      path: "/docs",
      read: async () => ({ status: 200, contentType: "text/html; charset=utf-8", body: DOCS }),
    },
    {
      path: "/docs/rapidoc.js",
      read: async () => ({
        status: 200,
        contentType: "text/javascript; charset=utf-8",
        body: await readFile(createRequire(import.meta.url).resolve("rapidoc")),
      }),
    },
  ];
}

/** RapiDoc is served from here: the page needs no other host. */
const DOCS = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Weir API</title>
<script type="module" src="/docs/rapidoc.js"></script>
</head>
<body>
<rapi-doc spec-url="/openapi.json" render-style="read" show-header="false" allow-server-selection="false"
  load-fonts="false" regular-font="system-ui, sans-serif" mono-font="ui-monospace, monospace"
  schema-style="table" theme="light" primary-color="#0b6e99"></rapi-doc>
</body>
</html>
`;
