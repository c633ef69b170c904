/**
 * Every route of the gateway, and nothing else: method, path, who may call it, and what it runs.
 * `/openapi.json` is generated from this table; what a row runs is one look-up away.
 */
import type { Scope } from "../account/scopes.ts";
import type { FormatName } from "../exchange/formats.ts";
import type { AnyOperation } from "../operation.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** `public`: no credential is asked for. `key`: any working key. Else a key with this scope. */
export type Access = "public" | "key" | Scope;

export type Route = {
  readonly method: Method;
  /** Parameters in braces: `/v1/keys/{id}`. */
  readonly path: string;
  readonly access: Access;
  /** Heading in the documentation. */
  readonly group: string;
} & (
  | { readonly operation: AnyOperation }
  /** A model call in this wire format. */
  | { readonly exchange: FormatName }
);

/** Operations by the names the table uses; `main.ts` brings them together from the rooms. */
export type Operations = Readonly<
  Record<
    | "listModels"
    | "getModel"
    | "getModelById"
    | "getModelEndpoints"
    | "getGeneration"
    | "listRequests"
    | "getRequest"
    | "getUsage"
    | "getCredits"
    | "listLedger"
    | "getLimits"
    | "listProjects"
    | "getProject"
    | "createProject"
    | "updateProject"
    | "deleteProject"
    | "createKey"
    | "listKeys"
    | "getKey"
    | "updateKey"
    | "revokeKey"
    | "rotateKey",
    AnyOperation
  >
>;

/** One row: what the path runs, for whom, and under which heading it is documented. */
const row = (
  method: Method,
  path: string,
  access: Access,
  group: string,
  runs: { readonly operation: AnyOperation } | { readonly exchange: FormatName },
): Route => ({ method, path, access, group, ...runs });

const act = (operation: AnyOperation) => ({ operation });

export const routes = (run: Operations): readonly Route[] => [
  row("POST", "/v1/chat/completions", "inference", "Inference", { exchange: "chat" }),

  row("GET", "/v1/models", "key", "Catalog", act(run.listModels)),
  row("GET", "/v1/models/{id}", "key", "Catalog", act(run.getModelById)),
  row("GET", "/v1/models/{vendor}/{model}", "key", "Catalog", act(run.getModel)),
  row("GET", "/v1/models/{vendor}/{model}/endpoints", "key", "Catalog", act(run.getModelEndpoints)),

  row("GET", "/v1/generation/{id}", "read:usage", "Usage", act(run.getGeneration)),
  row("GET", "/v1/requests", "read:usage", "Usage", act(run.listRequests)),
  row("GET", "/v1/requests/{id}", "read:usage", "Usage", act(run.getRequest)),
  row("GET", "/v1/usage", "read:usage", "Usage", act(run.getUsage)),

  row("GET", "/v1/credits", "read:billing", "Credits", act(run.getCredits)),
  row("GET", "/v1/credits/ledger", "read:billing", "Credits", act(run.listLedger)),

  row("GET", "/v1/limits", "read:keys", "Keys", act(run.getLimits)),
  row("GET", "/v1/keys", "read:keys", "Keys", act(run.listKeys)),
  row("POST", "/v1/keys", "write:keys", "Keys", act(run.createKey)),
  row("GET", "/v1/keys/{id}", "read:keys", "Keys", act(run.getKey)),
  row("PATCH", "/v1/keys/{id}", "write:keys", "Keys", act(run.updateKey)),
  row("DELETE", "/v1/keys/{id}", "write:keys", "Keys", act(run.revokeKey)),
  row("POST", "/v1/keys/{id}/rotate", "write:keys", "Keys", act(run.rotateKey)),

  row("GET", "/v1/projects", "read:org", "Projects", act(run.listProjects)),
  row("POST", "/v1/projects", "write:org", "Projects", act(run.createProject)),
  row("GET", "/v1/projects/{id}", "read:org", "Projects", act(run.getProject)),
  row("PATCH", "/v1/projects/{id}", "write:org", "Projects", act(run.updateProject)),
  row("DELETE", "/v1/projects/{id}", "write:org", "Projects", act(run.deleteProject)),
];
