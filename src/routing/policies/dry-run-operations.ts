/**
 * `POST /v1/policies/{name}/dry-run`: plans one hypothetical call under a version, replays recorded traffic under it,
 * or both.
 */
import { z } from "zod";
import type { Random } from "../../base/clock.ts";
import { nameHash } from "../../base/digest.ts";
import { fail } from "../../base/errors.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { dataPolicySchema, routeOptions, routeSchema } from "../../base/route-schema.ts";
import type { Health, OwnKeys } from "../health/health.ts";
import type { RouteFacts } from "../planner/eligibility.ts";
import { type AccountView, assertProject } from "./account-view.ts";
import type { CatalogView } from "./catalog-view.ts";
import { type DryRun, dryRun, dryRunShape } from "./dry-run.ts";
import type { ParsedVersion, Policies } from "./policies.ts";
import { ownPolicy, readableVersion } from "./policy-lookup.ts";
import { currentActivations } from "./policy-wire.ts";
import type { ReplayRequest } from "./replay/replay.ts";
import { type ReplayReport, replayReportSchema, replaySchema } from "./replay/replay-report.ts";

export interface DryRunDeps {
  readonly policies: Policies;
  readonly accounts: AccountView;
  readonly catalog: { current(): CatalogView };
  readonly health: Pick<Health, "of" | "with">;
  /** Port: an org's own provider keys, and the model with the endpoints that only they reach. */
  readonly ownKeys: { of(orgId: string): OwnKeys | undefined };
  readonly random: Random;
  /** Answer tokens that are held at first for a stream which names no bound. */
  readonly usualAnswerTokens: number;
  /** Port: runs a version over recorded requests. */
  readonly replay: (request: ReplayRequest) => Promise<ReplayReport>;
}

const tokens = z.int().min(0).max(100_000_000);
const word = z.string().max(256);

const dryRunBody = z
  .strictObject({
    model: z
      .string()
      .max(256)
      .optional()
      .describe("Required, unless only a replay is asked for")
      .meta({ examples: ["weir/sim-small"] }),
    version: z.int().min(1).optional().describe("Default: the version in force, else the newest"),
    est_input_tokens: tokens.optional().describe("Default: 1000"),
    max_output_tokens: z
      .int()
      .min(1)
      .max(100_000_000)
      .optional()
      .describe("What the call would send as max_tokens"),
    stream: z.boolean().optional().describe("The call is streamed."),
    tools: z.boolean().optional().describe("The call has tools"),
    images: z.boolean().optional().describe("The call has images"),
    audio: z.boolean().optional().describe("The call has sound."),
    json_schema: z.boolean().optional().describe("The call asks for an answer that fits a schema"),
    project_id: z.string().max(64).optional().describe("Default: the key's; without a key: none."),
    key_id: z
      .string()
      .max(64)
      .optional()
      .describe("Default: the caller's; of a person: none, so that no rule about keys fits."),
    app: word.optional().describe("The app that calls."),
    tags: z
      .record(z.string().max(64), word)
      .optional()
      .describe("Words of yours to group and find calls by."),
    user: word.optional().describe("End user: whom experiments divide, and what affinity may hold on to"),
    session: word.optional().describe("The conversation, for affinity."),
    route: routeSchema.optional().describe("As `svc.route` of a request"),
    data_policy: dataPolicySchema.optional(),
    replay: replaySchema.optional(),
  })
  .refine((body) => body.model !== undefined || body.replay !== undefined, {
    path: ["model"],
    message: "required, unless only a replay is asked for",
  });
type DryRunBody = z.output<typeof dryRunBody>;

const dryRunAnswer = z.object({
  policy: z.string().describe("The policy's name."),
  version: z.int().describe("The version's number, from 1."),
  ...dryRunShape,
  replay: replayReportSchema.optional().describe("The same over recorded requests."),
});

const DEFAULT_INPUT_TOKENS = 1_000;
/** The answer's plan when only a replay was requested. */
const NOTHING_PLANNED: DryRun = { plan: [], reserve_micro: 0, trials: {}, excluded: [], trace: "" };

export function dryRunOperations(deps: DryRunDeps) {
  return {
    dryRunPolicy: operation({
      summary:
        "What a version of a policy would do with a call, or with the recorded traffic of the last hours",
      method: "POST",
      path: "/v1/policies/{name}/dry-run",
      access: "read:policies / viewer",
      group: "Routing policies",
      params: z.object({ name: z.string().describe("The policy's name.") }),
      body: dryRunBody,
      output: dryRunAnswer,
      errors: [
        "not_found",
        "model_not_found",
        "state",
        "concurrency",
        "analytics_unavailable",
        "shutting_down",
      ],
      run: ({ params, body }, caller) => run(deps, caller, params.name, body),
    }),
  };
}

