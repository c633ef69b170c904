/**
 * The route table: method, path, required access, and what each route runs. `/openapi.json` is generated from it.
 */
import type { Scope } from "../account/scopes.ts";
import type { WeirError } from "../errors.ts";
import type { StreamOperation } from "../event-stream.ts";
import type { CallName } from "../exchange/formats.ts";
import type { Hook } from "../hook.ts";
import type { AnyOperation } from "../operation.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** `public`: no credential. `key`: any working key. Otherwise a key with this scope. */
export type Access = "public" | "key" | Scope;

/**
 * `anthropic`: the operation for requests with `anthropic-version`. Such a route accepts `x-api-key` as well as the
 * bearer credential.
 */
type Act = { readonly operation: AnyOperation; readonly anthropic?: AnyOperation };

/** Routes under one heading of the documentation. */
interface RouteGroup {
  readonly heading: string;
  /** Formats errors for the group's clients, if not in our own shape. Model calls use their format's. */
  readonly errorBody?: (error: WeirError, requestId: string) => string;
  /** Media type of JSON bodies, in and out, if not `application/json`: for instance `application/scim+json`. */
  readonly mediaType?: string;
}

/** What a route runs. */
type Runs =
  | Act
  /** A model call. */
  | { readonly exchange: CallName }
  /** Server-sent events, by GET. */
  | { readonly stream: StreamOperation }
  /** Passes the body on unchanged; the hook itself authenticates the sender. */
  | { readonly hook: Hook };

export type Route = {
  readonly method: Method;
  /** Parameters in braces: `/v1/keys/{id}`. */
  readonly path: string;
  readonly access: Access;
  readonly group: RouteGroup;
} & Runs;

/** Operations by the names the table uses; `gateway/operations.ts` takes each from its room. */
export type Operations = Readonly<
  Record<
    | "getResponse"
    | "deleteResponse"
    | "listModels"
    | "getModel"
    | "getModelById"
    | "listAnthropicModels"
    | "getAnthropicModel"
    | "getAnthropicModelById"
    | "getModelEndpoints"
    | "getModelStats"
    | "getGeneration"
    | "listRequests"
    | "getRequest"
    | "getUsage"
    | "getCredits"
    | "listLedger"
    | "getLimits"
    | "listPolicies"
    | "createPolicy"
    | "validatePolicy"
    | "listPolicyVersions"
    | "getPolicyVersion"
    | "createPolicyVersion"
    | "activatePolicy"
    | "deactivatePolicy"
    | "dryRunPolicy"
    | "listCanaries"
    | "listShadows"
    | "listExperiments"
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
    | "rotateKey"
    | "listProviderKeys"
    | "createProviderKey"
    | "deleteProviderKey",
    AnyOperation
  >
>;

/** One row: what the path runs, required access, and its heading in the documentation. */
const row = (method: Method, path: string, access: Access, group: string, runs: Runs): Route => ({
  method,
  path,
  access,
  group: { heading: group },
  ...runs,
});

const act = (operation: AnyOperation, anthropic?: AnyOperation): Act => ({
  operation,
  ...(anthropic && { anthropic }),
});

const POLICIES = "Routing policies";

