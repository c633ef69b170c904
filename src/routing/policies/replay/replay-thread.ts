/**
 * Worker thread that plans for one replay: a million plans take seconds that the event loop does not have (T54). It
 * answers one message at a time; an error ends the thread, which rejects the pending request.
 */
import { parentPort } from "node:worker_threads";
import type { Model } from "../../../base/endpoint.ts";
import { compilePolicy } from "../../language/policy.ts";
import type { PolicyDocument } from "../../language/policy-document.ts";
import type { RouteFacts } from "../../planner/eligibility.ts";
import { readCalls } from "./replay-calls.ts";
import { type EndpointFigures, ReplayRun } from "./replay-run.ts";
import type { ReplayTally } from "./replay-tally.ts";

export type ReplayTask =
  /** Models of the catalog, without credentials; sent in parts, since cloning blocks the event loop. */
  | { readonly kind: "models"; readonly models: readonly Model[] }
  | {
      readonly kind: "begin";
      readonly document: PolicyDocument;
      readonly name: string;
      readonly version: number;
      readonly dataPolicy: RouteFacts["orgPolicy"];
      readonly slugs: readonly (readonly [projectId: string, slug: string])[];
      readonly figures: readonly EndpointFigures[];
    }
  | { readonly kind: "calls"; readonly pieces: readonly Uint8Array[] }
  | { readonly kind: "report" };

export type ReplayAnswer =
  | { readonly kind: "done" }
  | {
      readonly kind: "read";
      readonly calls: number;
      /** Position of the next page; undefined after an empty one. */
      readonly last: { readonly tsMs: number; readonly requestId: string } | undefined;
    }
  | { readonly kind: "report"; readonly report: ReturnType<ReplayTally["report"]> };

const models = new Map<string, Model>();
let run: ReplayRun | undefined;

function answer(task: ReplayTask): ReplayAnswer {
  switch (task.kind) {
    case "models":
      for (const model of task.models) models.set(model.id, model);
      return { kind: "done" };
    case "begin":
      return begin(task);
    case "calls":
      return replayed(begun(), task.pieces);
    case "report":
      return { kind: "report", report: begun().tally.report() };
  }
}

function begin(task: ReplayTask & { kind: "begin" }): ReplayAnswer {
  const { document, name, version, dataPolicy, figures } = task;
  const policy = compilePolicy(document, { name, version });
  run = new ReplayRun({ policy, dataPolicy, models, slugs: new Map(task.slugs), figures });
  return { kind: "done" };
}

function replayed(replay: ReplayRun, pieces: readonly Uint8Array[]): ReplayAnswer {
  let calls = 0;
  let last: { tsMs: number; requestId: string } | undefined;
  for (const call of readCalls(pieces)) {
    replay.add(call);
    calls += 1;
    last = call;
  }
  return { kind: "read", calls, last: last && { tsMs: last.tsMs, requestId: last.requestId } };
}

function begun(): ReplayRun {
  if (run === undefined) throw new Error("the replay has not begun");
  return run;
}

parentPort?.on("message", (task: ReplayTask) => parentPort?.postMessage(answer(task)));
