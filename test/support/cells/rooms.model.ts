/**
 * What acts of all rooms did, one after the other in the order of the stream: each row of the audit says what its act found and what
 * it left, and both must be what the acts before it left. Written here once more, so that nothing of it asks the product.
 */
import { strict as assert } from "node:assert";
import { isDeepStrictEqual } from "node:util";
import type { RedisLink } from "../../../src/cluster/cells/redis/redis.ts";
import { readEntry } from "../../../src/cluster/cells/replica/replica.ts";
import type { AuditRow } from "../../../src/store/events/audit.ts";
import { unpackContent } from "../../../src/store/lmdb/checked.ts";

type Fields = Map<string, unknown>;

interface InForce {
  readonly policy: string;
  readonly version: number;
  readonly project_id?: string;
}

/** The body with which the client of this name asked for an act: the audit names a policy's scope only where it differs. */
export type BodyOf = (userAgent: string) => Readonly<Record<string, unknown>> | undefined;

const AUDIT = "audit.rows";
const WHOLE_ORG = "";

/** Rows of the audit, in the order in which their acts were committed. */
export async function auditedActs(link: RedisLink): Promise<AuditRow[]> {
  const found = (await link.call("XRANGE", "{weir}:stream", "-", "+")) as [Buffer, Buffer[]][];
  return found.flatMap((entry) =>
    readEntry(entry).changes.flatMap(({ table, text, value }) =>
      table === AUDIT && value !== undefined ? [unpackContent<AuditRow>(table, text, value)] : [],
    ),
  );
}

export class RoomsModel {
  readonly #bodyOf: BodyOf;
  readonly #balances = new Map<string, number>();
  /** By id of the key, project, member or webhook: the fields that the API shows. */
  readonly resources = new Map<string, Fields>();
  /** Versions of each policy. */
  readonly policies = new Map<string, number>();
  /** By project; the whole org's under "". */
  readonly inForce = new Map<string, InForce>();
  /** The most keys that worked, and projects that there were, at any moment. */
  readonly most = { keys: 0, projects: 0 };

  constructor(bodyOf: BodyOf) {
    this.#bodyOf = bodyOf;
  }

  /** @throws AssertionError where the act found something else than those before it left */
  apply(row: AuditRow): void {
    const hint = `${row.act} of ${row.target}`;
    const how = this.#how[row.act] ?? this.#change;
    how.call(this, row, hint);
    this.most.keys = Math.max(this.most.keys, this.working().length);
    this.most.projects = Math.max(this.most.projects, this.ofKind("prj_").length);
  }

  /** Acts that are more than a change of the target's fields. */
  readonly #how: Readonly<Record<string, (row: AuditRow, hint: string) => void>> = {
    "key.rotate": this.#rotate,
    "project.delete": this.#deleteProject,
    "member.remove": this.#remove,
    "webhook.delete": this.#remove,
    "policy.create": this.#addVersion,
    "policy.add_version": this.#addVersion,
    "policy.activate": this.#activate,
    "policy.deactivate": this.#activate,
    "credits.grant": this.#grant,
  };

  ofKind = (prefix: string): string[] => [...this.resources.keys()].filter((id) => id.startsWith(prefix));

  /** Ids of keys that work. */
  working = (): string[] => this.ofKind("key_").filter((id) => this.#field(id, "status") === "active");

  #field = (id: string, field: string): unknown => this.resources.get(id)?.get(field);

  #of(id: string): Fields {
    const fields = this.resources.get(id) ?? new Map();
    this.resources.set(id, fields);
    return fields;
  }

  #change({ target, changes }: AuditRow, hint: string): void {
    const fields = this.#of(target);
    for (const { field, before, after } of changes) {
      // Not of the resource, but of its end.
      if (field === "keys_revoked") continue;
      assert.deepEqual(before, fields.get(field), `${hint}: ${field} before`);
      if (after === undefined) fields.delete(field);
      else fields.set(field, after);
    }
  }

  #remove(row: AuditRow, hint: string): void {
    this.#change(row, hint);
    this.resources.delete(row.target);
  }

  #rotate({ target, changes }: AuditRow, hint: string): void {
    const made = new Map(changes.map(({ field, after }) => [field, after]));
    assert.equal(this.#field(target, "status"), "active", `${hint}: the old key`);
    for (const field of ["name", "limits", "budget", "project_id", "environment"])
      assert.deepEqual(made.get(field), this.#field(target, field), `${hint}: ${field}`);
    made.delete("rotated_from");
    this.resources.set(made.get("id") as string, made);
    this.#revoke(target);
  }

  #revoke(id: string): void {
    this.#of(id).set("status", "revoked");
    // At a time that only the key tells.
    this.#of(id).delete("revoked_at");
  }

  #deleteProject(row: AuditRow, hint: string): void {
    const keys = this.working().filter((id) => this.#field(id, "project_id") === row.target);
    const said = row.changes.find(({ field }) => field === "keys_revoked")?.after ?? 0;
    assert.equal(said, keys.length, `${hint}: keys that worked`);
    this.#remove(row, hint);
    for (const id of keys) this.#revoke(id);
    this.inForce.delete(row.target);
  }

  #addVersion({ target, changes, act }: AuditRow, hint: string): void {
    const versions = this.policies.get(target);
    assert.equal(versions === undefined, act === "policy.create", hint);
    const version = changes.find(({ field }) => field === "version")?.after;
    assert.equal(version, (versions ?? 0) + 1, `${hint}: version`);
    this.policies.set(target, version as number);
  }

  #activate({ target, changes, act, userAgent }: AuditRow, hint: string): void {
    const { version, scope } = (this.#bodyOf(userAgent) ?? {}) as {
      version: number;
      scope?: { project_id?: string };
    };
    const project = scope?.project_id ?? WHOLE_ORG;
    const before = this.inForce.get(project);
    const ofProject = project !== WHOLE_ORG && { project_id: project };
    const after = act === "policy.activate" ? { policy: target, version, ...ofProject } : undefined;
    if (after === undefined) this.inForce.delete(project);
    else this.inForce.set(project, after);
    const told = Object.fromEntries(changes.map(({ field, ...sides }) => [field, sides]));
    assert.deepEqual(told, differences(before, after), hint);
  }

  #grant({ target, changes }: AuditRow, hint: string): void {
    const said = new Map(changes.map(({ field, after }) => [field, after as number]));
    const [amount = 0, balance = 0] = [said.get("amount_micro_usd"), said.get("balance_micro_usd")];
    const before = this.#balances.get(target) ?? balance - amount;
    assert.equal(balance, before + amount, `${hint}: balance`);
    this.#balances.set(target, balance);
  }
}

function differences(before: object = {}, after: object = {}): object {
  const [old, young] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const fields = [...new Set([...old.keys(), ...young.keys()])];
  const sides = fields
    .filter((field) => !isDeepStrictEqual(old.get(field), young.get(field)))
    .map((field) => [
      field,
      {
        ...(old.has(field) && { before: old.get(field) }),
        ...(young.has(field) && { after: young.get(field) }),
      },
    ]);
  return Object.fromEntries(sides);
}