export const routes = (run: Operations): readonly Route[] => [
  row("POST", "/v1/chat/completions", "inference", "Inference", { exchange: "chat" }),
  row("POST", "/v1/completions", "inference", "Inference", { exchange: "completions" }),
  row("POST", "/v1/embeddings", "inference", "Inference", { exchange: "embeddings" }),
  row("POST", "/v1/responses", "inference", "Inference", { exchange: "responses" }),
  row("GET", "/v1/responses/{id}", "inference", "Inference", act(run.getResponse)),
  row("DELETE", "/v1/responses/{id}", "inference", "Inference", act(run.deleteResponse)),
  row("POST", "/v1/messages", "inference", "Inference", { exchange: "messages" }),
  row("POST", "/v1/messages/count_tokens", "inference", "Inference", { exchange: "messages_count" }),
  row("POST", "/v1/svc/generate", "inference", "Native inference", { exchange: "generate" }),
  row("POST", "/v1/svc/embed", "inference", "Native inference", { exchange: "embed" }),
  row("POST", "/v1/svc/rerank", "inference", "Native inference", { exchange: "rerank" }),
  row("POST", "/v1/svc/count_tokens", "inference", "Native inference", { exchange: "count_tokens" }),
  row("POST", "/v1/svc/dry_run", "inference", "Native inference", { exchange: "dry_run" }),

  row("GET", "/v1/models", "key", "Catalog", act(run.listModels, run.listAnthropicModels)),
  row("GET", "/v1/models/{id}", "key", "Catalog", act(run.getModelById, run.getAnthropicModelById)),
  row("GET", "/v1/models/{vendor}/{model}", "key", "Catalog", act(run.getModel, run.getAnthropicModel)),
  row("GET", "/v1/models/{vendor}/{model}/endpoints", "key", "Catalog", act(run.getModelEndpoints)),
  row("GET", "/v1/models/{vendor}/{model}/stats", "key", "Catalog", act(run.getModelStats)),

  row("GET", "/v1/generation/{id}", "read:usage", "Usage", act(run.getGeneration)),
  row("GET", "/v1/requests", "read:usage", "Usage", act(run.listRequests)),
  row("GET", "/v1/requests/{id}", "read:usage", "Usage", act(run.getRequest)),
  row("GET", "/v1/usage", "read:usage", "Usage", act(run.getUsage)),

  row("GET", "/v1/policies", "read:policies", POLICIES, act(run.listPolicies)),
  row("POST", "/v1/policies", "write:policies", POLICIES, act(run.createPolicy)),
  row("POST", "/v1/policies/validate", "read:policies", POLICIES, act(run.validatePolicy)),
  row("GET", "/v1/policies/{name}/versions", "read:policies", POLICIES, act(run.listPolicyVersions)),
  row("POST", "/v1/policies/{name}/versions", "write:policies", POLICIES, act(run.createPolicyVersion)),
  row("GET", "/v1/policies/{name}/versions/{version}", "read:policies", POLICIES, act(run.getPolicyVersion)),
  row("POST", "/v1/policies/{name}/activate", "write:policies", POLICIES, act(run.activatePolicy)),
  row("POST", "/v1/policies/{name}/deactivate", "write:policies", POLICIES, act(run.deactivatePolicy)),
  row("POST", "/v1/policies/{name}/dry-run", "read:policies", POLICIES, act(run.dryRunPolicy)),
  row("GET", "/v1/policies/{name}/canaries", "read:policies", POLICIES, act(run.listCanaries)),
  row("GET", "/v1/policies/{name}/shadows", "read:policies", POLICIES, act(run.listShadows)),
  row("GET", "/v1/policies/{name}/experiments", "read:policies", POLICIES, act(run.listExperiments)),

  row("GET", "/v1/credits", "read:billing", "Credits", act(run.getCredits)),
  row("GET", "/v1/credits/ledger", "read:billing", "Credits", act(run.listLedger)),

  row("GET", "/v1/limits", "read:keys", "Keys", act(run.getLimits)),
  row("GET", "/v1/keys", "read:keys", "Keys", act(run.listKeys)),
  row("POST", "/v1/keys", "write:keys", "Keys", act(run.createKey)),
  row("GET", "/v1/keys/{id}", "read:keys", "Keys", act(run.getKey)),
  row("PATCH", "/v1/keys/{id}", "write:keys", "Keys", act(run.updateKey)),
  row("DELETE", "/v1/keys/{id}", "write:keys", "Keys", act(run.revokeKey)),
  row("POST", "/v1/keys/{id}/rotate", "write:keys", "Keys", act(run.rotateKey)),

  row("GET", "/v1/provider-keys", "read:keys", "Provider keys", act(run.listProviderKeys)),
  row("POST", "/v1/provider-keys", "write:keys", "Provider keys", act(run.createProviderKey)),
  row("DELETE", "/v1/provider-keys/{id}", "write:keys", "Provider keys", act(run.deleteProviderKey)),

  row("GET", "/v1/projects", "read:org", "Projects", act(run.listProjects)),
  row("POST", "/v1/projects", "write:org", "Projects", act(run.createProject)),
  row("GET", "/v1/projects/{id}", "read:org", "Projects", act(run.getProject)),
  row("PATCH", "/v1/projects/{id}", "write:org", "Projects", act(run.updateProject)),
  row("DELETE", "/v1/projects/{id}", "write:org", "Projects", act(run.deleteProject)),
];
