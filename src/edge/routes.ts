/**
 * Every route of the gateway, and nothing else: method, path, who may call it, and what it runs.
 * `/openapi.json` is generated from this table; what a row runs is one look-up away.
 */
import type { Scope } from "../account/scopes.ts";
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
  | { readonly exchange: "chat" }
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

export const routes = (run: Operations): readonly Route[] => [
  { method: "POST", path: "/v1/chat/completions", access: "inference", group: "Inference", exchange: "chat" },

  { method: "GET", path: "/v1/models", access: "key", group: "Catalog", operation: run.listModels },
  { method: "GET", path: "/v1/models/{id}", access: "key", group: "Catalog", operation: run.getModelById },
  {
    method: "GET",
    path: "/v1/models/{vendor}/{model}",
    access: "key",
    group: "Catalog",
    operation: run.getModel,
  },
  {
    method: "GET",
    path: "/v1/models/{vendor}/{model}/endpoints",
    access: "key",
    group: "Catalog",
    operation: run.getModelEndpoints,
  },

  {
    method: "GET",
    path: "/v1/generation/{id}",
    access: "read:usage",
    group: "Usage",
    operation: run.getGeneration,
  },
  { method: "GET", path: "/v1/requests", access: "read:usage", group: "Usage", operation: run.listRequests },
  {
    method: "GET",
    path: "/v1/requests/{id}",
    access: "read:usage",
    group: "Usage",
    operation: run.getRequest,
  },
  { method: "GET", path: "/v1/usage", access: "read:usage", group: "Usage", operation: run.getUsage },

  { method: "GET", path: "/v1/credits", access: "read:billing", group: "Credits", operation: run.getCredits },
  {
    method: "GET",
    path: "/v1/credits/ledger",
    access: "read:billing",
    group: "Credits",
    operation: run.listLedger,
  },

  { method: "GET", path: "/v1/limits", access: "read:keys", group: "Keys", operation: run.getLimits },
  { method: "GET", path: "/v1/keys", access: "read:keys", group: "Keys", operation: run.listKeys },
  { method: "POST", path: "/v1/keys", access: "write:keys", group: "Keys", operation: run.createKey },
  { method: "GET", path: "/v1/keys/{id}", access: "read:keys", group: "Keys", operation: run.getKey },
  { method: "PATCH", path: "/v1/keys/{id}", access: "write:keys", group: "Keys", operation: run.updateKey },
  { method: "DELETE", path: "/v1/keys/{id}", access: "write:keys", group: "Keys", operation: run.revokeKey },
  {
    method: "POST",
    path: "/v1/keys/{id}/rotate",
    access: "write:keys",
    group: "Keys",
    operation: run.rotateKey,
  },

  { method: "GET", path: "/v1/projects", access: "read:org", group: "Projects", operation: run.listProjects },
  {
    method: "POST",
    path: "/v1/projects",
    access: "write:org",
    group: "Projects",
    operation: run.createProject,
  },
  {
    method: "GET",
    path: "/v1/projects/{id}",
    access: "read:org",
    group: "Projects",
    operation: run.getProject,
  },
  {
    method: "PATCH",
    path: "/v1/projects/{id}",
    access: "write:org",
    group: "Projects",
    operation: run.updateProject,
  },
  {
    method: "DELETE",
    path: "/v1/projects/{id}",
    access: "write:org",
    group: "Projects",
    operation: run.deleteProject,
  },
];
