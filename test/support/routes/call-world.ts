/** What a good call of a route needs to be there. */
import type { Role } from "../../../src/account/roles.ts";
import type { Answer } from "../gateway.ts";

/** Where calls are made: an org with a project, and somebody who may do everything there. */
export interface CallWorld {
  readonly orgId: string;
  readonly projectId: string;
  /** A model call of the org. */
  readonly requestId: string;
  /** The org's tax invoice to a recipient in Tamil Nadu without GSTIN. */
  readonly invoiceId: string;
  /** By an owner of the org. */
  asOwner(method: string, path: string, body?: object): Promise<Answer>;
  /** By a key of the org with every scope. */
  asKey(method: string, path: string, body?: object): Promise<Answer>;
  /** Id of a member whom nobody needs; `active`: who has signed in. */
  newMember(status: "invited" | "active"): Promise<string>;
  /** Id of a mail in the data folder. */
  mailId(): Promise<string>;
  /** Id of an invitation that waits for the caller. */
  invitationId(): Promise<string>;
  /** Id of a session that the caller has besides the one that calls. */
  spareSession(): Promise<string>;
}

/** Values of a route's parameters. */
export type Values = Readonly<Record<string, string>>;

export interface RouteCall {
  /** By the names in braces, where the usual ones will not do. */
  readonly values?: (world: CallWorld) => Promise<Values> | Values;
  readonly body?: (world: CallWorld) => Promise<object> | object;
  /** What the path must be followed by. */
  readonly query?: string | ((world: CallWorld) => string);
  /**
   * For the walk of access, where the good call would change who may call what: one that is let in and changes nothing.
   */
  readonly harmless?: { readonly values?: Values; readonly body?: object };
  /** Who makes the good call, where the operation asks for more than the table can say. */
  readonly as?: Role;
}
