/**
 * The active policy of a call, from memory: a text is compiled once while its version is used, and the active version
 * of each scope is cached until an activation in the org changes it. A call keeps the policy it started with.
 *
 * No stale policy can return after a change (see account/keyring.ts): a load reads rows and fills the cache without
 * yielding, and the store makes a write visible before it notifies watchers.
 */
import { nextTurn } from "../../base/clock.ts";
import type { Store } from "../../store/store.ts";
import { type ActivePolicy, type CompiledPolicy, compilePolicy } from "../language/policy.ts";
import type { PolicyDocument } from "../language/policy-document.ts";
import { blocksOf, type PolicyReading, type ReadingOptions, readPolicy } from "../language/policy-reading.ts";
import { type Canary, DEFAULT_DECISION, type Experiment } from "../planner/decision.ts";
import { Canaries, type CanaryDeps, type CanaryRed, redOf, type Trial } from "./canary/canary.ts";
import { SharedCanaries } from "./canary/shared-canaries.ts";
import { PolicyTables, type VersionKey, WHOLE_ORG } from "./policy-tables.ts";
import type { ReadingTask } from "./reading-thread.ts";

export interface PoliciesOptions extends Pick<CanaryDeps, "clock" | "onCanaryRed" | "onFailure"> {
  readonly store: Store;
  /** Port: reads a document in a worker thread; see reading-thread.ts. */
  readonly readInThread: (task: ReadingTask) => Promise<PolicyReading>;
  /** Called in the act that stores it. Default: nothing more is put. */
  readonly putCanaryRed?: (event: CanaryRed) => void;
  /** Called when a stored version is no longer valid: calls are refused where it is active. Called once per load. */
  readonly onUnreadable: (version: VersionKey) => void;
  /** Port: has other processes count the same canaries. Default: there are none. */
  readonly shareCanaries?: ((part: SharedPart) => void) | undefined;
  /** Port: resolves once what was counted so far counts for all. */
  readonly exchangeCanaries?: () => Promise<void>;
}

/** What other processes are told of canaries, and what they say. */
export type SharedPart = Pick<SharedCanaries, "take" | "heard">;

/** A stored version that is still valid. */
export interface ParsedVersion {
  readonly compiled: CompiledPolicy;
  readonly active: ActivePolicy;
  /** By endpoint id. */
  readonly canaries: ReadonlyMap<string, Canary>;
  readonly experiments: readonly Experiment[];
}

/** Texts up to this length are read on the event loop: whatever they contain, that takes a few milliseconds. */
const SHORT_TEXT = 256;
/** Bounds of the caches, which are cleared when full. Active versions stay referenced by their scopes. */
const MOST_VERSIONS = 2_000;
const MOST_SCOPES = 50_000;

export class Policies {
  readonly tables: PolicyTables;
  readonly canaries: Canaries;
  readonly #readInThread: PoliciesOptions["readInThread"];
  readonly #onUnreadable: PoliciesOptions["onUnreadable"];
  /** Org → project → active policy; `null`: none. */
  readonly #inForce = new Map<string, Map<string, ActivePolicy | null>>();
  #scopes = 0;
  /** Versions never change, so activations need not drop them; `null`: unreadable. */
  readonly #versions = new Map<string, ParsedVersion | null>();
  #closed = false;

  constructor(options: PoliciesOptions) {
    const { store, clock, onCanaryRed, putCanaryRed = () => {}, onFailure } = options;
    this.tables = new PolicyTables(store);
    this.tables.watchActivations((orgId) => this.#forget(orgId));
    const shared = options.shareCanaries && this.#shared(options);
    this.canaries = new Canaries({
      tables: this.tables,
      clock,
      onCanaryRed,
      putCanaryRed,
      onFailure,
      shared,
    });
    if (shared !== undefined) options.shareCanaries?.(shared);
    this.#readInThread = options.readInThread;
    this.#onUnreadable = options.onUnreadable;
  }

  #shared({ clock, putCanaryRed = () => {}, onFailure, exchangeCanaries }: PoliciesOptions): SharedCanaries {
    return new SharedCanaries({
      tables: this.tables,
      now: () => clock.now(),
      onFailure,
      exchange: exchangeCanaries ?? (() => Promise.resolve()),
      turnedRed: (key, row) => putCanaryRed(redOf(key, row)),
    });
  }

  /** The project's active policy, else the org's; undefined without one. Two map look-ups. */
  of({ orgId, projectId }: Readonly<Record<"orgId" | "projectId", string>>): ActivePolicy | undefined {
    const known = this.#inForce.get(orgId)?.get(projectId);
    return (known === undefined ? this.#load(orgId, projectId) : known) ?? undefined;
  }

  #forget(orgId: string): void {
    this.#scopes -= this.#inForce.get(orgId)?.size ?? 0;
    this.#inForce.delete(orgId);
  }

  /**
   * A version, active or not; undefined where it does not exist or is no longer valid. On the call path this parses on
   * the event loop if nobody has prepared the version: after a start that can be a policy that `warm` has not reached
   * yet.
   */
  read(key: VersionKey): ParsedVersion | undefined {
    const known = this.#versions.get(idOf(key));
    if (known !== undefined) return known ?? undefined;
    const text = this.tables.text(key);
    if (text === undefined) return undefined;
    return this.#remember(key, readPolicy(text, { name: key.policy }));
  }