async function run(
  deps: DryRunDeps,
  caller: Caller,
  policy: string,
  body: DryRunBody,
): Promise<z.input<typeof dryRunAnswer>> {
  const { orgId } = caller;
  const version =
    body.version ??
    usualVersion(deps, orgId, policy, body.project_id ?? keyOf(deps, caller, body.key_id).projectId);
  const read = await readableVersion(deps.policies, { orgId, policy, version });
  const planned = body.model === undefined ? NOTHING_PLANNED : planCall(deps, caller, read, body.model, body);
  const answer = { policy, version, ...planned };
  if (body.replay === undefined) return answer;
  const { hours, project_id } = body.replay;
  const key = { orgId, policy, version: body.replay.version ?? version };
  await readableVersion(deps.policies, key);
  if (project_id !== undefined) assertProject(deps.accounts, orgId, project_id, "/replay/project_id");
  const replay = await deps.replay({
    orgId,
    dataPolicy: dataPolicyOf(deps, orgId),
    yaml: deps.policies.tables.text(key) ?? "",
    name: policy,
    version: key.version,
    hours,
    projectId: project_id,
  });
  return { ...answer, replay };
}

function planCall(
  deps: DryRunDeps,
  caller: Caller,
  version: ParsedVersion,
  modelName: string,
  body: DryRunBody,
): DryRun {
  const { orgId } = caller;
  const catalog = deps.catalog.current();
  const model = catalog.resolve(modelName) ?? catalog.meant(modelName, "/model");
  const { keyId, environment, ...key } = keyOf(deps, caller, body.key_id);
  const projectId = body.project_id ?? key.projectId;
  if (body.project_id !== undefined) assertProject(deps.accounts, orgId, projectId, "/project_id");
  // As for calls: test keys reach only the simulator, which needs no provider key.
  const own = environment === "test" ? undefined : deps.ownKeys.of(orgId);
  return dryRun(
    version,
    {
      model: own?.modelFor(model, catalog.unreachable(model.id)) ?? model,
      facts: {
        modelId: model.id,
        projectId,
        projectSlug: deps.accounts.project(projectId)?.slug ?? "",
        keyId,
        app: body.app ?? "",
        tags: body.tags ?? {},
        stream: body.stream ?? false,
        hasTools: body.tools ?? false,
        hasImages: body.images ?? false,
        inputTokens: body.est_input_tokens ?? DEFAULT_INPUT_TOKENS,
      },
      environment,
      maxTokens: body.max_output_tokens,
      hasAudio: body.audio ?? false,
      hasSchema: body.json_schema ?? false,
      user: nameHash(orgId, body.user ?? ""),
      session: nameHash(orgId, body.session ?? ""),
      route: routeOptions(body.route, body.data_policy),
      orgPolicy: dataPolicyOf(deps, orgId),
    },
    {
      health: own === undefined ? deps.health : deps.health.with(own),
      random: deps.random,
      usualAnswerTokens: deps.usualAnswerTokens,
    },
  );
}

/** For an unknown org the strictest policy applies. */
const dataPolicyOf = ({ accounts }: DryRunDeps, orgId: string): RouteFacts["orgPolicy"] =>
  accounts.org(orgId)?.dataPolicy ?? { zdr: true, noTrain: true, regions: [] };

/** The active version: in the call's project, else in the whole org, else in another project; else the newest. */
function usualVersion(
  { policies, accounts }: DryRunDeps,
  orgId: string,
  name: string,
  projectId: string,
): number {
  const newest = ownPolicy(policies, orgId, name).versions;
  const active = currentActivations(policies.tables, accounts, orgId).filter((a) => a.name === name);
  return (active.find(({ scope }) => scope === projectId) ?? active[0])?.version ?? newest;
}

/** The key of the hypothetical call. Where a person names none it has none: no rule about keys fits. */
function keyOf(deps: DryRunDeps, caller: Caller, keyId: string | undefined) {
  const { actor, projectId, environment } = caller;
  if (keyId === undefined) return { keyId: actor.kind === "key" ? actor.id : "", projectId, environment };
  const key = deps.accounts.key(keyId);
  if (key?.orgId !== caller.orgId) throw fail("not_found", "There is no such key.", { param: "/key_id" });
  return { keyId, projectId: key.projectId, environment: key.environment };
}
