/** Callers that no key stands for. */
import type { Caller } from "./operation.ts";

/** A caller who belongs to no project, and holds no scopes unless they are given. */
export const keyless = (
  who: Pick<Caller, "requestId" | "actor" | "origin" | "orgId"> & Partial<Pick<Caller, "scopes">>,
): Caller => ({ projectId: "", environment: "live", scopes: new Set(), ...who });

/** The gateway itself, in a job or of its own accord. @param id what of the gateway acts; may be empty */
export const systemCaller = (id: string, orgId: string, requestId = ""): Caller =>
  keyless({ requestId, actor: { kind: "system", id }, origin: { ipPrefix: "", userAgent: "" }, orgId });
