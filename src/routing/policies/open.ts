/**
 * Opens the room of policies: its events go to the log, and long documents are parsed in a worker thread.
 */
import type { Logger } from "pino";
import { type Clock, inTime } from "../../base/clock.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Store } from "../../store/store.ts";
import { openThread } from "../../workers/thread.ts";
import type { PolicyReading } from "../language/policy-reading.ts";
import { openPolicies, type Policies, type SharedPart } from "./policies.ts";
import { canaryRed } from "./policy-events.ts";

/** Counts of canaries that all cells add to. Another wing carries them. */
export interface CanarySharing {
  add(part: SharedPart): void;
  /** Resolves once what was counted before this call counts for all, and what the others sent before it is heard. */
  flush(): Promise<void>;
}

export interface PolicyPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: Trail["events"];
  readonly log: Logger;
  /** Absent: a gateway alone. */
  readonly canaries?: CanarySharing | undefined;
}

export interface OpenPolicies {
  readonly policies: Policies;
  /** Resolves once the active policies are parsed, or after the timeout: earlier calls parse their policy themselves. */
  policiesWarm(withinMs: number): Promise<void>;
  closePolicies(): Promise<void>;
}

export function openPolicyRoom({ store, clock, events, log, canaries }: PolicyPorts): OpenPolicies {
  const thread = openThread(new URL("./reading-thread.ts", import.meta.url));
  const policies = openPolicies({
    store,
    clock,
    readInThread: (task) => thread.run("readInThread", task) as Promise<PolicyReading>,
    onCanaryRed: (event) => log.warn({ event }, "a canary turned red and gets no share any more"),
    putCanaryRed: ({ orgId, policy, version, endpointId, errorRate, samples }) =>
      events.emit(canaryRed, orgId, {
        policy,
        version,
        samples,
        endpoint_id: endpointId,
        error_rate: errorRate,
      }),
    onUnreadable: (version) =>
      log.error({ version }, "a policy can be read no more; where it is in force, calls are refused"),
    onFailure: (err) => log.error({ err }, "a canary's counts were not saved; its next result tries again"),
    ...(canaries && {
      shareCanaries: (part: SharedPart) => canaries.add(part),
      exchangeCanaries: () => inTime(canaries.flush(), EXCHANGE_MS, () => {}),
    }),
  });
  const warmed = policies
    .warm()
    .catch((err: unknown) => log.error({ err }, "policies were not all read ahead of calls"));
  return {
    policies,
    policiesWarm: (withinMs: number) => inTime(warmed, withinMs, () => {}),
    async closePolicies() {
      await policies.close();
      await thread.close();
    },
  };
}

/** A report does not wait longer for what other cells counted. */
const EXCHANGE_MS = 1000;
