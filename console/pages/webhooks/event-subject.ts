/** What an event is about, as far as its data says: a name and an id. Pure. */
import type { Operations } from "../../api/operations.ts";

type Event = Operations["listEvents"]["answer"]["data"][number];

export interface Subject {
  /** `key`, `topup`: what the id is of. */
  readonly kind: string;
  readonly id: string;
  readonly name?: string;
}

/** Members of an event's data that name what it is about, the best first. */
const IDS = ["key_id", "id", "user_id", "endpoint_id", "endpoint", "policy", "name"] as const;
const NAMES = ["name", "email", "subject", "description", "number", "url"] as const;

/** By how the id begins: a budget may be of a key, a project or the org. */
const KINDS: Readonly<Record<string, string>> = {
  key: "key",
  prj: "project",
  org: "org",
  usr: "member",
  whk: "webhook",
  tkt: "ticket",
  tup: "topup",
  rfd: "refund",
  mnd: "mandate",
  inv: "invoice",
  cn: "invoice",
};

export function subjectOf({ type, data }: Pick<Event, "type" | "data">): Subject | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const textOf = (name: string): string | undefined => {
    const value = (data as Readonly<Record<string, unknown>>)[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const id = IDS.map(textOf).find((each) => each !== undefined);
  if (id === undefined) return undefined;
  const name = NAMES.map(textOf).find((each) => each !== undefined);
  const kind = KINDS[id.slice(0, id.indexOf("_"))] ?? type.slice(0, type.indexOf("."));
  return { kind, id, ...(name !== undefined && name !== id && { name }) };
}
