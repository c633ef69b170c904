/** The body of a PATCH request (RFC 7644 section 3.5.2): its members and operation names in any case. */
import { scimFail } from "../error.ts";
import { isObject } from "../values.ts";

export const PATCH_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

export const MAX_OPERATIONS = 1000;

const OPS = ["add", "remove", "replace"] as const;

export interface PatchOperation {
  readonly op: (typeof OPS)[number];
  /** The attribute that this step changes. Absent where `value` is an object, whose members are the attributes to change. */
  readonly path?: string;
  /** As it was sent. */
  readonly value?: unknown;
}

/** @throws ScimError `invalidSyntax`, or `invalidValue` for more than {@link MAX_OPERATIONS} */
export function readPatchBody(raw: unknown): readonly PatchOperation[] {
  if (!isObject(raw)) throw scimFail("invalidSyntax", "The body must be a JSON object.");
  const operations = memberOf(raw, "operations");
  if (!Array.isArray(operations) || operations.length === 0) {
    throw scimFail("invalidSyntax", "Operations must be a list of operations.");
  }
  if (operations.length > MAX_OPERATIONS) {
    throw scimFail("invalidValue", `There are more than ${MAX_OPERATIONS} operations.`);
  }
  return operations.map(readOperation);
}

function readOperation(raw: unknown): PatchOperation {
  if (!isObject(raw)) throw scimFail("invalidSyntax", "An operation must be an object.");
  const name = memberOf(raw, "op");
  const op = OPS.find((known) => typeof name === "string" && name.toLowerCase() === known);
  if (op === undefined) throw scimFail("invalidSyntax", "op must be add, remove or replace.");
  const path = memberOf(raw, "path") ?? "";
  if (typeof path !== "string") throw scimFail("invalidPath", "path must be a string.");
  const value = memberOf(raw, "value");
  if (value === undefined && op !== "remove") throw scimFail("invalidSyntax", `${op} needs a value.`);
  return { op, ...(path !== "" && { path }), ...(value !== undefined && { value }) };
}

/** @param name in lower case */
function memberOf(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.entries(object).find(([key]) => key.toLowerCase() === name)?.[1];
}
