/**
 * One call of a directory, around the operation that it asks for: the org must be active and its plan must have the feature; the
 * log gets a row whatever comes of it.
 */
import type { z } from "zod";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { FullAnswer } from "../../base/operation/answer.ts";
import type { HttpHead } from "../../base/operation/http-head.ts";
import type { Caller, Inputs, Operation, Parsed } from "../../base/operation/operation.ts";
import type { AccountTables } from "../tables.ts";
import { asScimError, scimStatus } from "./error.ts";
import { ifMatch, ifNoneMatch } from "./etag.ts";
import type { ScimLog } from "./log.ts";
import { etagOf, type ScimGroupRow, type ScimUserRow } from "./rows.ts";

export interface ScimCallDeps {
  readonly accounts: AccountTables;
  readonly log: ScimLog;
  /** Port: the org's plan has the feature `sso`. */
  readonly hasSso: (orgId: string) => boolean;
  /** Without a slash at the end; undefined: as the client wrote it. */
  readonly publicUrl: string | undefined;
}

/** What an operation knows of its call beside the input. */
export interface ScimCall {
  readonly caller: Caller;
  readonly orgId: string;
  /** The URL of the service: `https://gateway.example/scim/v2`. */
  readonly baseUrl: string;
  /** Values of the precondition headers; undefined where missing. */
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** Names the user in the log. */
  about(userName: string): void;
}

/** An operation that a directory calls. */
type ScimOperation<
  P extends z.ZodType | undefined,
  Q extends z.ZodType | undefined,
  B extends z.ZodType | undefined,
  O extends z.ZodType,
> = Omit<Operation<P, Q, B, O>, "run" | "access" | "group"> & {
  run(
    input: Inputs<Parsed<P>, Parsed<Q>, Parsed<B>>,
    call: ScimCall,
  ): MaybePromise<z.input<O> | FullAnswer<z.input<O>>>;
};

const ROOT = "/scim/v2";
const HOST = /^[\w.-]{1,253}(:\d{1,5})?$|^\[[\da-f:.]{2,45}\](:\d{1,5})?$/i;

export function scimOperation<
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  O extends z.ZodType = z.ZodType,
>(deps: ScimCallDeps, { run, ...rest }: ScimOperation<P, Q, B, O>): Operation<P, Q, B, O> {
  const { log } = deps;
  return {
    ...(rest as Omit<Operation<P, Q, B, O>, "run" | "access" | "group">),
    access: "directory",
    group: "Directory",
    async run(input, caller, head) {
      log.begin(caller);
      let userName = "";
      const about = (name: string) => {
        userName = name;
      };
      const entry = (status: number, error: string) => ({
        method: rest.method,
        path: pathOf(rest.path, input),
        status,
        error,
        userName,
      });
      try {
        assertServed(deps, caller);
        const answer = await run(input, { ...callOf(deps, caller, head), about });
        const given = answer instanceof FullAnswer ? answer.parts.status : undefined;
        await log.add(caller, entry(given ?? rest.status ?? 200, ""));
        return answer;
      } catch (thrown) {
        const { status, detail } = asScimError(thrown);
        // The answer is the failure itself, also where the log cannot be written.
        await log.add(caller, entry(status, detail)).catch(() => undefined);
        throw thrown;
      }
    },
  };
}

function assertServed({ accounts, hasSso }: ScimCallDeps, { orgId }: Caller): void {
  const org = accounts.org(orgId);
  if (org === undefined || org.status === "closed") throw scimStatus(403, "The organisation is closed.");
  if (org.status === "suspended") throw scimStatus(403, "The operator has suspended the organisation.");
  if (!hasSso(orgId)) throw scimStatus(403, "The organisation's plan has no directory provisioning.");
}

function callOf({ publicUrl }: ScimCallDeps, caller: Caller, head: HttpHead): Omit<ScimCall, "about"> {
  const host = head.header("host");
  const scheme = head.header("x-forwarded-proto") === "https" ? "https" : "http";
  const address = publicUrl ?? (HOST.test(host) ? `${scheme}://${host}` : "");
  return {
    caller,
    orgId: caller.orgId,
    baseUrl: `${address}${ROOT}`,
    ifMatch: head.header("if-match") || undefined,
    ifNoneMatch: head.header("if-none-match") || undefined,
  };
}

/**
 * The preconditions of a change hold for the resource as it is.
 * @param what the resource is called
 * @throws ScimError 412
 */
export function assertMatch(call: ScimCall, row: ScimUserRow | ScimGroupRow, what: string): void {
  const etag = etagOf(row);
  if (ifMatch(call.ifMatch, etag) && ifNoneMatch(call.ifNoneMatch, etag)) return;
  throw scimStatus(412, `The ${what} has changed since.`);
}

/** As it was asked for, as far as the input tells. */
function pathOf(path: string, { params, query }: { params: unknown; query: unknown }): string {
  const id = (params as { id?: string } | undefined)?.id ?? "";
  const asked = Object.entries((query ?? {}) as Record<string, string | undefined>)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`);
  const full = path.replace("{id}", () => id);
  return asked.length === 0 ? full : `${full}?${asked.join("&")}`;
}
