/**
 * What is struck out of a provider's words before a client, a record or a log has them: credentials of any kind, ids of the gateway's
 * accounts, and what tells of machines of the operator's: addresses and names that lead nowhere outside, and paths of files. All else is
 * passed on. Every pattern is bounded: its work is in proportion to the text, whatever the text is.
 */
import { withoutAccounts } from "./accounts.ts";
import { withoutCredentials } from "./credentials.ts";
import { withoutHosts } from "./hosts.ts";
import { withoutPaths } from "./paths.ts";

/** Removes all that from a provider's message. */
export const struckOut = (message: string): string =>
  withoutHosts(withoutPaths(withoutAccounts(withoutCredentials(message))));