  /** The same for the control plane, which can wait for a worker thread. */
  async prepare(key: VersionKey): Promise<ParsedVersion | undefined> {
    const text = this.#versions.has(idOf(key)) ? undefined : this.tables.text(key);
    if (text === undefined) return this.read(key);
    const reading = await this.readText(text, { name: key.policy });
    // Another caller may have read it meanwhile: each version must be one object.
    return this.#versions.has(idOf(key)) ? this.read(key) : this.#remember(key, reading);
  }

  /** Reads a document; long ones in a worker thread. */
  async readText(text: string, options: ReadingOptions): Promise<PolicyReading> {
    return text.length <= SHORT_TEXT ? readPolicy(text, options) : this.#readInThread({ text, options });
  }

  /**
   * After a start: reads the active versions one after another, so that calls find them ready. Calls need not wait for
   * it.
   */
  async warm(): Promise<void> {
    for (const key of this.tables.versionsInForce(MOST_VERSIONS / 2)) {
      await nextTurn();
      if (this.#closed) return;
      await this.prepare(key);
    }
  }

  /** Waits until every canary's counts are in the store. Call before the store closes. */
  close(): Promise<void> {
    this.#closed = true;
    return this.canaries.close();
  }

  #load(orgId: string, projectId: string): ActivePolicy | null {
    if (this.#scopes >= MOST_SCOPES) {
      this.#inForce.clear();
      this.#scopes = 0;
    }
    const found = this.#active(orgId, projectId) ?? this.#active(orgId, WHOLE_ORG) ?? null;
    let projects = this.#inForce.get(orgId);
    if (projects === undefined) {
      projects = new Map();
      this.#inForce.set(orgId, projects);
    }
    projects.set(projectId, found);
    this.#scopes++;
    return found;
  }

  #active(orgId: string, scope: string): ActivePolicy | undefined {
    const activation = this.tables.activation(orgId, scope);
    if (activation === undefined) return undefined;
    const { name, version } = activation;
    return this.read({ orgId, policy: name, version })?.active ?? denyAll(name, version);
  }

  #remember(key: VersionKey, reading: PolicyReading): ParsedVersion | undefined {
    if (this.#versions.size >= MOST_VERSIONS) this.#versions.clear();
    const version = reading.ok ? this.#compile(key, reading.document) : null;
    if (version === null) this.#onUnreadable(key);
    this.#versions.set(idOf(key), version);
    return version ?? undefined;
  }

  #compile(key: VersionKey, document: PolicyDocument): ParsedVersion {
    const { policy: name, version } = key;
    const compiled = compilePolicy(document, { name, version });
    const canaries = canariesOf(document);
    const trial = (endpointId: string): Trial | undefined => {
      const canary = canaries.get(endpointId);
      return canary === undefined ? undefined : this.canaries.trial(key, canary);
    };
    const active: ActivePolicy = Object.freeze({
      compiled,
      canaryState: (endpointId: string) => trial(endpointId)?.state ?? "warming",
      canaryResult: (endpointId: string, failed: boolean) => trial(endpointId)?.result(failed),
    });
    return { compiled, active, canaries, experiments: experimentsOf(document) };
  }
}

/**
 * A policy that refuses every call: what the unreadable version forbade is unknown, and it may be all that keeps
 * prompts in their region.
 */
function denyAll(name: string, version: number): ActivePolicy {
  const deny = `Version ${version} of the routing policy "${name}" can be read no more. Put another one in force.`;
  const decision = Object.freeze({ ...DEFAULT_DECISION, policy: { name, version }, deny });
  return Object.freeze({
    compiled: { name, version, decide: () => decision },
    canaryState: () => "warming" as const,
    canaryResult: () => {},
  });
}

const idOf = ({ orgId, policy, version }: VersionKey): string => `${orgId} ${policy} ${version}`;

export const openPolicies = (options: PoliciesOptions): Policies => new Policies(options);

/**
 * An endpoint has one trial per version, so that its calls are counted together. If several rules use it as canary, the
 * strictest error rate and the fewest samples apply.
 */
function canariesOf(document: PolicyDocument): ReadonlyMap<string, Canary> {
  const canaries = new Map<string, Canary>();
  for (const [, { canary }] of blocksOf(document)) {
    if (canary === undefined || canary === false) continue;
    const { endpoint, percent, max_error_rate, min_samples } = canary;
    const other = canaries.get(endpoint);
    canaries.set(endpoint, {
      endpoint,
      percent,
      maxErrorRate: Math.min(max_error_rate, other?.maxErrorRate ?? 1),
      minSamples: Math.min(min_samples, other?.minSamples ?? Number.POSITIVE_INFINITY),
    });
  }
  return canaries;
}

const experimentsOf = (document: PolicyDocument): readonly Experiment[] =>
  blocksOf(document).flatMap(([, { experiment }]) => (experiment ? [experiment] : []));
